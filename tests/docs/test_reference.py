"""The reference has a place for every public name and every command; examples in docstrings run."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import click
import pytest

import embeddings as em
from embeddings import errors, registry
from embeddings.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTED = re.findall(
    r"^::: embeddings\.([\w.]+)$",
    "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")),
    re.MULTILINE,
)


def trainers():
    """The names of this package's trainer classes."""
    offers = [offers[0] for offers in registry.find_all("trainer").values()]
    return {offer.attr for offer in offers if registry.distribution_name(offer) == "embeddings-toolkit"}


def test_every_public_name_is_in_the_reference():
    assert set(em.MODULES) | trainers() <= set(DOCUMENTED)
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert {each.__name__ for each in classes} <= {name.split(".")[-1] for name in DOCUMENTED}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_name_in_the_reference_exists_and_is_documented(name):
    module, _, attribute = f"embeddings.{name}".rpartition(".")
    documented = getattr(importlib.import_module(module), attribute)
    assert documented.__doc__, f"{name} has no docstring"
    assert not documented.__doc__.startswith(f"{attribute}("), f"{name} has the docstring that dataclass makes"


def test_editors_and_the_interpreter_see_the_same_names():
    """The names that type checkers see, and those that can be imported at run time."""
    tree = ast.parse(Path(em.__file__).read_text(encoding="utf-8"))
    imported = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported - {None} == set(em.MODULES) | trainers()
    assert set(em.MODULES) <= set(dir(em))
    hooks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
    assert not hooks, "type checkers would accept any name"


def commands(group, prefix=()):
    """Every command with its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*prefix, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*prefix, name))


def test_every_command_and_option_has_help():
    for path, command in commands(main):
        assert command.help, path
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help, (path, parameter.name)


def test_commands_that_the_pages_name_exist():
    known = {path[0] for path, _ in commands(main)}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        named = re.findall(r"(?:^|`|/)embeddings ([a-z][a-z-]+)\b", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(named) <= known, page


def with_examples():
    """The modules that have examples in docstrings."""
    for folder in ("embeddings", "corpora", "eval", "plugins"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT)
            if not path.parent.is_symlink() and re.search(r"^ +>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
                yield ".".join((inside if folder == "embeddings" else "embeddings" / inside).with_suffix("").parts)


@pytest.mark.parametrize("module", sorted(set(with_examples())))
def test_examples_in_docstrings_run(module):
    outcome = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert outcome.attempted, "no example was found"
    assert outcome.failed == 0
