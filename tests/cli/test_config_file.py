"""Settings from a TOML file: each of its own type, each set once, all of them known."""

from pathlib import Path
from typing import Any

import click
import pytest

import embeddings as em
from embeddings.cli.config_file import read_config
from embeddings.cli.train import trainer_command
from embeddings.errors import FormatError


def defaults(text: str, path: Any, trainer: Any = em.SkipGram) -> dict[str, Any]:
    """The defaults that a file with this text sets for the command of a trainer."""
    path.write_text(text)
    return read_settings(path, trainer)


def read_settings(path: Any, trainer: Any = em.SkipGram) -> dict[str, Any]:
    """The defaults that a file sets for the command of a trainer."""
    ctx = click.Context(trainer_command(trainer.trainer_name, trainer))
    read_config(ctx, ctx.command.params[0], str(path))
    return dict(ctx.default_map or {})


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("dim = 6.0", ["dim", "integer", "6.0"]),
        ("dim = true", ["dim", "integer", "True"]),
        ("min-count = 2.5", ["min-count", "integer", "2.5"]),
        ("max_vocab = false", ["max_vocab", "integer", "False"]),
        ("threads = 1.0", ["threads", "integer", "1.0"]),
        ("rows = 1e3", ["rows", "integer", "1000.0"]),
        ("learning_rate = true", ["learning_rate", "float", "True"]),
        ("subsample = [0.1]", ["subsample", "one value", "[0.1]"]),
        ("shrink_window = 5", ["shrink_window", "boolean", "5"]),
        ("case = true", ["case", "keep", "True"]),
        ("negative-sharing = 2", ["negative-sharing", "none", "2"]),
        ("[dim]\nx = 1", ["dim", "one value", "{'x': 1}"]),
        ("min-count = 1\nmin_count = 2", ["duplicate", "'min_count'"]),
        ("min_count = 1\nmin-count = 1", ["duplicate", "'min-count'"]),
        ("negative = 9", ["'negative'", "use negatives"]),
        ("vector_size = 9", ["'vector_size'", "use dim"]),
        ("dimm = 9", ["'dimm'", "use dim"]),
        ('phrases = "a\\u0000b"', ["phrases", "NUL"]),
        ("dim = 9223372036854775808", ["dim", "922337203", "at most"]),
    ],
)
def test_wrong_types_and_names_are_refused(tmp_path, text, facts):
    with pytest.raises(click.UsageError) as caught:
        defaults(text, tmp_path / "run.toml")
    assert all(fact in caught.value.message for fact in [str(tmp_path / "run.toml"), *facts]), caught.value.message


@pytest.mark.parametrize("name", ["config", "corpus", "help", "zzz", ""])
def test_unknown_names_are_refused_with_those_there_are(tmp_path, name):
    with pytest.raises(click.UsageError) as caught:
        defaults(f'"{name}" = 1', tmp_path / "run.toml")
    message, _, names = caught.value.message.partition("; known settings: ")
    assert f"{name!r}" in message
    assert {"dim", "min_count", "out", "threads", "shrink_window"} <= set(names.split(", "))
    assert not {"config", "corpus", "help", "as_json"} & set(names.split(", "))


@pytest.mark.parametrize(
    ("part", "times", "facts"), [("a.", 3000, ["4096", "in a line"]), ("# a comment\n", 6000, ["65536"])]
)
def test_a_file_too_long_for_settings_is_not_parsed(tmp_path, part, times, facts):
    with pytest.raises(FormatError) as caught:
        defaults(part * times + "a = 1", tmp_path / "run.toml")
    assert all(fact in str(caught.value) for fact in facts)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def test_a_file_without_an_end_is_not_read_to_its_end(tmp_path):
    with pytest.raises(FormatError, match="65536"):
        read_settings("/dev/zero")


def test_settings_are_taken_with_either_spelling(tmp_path):
    text = (
        "dim = 6\nmin-count = 2\nlearning-rate = 1\nsubsample = 0.01\nshrink_window = false\ncase = 'keep'\nout = 'v'\n"
    )
    assert defaults(text, tmp_path / "run.toml") == {
        "dim": 6, "min_count": 2, "learning_rate": 1, "subsample": 0.01, "shrink_window": False, "case": "keep",
        "out": "v",
    }  # fmt: skip


def test_other_names_of_an_option_are_settings_too(tmp_path):
    assert defaults("lr = 0.1", tmp_path / "c") == defaults("learning_rate = 0.1", tmp_path / "c")
    with pytest.raises(click.UsageError, match="duplicate setting 'lr'"):
        defaults("learning-rate = 0.1\nlr = 0.2", tmp_path / "c")


def test_options_that_can_be_repeated_take_one_value_or_a_list(tmp_path):
    for text, columns in ("'id'", ("id",)), ("['id', 'label']", ("id", "label")):
        assert defaults(f"tag_column = {text}\n", tmp_path / "run.toml", em.ParagraphDM) == {"tag_column": columns}
    with pytest.raises(click.UsageError, match="tag_column: expected one value"):
        defaults("tag_column = ['id', []]\n", tmp_path / "run.toml", em.ParagraphDM)
