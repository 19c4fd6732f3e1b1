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
SPACES = em.NAMESPACES
DOCUMENTED = re.findall(
    r"^::: embeddings\.([\w.]+)$",
    "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")),
    re.MULTILINE,
)


def trainers():
    """The names of this package's trainer classes that are in no namespace."""
    offers = [offers[0] for offers in registry.find_all("trainer").values()]
    names = {offer.attr for offer in offers if registry.distribution_name(offer) == "embeddings-toolkit"}
    return names - public_names("embeddings.training")


def public_names(package):
    """The names of a public package, without namespaces and trainers."""
    return set(importlib.import_module(package).MODULES)


PACKAGES = {"embeddings": set(em.MODULES), **{f"embeddings.{one}": public_names(f"embeddings.{one}") for one in SPACES}}


def test_the_package_has_at_most_45_names():
    offers = [entry for entries in registry.find_all("trainer").values() for entry in entries]
    foreign = {each.attr for each in offers if registry.distribution_name(each) != "embeddings-toolkit"}
    listed = set(dir(em)) - foreign
    assert listed == set(em.MODULES) | trainers() | set(SPACES)
    assert len(listed) <= 45


@pytest.mark.parametrize(
    "place", [f"{one}.{name}" for one in SPACES for name in sorted(public_names(f"embeddings.{one}"))]
)
def test_names_in_namespaces_are_found_and_pointed_at(place):
    namespace, name = place.split(".")
    assert name in dir(getattr(em, namespace))
    assert getattr(getattr(em, namespace), name) is getattr(importlib.import_module(f"embeddings.{namespace}"), name)
    if name not in em.MODULES:
        with pytest.raises(AttributeError, match=rf"use embeddings\.{place}$"):
            getattr(em, name)


def test_every_public_name_is_in_the_reference():
    short = {f"{package}.{name}".removeprefix("embeddings.") for package, names in PACKAGES.items() for name in names}
    listed = {name for name in short if name.rpartition(".")[2] not in em.MODULES or "." not in name}
    assert listed | trainers() <= {*DOCUMENTED, "corpora.EncodedCorpus"}
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
    for package, names in PACKAGES.items():
        module = Path(importlib.import_module(package).__file__)
        stub = module.with_suffix(".pyi")
        tree = ast.parse((stub if stub.exists() else module).read_text(encoding="utf-8"))
        imported = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        others = trainers() | set(SPACES) if package == "embeddings" else set()
        assert imported - {None} == names | others
        assert names <= set(dir(importlib.import_module(package)))
        assert "__getattr__" not in {name for node in tree.body for name in assigned(node)}, "type checkers accept all"


def assigned(node):
    """The names that a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if isinstance(node, ast.Assign) else set()


def commands(group, prefix=()):
    """Every command with its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*prefix, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*prefix, name))


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
