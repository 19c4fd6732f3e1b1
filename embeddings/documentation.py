"""A page for each public name, made from its docstrings.

`python -m embeddings.documentation docs` writes them into that folder, and removes pages of names that are gone. The
pages of the commands and of who reads which format are made elsewhere, and stay.
"""

import dataclasses
import sys
import typing
from importlib import import_module
from pathlib import Path
from typing import Any

import embeddings
from embeddings import errors, registry
from embeddings.errors import EmbeddingsError
from embeddings.support.markdown import annotations, cell, docstring, plain, row, signature

PACKAGE = "embeddings-toolkit"
BESIDE = {
    "check_trainer": "embeddings.testing",
    "check_index": "embeddings.testing",
    "option": "embeddings.settings",
    "Aligned": "embeddings.vectors.align",
    "Comparison": "embeddings.eval",
    "Concatenated": "embeddings.models.document_vectors",
    "CheckpointError": "embeddings.training.checkpoints",
    "EncodedCorpus": "embeddings.corpora",
    "Index": "embeddings.indexes",
    "Judged": "embeddings.eval.report",
    "Phrase": "embeddings.corpora.phrases",
    "Result": "embeddings.eval",
    "Suite": "embeddings.eval",
    "Triple": "embeddings.corpora.phrases",
    "TrainingError": "embeddings.training.task",
    "UnknownWordError": "embeddings.corpora.vocabulary",
    "compare": "embeddings.eval",
    "read": "embeddings.corpora.phrases",
    "triples": "embeddings.corpora.phrases",
    "write_report": "embeddings.eval.report",
}
INDEX = "README.md"
OTHERS = ("commands.md", "formats.md")  # made by `embeddings.cli.reference` and by `pytest --readers`
HEAD = """Every public name. These pages are made from the docstrings: `python -m embeddings.documentation docs`.

Beside them: [the help of every command](commands.md) and [who has read which format](formats.md)."""


def public() -> dict[str, Any]:
    """Every public name of ours with what it stands for; first what `import embeddings as em` gives as `em.NAME`."""
    found = {name: getattr(embeddings, name) for name in embeddings.HOMES}
    for name, offers in registry.available("trainer").items():
        if registry.package(offers[0]) == PACKAGE:
            found[offers[0].attr] = registry.load("trainer", name)
    names = dict(sorted(found.items(), key=lambda item: item[0].lower()))
    for name, home in BESIDE.items():
        names[name] = getattr(import_module(home), name)
    faults = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, EmbeddingsError)]
    return names | {one.__name__: one for one in sorted(faults, key=lambda one: one.__name__)}


def pages() -> dict[str, str]:
    """The text of each page by the name of its file."""
    names = public()
    made = {f"{name}.md": page(name, thing) for name, thing in names.items()}
    lines = [f"| [`{name}`]({name}.md) | {summary(thing)} |" for name, thing in names.items()]
    made[INDEX] = "\n".join(["# Reference", "", HEAD, "", "| name | |", "|---|---|", *lines, ""])
    return made


def summary(thing: Any) -> str:
    """The first line of a docstring, for a cell."""
    return cell(plain((thing.__doc__ or "").strip().split("\n")[0]))


def page(name: str, thing: Any) -> str:
    """The page of one name."""
    home = "embeddings" if name in embeddings.__dir__() else BESIDE.get(name, thing.__module__)
    parts = [f"# {name}", f"`from {home} import {name}`"]
    if not isinstance(thing, type):
        return "\n\n".join([*parts, signature(thing, name), docstring(thing)]) + "\n"
    parts += [class_head(thing, name), docstring(thing), *settings_table(thing)]
    for heading, members in (("Attributes", attributes(thing)), ("Methods", methods(thing))):
        if members:
            parts += [f"## {heading}", *members]
    return "\n\n".join(part for part in parts if part) + "\n"


def class_head(thing: type, name: str) -> str:
    """How one is made; a dataclass of settings has a table of them instead."""
    if dataclasses.is_dataclass(thing):
        return ""
    if issubclass(thing, BaseException):
        return f"Is a {', a '.join(f'`{base.__name__}`' for base in thing.__bases__)}."
    made = vars(thing).get("__init__", thing.__init__)
    return f"```python\n{name}()\n```" if made is object.__init__ else signature(made, name)


def settings_table(thing: type) -> list[str]:
    """The fields of a dataclass, with their help and bounds where they have such."""
    if not dataclasses.is_dataclass(thing):
        return []
    types, rows = annotations(thing), []
    for field in dataclasses.fields(thing):
        default = "" if field.default is dataclasses.MISSING else f"`{field.default!r}`"
        help, bounds = plain(field.metadata.get("help", "")), bounds_of(field.metadata)
        rows.append(row([f"`{field.name}`", f"`{types[field.name]}`", default, f"{help} {bounds}"]))
    head = [row(["field", "type", "default", ""]), "|---|---|---|---|"]
    return ["\n".join([*head, *rows])] if rows else []


def bounds_of(metadata: typing.Mapping[str, Any]) -> str:
    """Between which values a setting may be."""
    told = {"least": "at least", "above": "above", "most": "at most"}
    parts = [f"{words} {metadata[name]:,}" for name, words in told.items() if metadata.get(name) is not None]
    return f"({', '.join(parts)})" if parts else ""


def members_of(thing: type) -> dict[str, Any]:
    """What a class and those of this package above it define and document, the class's own first."""
    found: dict[str, Any] = {}
    for one in thing.__mro__:
        if one.__module__.startswith("embeddings"):
            for name, member in vars(one).items():
                found.setdefault(name, member)
    return {name: member for name, member in found.items() if shows(name, member)}


def shows(name: str, member: Any) -> bool:
    """Whether a member is documented here."""
    if name == "__init__" or isinstance(member, type):
        return False
    special = name.startswith("__") and name.endswith("__")
    inner = getattr(member, "__func__", member)
    return (special or not name.startswith("_")) and bool(getattr(inner, "__doc__", None)) and has_source(inner)


def has_source(member: Any) -> bool:
    """Whether it is a function, or a property made of one, of this package."""
    function = getattr(member, "fget", None) or getattr(member, "func", None) or member
    return str(getattr(function, "__module__", "")).startswith("embeddings") and hasattr(function, "__code__")


def attributes(thing: type) -> list[str]:
    """The properties of a class."""
    found = {name: member for name, member in members_of(thing).items() if not callable(inner(member))}
    return [f"### `{name}`\n\n{docstring(member)}" for name, member in found.items()]


def methods(thing: type) -> list[str]:
    """The methods of a class."""
    found = {name: inner(member) for name, member in members_of(thing).items() if callable(inner(member))}
    return [f"### `{name}`\n\n{signature(method, name)}\n\n{docstring(method)}" for name, method in found.items()]


def inner(member: Any) -> Any:
    """The function of a class or static method."""
    return getattr(member, "__func__", member)


def write(folder: Path) -> None:
    """Write the pages into a folder; pages of names that are gone are removed."""
    folder.mkdir(exist_ok=True)
    made = pages()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name not in made and path.name not in OTHERS:
            path.unlink()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
