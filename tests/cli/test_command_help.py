"""Help that fits on a screen, and the ways to the rest."""

import shlex
from collections.abc import Iterator

import click
import pytest
from click.shell_completion import ShellComplete
from commands import expect, refused

from embeddings.cli import main
from embeddings.cli.command_help import LINES, Command, Option, summary


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all commands below the main one."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


PATHS = list(commands())


def find(path: tuple[str, ...]) -> click.Command:
    command: click.Command = main
    for name in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    return command


ENDS = [path for path in PATHS if isinstance(find(path), Command)]


def options(path: tuple[str, ...]) -> list[Option]:
    return [one for one in find(path).params if isinstance(one, click.Option)]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_fits_on_a_screen(path, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = expect(*path, "--help").stdout.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("path", ENDS, ids=" ".join)
def test_all_options_are_one_step_away(path):
    short, whole = (expect(*path, flag).stdout for flag in ("--help", "--help-all"))
    assert find(path).help
    assert all(one.help for one in options(path) if not one.hidden)
    names = [one.listed[-1] for one in options(path)]
    assert [name for name in names if f"{name} " not in whole and f"{name}\n" not in whole] == []
    missing = [one for one in options(path) if one.listed[-1] not in short]
    assert not missing or "--help-all" in short
    assert not [one for one in missing if one.required]


@pytest.mark.parametrize("path", ENDS, ids=" ".join)
def test_completion_offers_every_option(path):
    completed = ShellComplete(main, {}, "embeddings", "_EMBEDDINGS_COMPLETE").get_completions(list(path), "--")
    offered = {item.value for item in completed}
    assert {name for one in options(path) for name in one.opts if name.startswith("--")} <= offered
    assert {"--help", "--help-all"} <= offered


@pytest.mark.parametrize("path", ENDS, ids=" ".join)
def test_examples_are_commands(path, monkeypatch):
    example = find(path).example
    assert f"Example: embeddings {example} " in " ".join(expect(*path, "--help").stdout.replace("\\\n", "").split())
    words = shlex.split(example)
    assert tuple(words[: len(path)]) == path
    find(path).make_context(path[-1], words[len(path) :])


@pytest.mark.parametrize("alias", ["--lr", "--alpha", "--rate", "--dimension", "--sample", "--min-rate"])
def test_aliases_are_accepted_and_not_listed(alias):
    assert f"{alias} " not in expect("train", "skipgram", "--help-all").stdout.replace(",", " ")
    assert "no-such" in refused(
        "train", "skipgram", "no-such", "-o", "x", alias, ".01" if alias == "--min-rate" else "1", code=1
    )


def test_a_description_is_shortened_at_a_clause_and_keeps_its_default():
    assert summary("How it falls: fast; slowly.  [default: 3]") == "How it falls: fast; slowly.  [default: 3]"
    assert summary("Join words: " + "x" * 60 + ". Also more.  [default: 3]  [x>=1]") == "Join words.  [default: 3]"
    assert summary("One, " + "x" * 70 + ".") == "One, " + "x" * 70 + "."


def test_completion_offers_commands(python):
    words = {"_EMBEDDINGS_COMPLETE": "bash_complete", "COMP_WORDS": "embeddings ne", "COMP_CWORD": "1"}
    assert python("-m", "embeddings", **words).stdout == "plain,neighbours\n"
