"""Settings from a TOML file: each of its own type, each set once, all of them known."""

from typing import Any

import click
import pytest
from test_commands import run

import embeddings as em
from embeddings.cli.config import read_config
from embeddings.cli.train import made


def defaults(text: str, path: Any) -> dict[str, Any]:
    """What a file with this text gives the command of skip-gram as defaults."""
    path.write_text(text)
    ctx = click.Context(made("skipgram", em.SkipGram))
    read_config(ctx, ctx.command.params[0], str(path))
    return dict(ctx.default_map or {})


WRONG = [
    ("dim = 6.0", "dim must be a whole number, not 6.0"),
    ("dim = true", "dim must be a whole number, not True"),
    ("dim = '6'", "dim must be a whole number, not '6'"),
    ("min-count = 2.5", "min-count must be a whole number, not 2.5"),
    ("max_vocab = false", "max_vocab must be a whole number, not False"),
    ("threads = 1.0", "threads must be a whole number, not 1.0"),
    ("seed = true", "seed must be a whole number, not True"),
    ("rows = 1e3", "rows must be a whole number, not 1000.0"),
    ("rate = true", "rate must be a number, not True"),
    ("rate = '0.1'", "rate must be a number, not '0.1'"),
    ("sample = [0.1]", "sample must be a number, not [0.1]"),
    ("shrink_window = 1", "shrink_window must be true or false, not 1"),
    ("shuffle = 'yes'", "shuffle must be true or false, not 'yes'"),
    ("force = 0", "force must be true or false, not 0"),
    ("quiet = 1.0", "quiet must be true or false, not 1.0"),
    ("out = 7", "out must be a text, not 7"),
    ("tokenizer = 1", "tokenizer must be a text, not 1"),
    ("case = true", "case must be a text, not True"),
    ("negative-sharing = 2", "negative-sharing must be a text, not 2"),
    ("vocab = 2020-01-01", "vocab must be a text, not datetime.date(2020, 1, 1)"),
    ("[dim]\nx = 1", "dim must be a whole number, not {'x': 1}"),
    ("min-count = 1\nmin_count = 2", "'min_count' is set twice"),
    ("min_count = 1\nmin-count = 1", "'min-count' is set twice"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text for text, _ in WRONG])
def test_what_is_no_setting_of_its_type_is_refused(tmp_path, text, said):
    with pytest.raises(click.UsageError) as caught:
        defaults(text, tmp_path / "run.toml")
    path = tmp_path / "run.toml"
    assert caught.value.message == f"{path}: {said}"


@pytest.mark.parametrize(
    ("part", "times", "said"),
    [("a.", 3000, "a line of 6005"), ("# a comment\n", 6000, "72005 characters, more than 65536")],
)
def test_a_file_too_long_for_settings_is_not_taken_apart(tmp_path, part, times, said):
    with pytest.raises(click.UsageError, match=f"run.toml is no file of settings: it has {said}"):
        defaults(part * times + "a = 1", tmp_path / "run.toml")


@pytest.mark.parametrize("name", ["dimm", "config", "corpus", "help", "Dim", ""])
def test_unknown_names_are_told_with_those_there_are(tmp_path, name):
    with pytest.raises(click.UsageError) as caught:
        defaults(f'"{name}" = 1', tmp_path / "run.toml")
    told, _, names = caught.value.message.partition("; there are ")
    assert told == f"{tmp_path / 'run.toml'}: no setting {name!r}"
    assert {"dim", "min-count", "out", "threads", "shrink-window"} <= set(names.split(", "))
    assert not {"config", "corpus", "help"} & set(names.split(", "))


def test_settings_of_their_types_are_taken_with_either_spelling(tmp_path):
    text = "dim = 6\nmin-count = 2\nrate = 1\nsample = 0.01\nshrink_window = false\ncase = 'keep'\nout = 'v'\n"
    assert defaults(text, tmp_path / "run.toml") == {
        "dim": 6, "min_count": 2, "rate": 1, "sample": 0.01, "shrink_window": False, "case": "keep", "out": "v",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "run.toml cannot be read: No such file or directory"),
        (b"dim = ", "run.toml is not TOML: "),
        (b"dim = 1\ndim = 2\n", "run.toml is not TOML: "),
        (b"out = '\xff'\n", "run.toml is not TOML: "),
    ],
    ids=["missing", "broken", "twice the same", "not UTF-8"],
)
def test_files_that_cannot_be_used_are_told_in_one_line(tmp_path, content, said):
    if content is not None:
        (tmp_path / "run.toml").write_bytes(content)
    done = run("train", "skipgram", "missing.txt", "-o", "v", "--config", "run.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: {said}")
    assert done.stderr.count("\n") == 1


def test_a_folder_is_no_config_file(tmp_path):
    done = run("train", "skipgram", "missing.txt", "-o", "v", "--config", tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"Error: {tmp_path} cannot be read: Is a directory\n")
