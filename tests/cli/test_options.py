"""Options made from the signature and the docstring of a function."""

from typing import Literal

import click
import pytest
from click.testing import CliRunner

from embeddings.cli.error_messages import error_line
from embeddings.cli.options import from_signature, option, take_arguments
from embeddings.errors import S, SettingError


@pytest.mark.parametrize("kind", [1, (1, 9 * 10**30), None])
@pytest.mark.parametrize("multiple", [True, False])
def test_integers_of_more_than_64_bits_are_refused(kind, multiple):
    one = option("--number", "A number.", kind, multiple=multiple, **({} if kind else {"type": int}))
    command = click.Command("count", params=[one], callback=lambda number: click.echo(number))
    assert refusal(command, ["--number", str(2**63)]).startswith("Invalid value for '--number'")
    assert refusal(command, ["--number", "9" * 5000]) is not None
    assert CliRunner().invoke(command, ["--number", str(2**63 - 1)]).exit_code == 0


def refusal(command, arguments):
    with pytest.raises(click.UsageError) as error:
        command.main(arguments, standalone_mode=False)
    return error.value.format_message()


def search(
    text: str,
    *,
    order: Literal["up", "down"] = "up",
    top: int | None = None,
    share: float = 0.5,
    names: tuple[str, ...] = (),
    exact: bool = False,
    fold: bool = True,
) -> None:
    """Search a text.

    Arguments:
        text: the text.
        order: the order of results, which "down" reverses.
        top: the number of results; by default as many as
            `order` gives. In Python also an array.
        share, names: what `share` and `texts` say.
        exact: find equal words only, as in `kind == "word"`.
        fold: fold the case.

    Raises:
        SettingError: an argument is out of range.
    """


PARAMETERS = {"order": None, "top": "--first N", "share": None, "names": "NAME...", "exact": None, "fold": None}


@pytest.fixture
def command():
    return click.Command("search", params=from_signature(search, **PARAMETERS), callback=lambda **values: values)


def parsed(command, *arguments):
    return command.main(list(arguments), standalone_mode=False)


def test_defaults_and_types_are_those_of_the_signature(command):
    defaults = {"order": "up", "first": None, "share": 0.5, "names": (), "exact": False, "fold": True}
    assert parsed(command) == defaults
    given = parsed(command, "--order", "down", "--first", "3", "--names", "a", "--names", "b", "--exact", "--no-fold")
    assert given == defaults | {"order": "down", "first": 3, "names": ("a", "b"), "exact": True, "fold": False}
    for wrong in (["--order", "left"], ["--first", "x"], ["--no-exact"]):
        with pytest.raises(click.UsageError):
            parsed(command, *wrong)


def test_other_defaults_can_be_given():
    (option,) = from_signature(search, {"share": None}, share="SHARE")
    assert (option.default, option.metavar) == (None, "SHARE")


def test_an_option_has_the_names_of_its_declaration():
    options = from_signature(search, top="-k --first top N", order="--sort", share="-s", names="--name names NAME...")
    assert [(one.name, one.opts, one.metavar) for one in options] == [
        ("top", ["-k", "--first"], "N"), ("sort", ["--sort"], None), ("s", ["-s"], None), ("names", ["--name"], "NAME"),
    ]  # fmt: skip
    assert options[2].parameter == "share"
    assert take_arguments({"top": 3, "sort": "up"}, {"top": "-k --first top N", "order": "--sort"}) == {
        "top": 3,
        "order": "up",
    }


def test_help_is_that_of_the_docstring(command):
    texts = {option.name: option.help for option in command.params}
    assert texts["order"] == "The order of results, which down reverses."
    assert texts["first"] == "The number of results; by default as many as --order gives."
    assert texts["names"] == "What --share and texts say. Repeatable."
    assert texts["exact"] == 'Find equal words only, as in kind == "word".'


def test_arguments_are_taken_from_the_values_of_a_command():
    values = {"order": "up", "first": None, "share": 0.1, "other": 1}
    assert take_arguments(values, PARAMETERS) == {"order": "up", "share": 0.1}
    assert values == {"other": 1}


def test_errors_name_the_option_of_a_parameter(command):
    group = click.Group("main", commands={"search": command})
    error = SettingError(f"{S.top(0)} and {S.names} must be ...")
    assert error_line(error, ["search"], group) == "--first 0 and --names must be ..."
