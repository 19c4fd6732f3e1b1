"""Limits of width: what users and developers must know grows only with a reason, by raising a limit here."""

import ast
import importlib
from pathlib import Path

import click
import pytest

from embeddings.cli import main

ROOT = Path(__file__).parents[2]
PACKAGES = ("embeddings", "embeddings.corpora", "embeddings.eval", "embeddings.training")
FOLDERS = ("embeddings", "plugins", "eval", "corpora")
ROOMS = {  # of which the refusing has been revised, with the most `raise` statements of each
    "plugins": 48, "embeddings/objectives": 3, "embeddings/classifier": 5, "embeddings/settings": 11,
    "embeddings/models": 44, "embeddings/vectors": 57, "embeddings/sklearn": 12, "embeddings/formats": 54,
    "eval": 85, "embeddings/training": 73, "embeddings/cluster": 19,
    "embeddings/support": 98, "corpora": 137, "embeddings/cli": 41, "embeddings/analysis": 17, "embeddings/explorer": 9,
}  # fmt: skip


def sources():
    """The modules of the product; the folders that links in `embeddings` point to are read once."""
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*.py")) if not path.parent.is_symlink())
    yield ROOT / "cli.py"


@pytest.fixture(scope="module")
def trees():
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sources()}
    return {path: (len(text.splitlines()), ast.parse(text)) for path, text in texts.items()}


def raises(tree):
    """The number of `raise` statements."""
    return sum(isinstance(node, ast.Raise) for node in ast.walk(tree))


def test_public_names_are_few():
    names = {f"{package}.{name}" for package in PACKAGES for name in importlib.import_module(package).MODULES}
    assert len(names) <= 65


def test_commands_and_options_are_few():
    context = click.Context(main)
    train = main.get_command(context, "train")
    skipgram = train.get_command(click.Context(train), "skipgram")
    options = [one for one in skipgram.get_params(click.Context(skipgram)) if isinstance(one, click.Option)]
    assert len(main.list_commands(context)) <= 31
    assert len(options) <= 71


def test_refusals_are_few(trees):
    lines = sum(count for count, _ in trees.values())
    assert 1000 * sum(raises(tree) for _, tree in trees.values()) / lines <= 12.6
    for room, limit in ROOMS.items():
        assert sum(raises(tree) for path, (_, tree) in trees.items() if path.is_relative_to(room)) <= limit, room


def test_functions_with_over_12_parameters_are_few(trees):
    wide = []
    for path, (_, tree) in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                wide += [f"{path}:{node.name}"] * (len(names) > 12)
    assert len(wide) <= 8, wide


def test_tools_are_small():
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in (ROOT / "tools").rglob("*.py")}
    assert sum(lines.values()) <= 4060
    assert max(lines["many_cores.py"], lines["gpu_check.py"]) <= 150
