"""Docstrings and signatures, as they stand in the source, as Markdown."""

import ast
import dataclasses
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Iterator
from typing import Any

SECTIONS = ("Arguments", "Raises", "Returns")
ENTRY = re.compile(r"([\w*, .]+): (.*)")


def docstring(thing: Any) -> str:
    """The docstring of anything; its sections become lists, what is indented becomes code."""
    return "\n\n".join(blocks(inspect.cleandoc(thing.__doc__ or "").split("\n\n")))


def blocks(paragraphs: list[str]) -> Iterator[str]:
    """Each paragraph, or section, as Markdown."""
    for paragraph in paragraphs:
        head, _, rest = paragraph.partition("\n")
        if head.rstrip(":") in SECTIONS and head.endswith(":"):
            yield f"**{head[:-1]}**\n\n{section(textwrap.dedent(rest))}"
        elif all(line.startswith("    ") for line in paragraph.split("\n")):
            yield f"```python\n{textwrap.dedent(paragraph)}\n```"
        elif paragraph.startswith(">>> "):
            yield f"```pycon\n{paragraph}\n```"
        else:
            yield plain(paragraph)


def section(text: str) -> str:
    """The entries of a section as a list; lines that are indented go on with the one before."""
    entries: list[str] = []
    for line in text.split("\n"):
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    return "\n".join(f"- {entry(one)}" for one in entries)


def entry(text: str) -> str:
    """One entry, its name as code."""
    found = ENTRY.fullmatch(text)
    return f"`{found[1]}`: {plain(found[2])}" if found else plain(text)


def plain(text: str) -> str:
    """Text whose stars and angle brackets stand for themselves, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<_])", r"\\\1", part) for part in parts)


def row(cells: list[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(cell, cells))} |"


def cell(text: str) -> str:
    """Text as it can stand in a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def signature(function: Any, name: str) -> str:
    """The head of a function as its source has it, without `self`, a parameter a line where it is long."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    parameters = [one for one in listed(tree.args) if one not in ("self", "cls")]
    returns = "" if tree.returns is None or tree.name == "__init__" else f" -> {annotation(tree.returns)}"
    line = f"{name}({', '.join(parameters)}){returns}"
    if len(line) > 100:
        line = "\n".join([f"{name}(", *(f"    {one}," for one in parameters), f"){returns}"])
    return f"```python\n{line}\n```"


def listed(arguments: ast.arguments) -> Iterator[str]:
    """Each parameter with its type and default, and the stars between them."""
    ordered = [*arguments.posonlyargs, *arguments.args]
    blank: list[ast.expr | None] = [None] * (len(ordered) - len(arguments.defaults))
    for one, default in zip(ordered, [*blank, *arguments.defaults], strict=True):
        yield parameter(one, default)
    if arguments.vararg:
        yield "*" + parameter(arguments.vararg, None)
    elif arguments.kwonlyargs:
        yield "*"
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield parameter(one, default)
    if arguments.kwarg:
        yield "**" + parameter(arguments.kwarg, None)


def parameter(one: ast.arg, default: ast.expr | None) -> str:
    """A parameter."""
    kind = "" if one.annotation is None else f": {annotation(one.annotation)}"
    if default is None:
        return one.arg + kind
    return f"{one.arg}{kind}{' = ' if kind else '='}{ast.unparse(default)}"


def annotation(node: ast.expr) -> str:
    """A type without the quotes that defer it."""
    return ast.unparse(Unquoted().visit(node))


class Unquoted(ast.NodeTransformer):
    """Turns names in quotes into names, but within Literal."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A text in quotes as what it says."""
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """What is in a Literal stays."""
        return node if isinstance(node.value, ast.Name) and node.value.id == "Literal" else self.generic_visit(node)


def annotations(thing: type) -> dict[str, str]:
    """The types of the fields of a class and of those above it, as they are written."""
    found: dict[str, str] = {}
    for one in reversed(thing.__mro__):
        if dataclasses.is_dataclass(one) and one.__module__ == "types":  # it has no source
            found |= {name: " | ".join(map(told, parts(kind))) for name, kind in inspect.get_annotations(one).items()}
        if one.__module__.startswith("embeddings"):
            tree = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
            for node in ast.walk(tree):
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found[node.target.id] = annotation(node.annotation)
    return found


def parts(kind: Any) -> tuple[Any, ...]:
    """The types of a union."""
    union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    return typing.get_args(kind) if union else (kind,)


def told(kind: Any) -> str:
    """A type as it is written."""
    return "None" if kind is type(None) else inspect.formatannotation(kind)


def between(text: str, mark: str, content: str) -> str:
    """A text with something else between the comments `mark` and `end of mark`."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}{content}{end}{after}"
