"""Errors in terms of the command line: unknown options of other tools, remedies as options."""

import pytest

from embeddings.cli import main
from embeddings.cli.error_messages import error_line
from embeddings.errors import CorpusError, OutputError, S, marked

TRAIN = ["train", "skipgram", "text.txt", "-o", "x"]


def test_remedies_of_the_library_become_options():
    error = OutputError(f"v exists; set {S.force(True)} or {S.allow_pickle(True)}")
    assert str(error) == "v exists; set force=True or allow_pickle=True"
    assert error_line(error, []) == "v exists; set --force or --allow-pickle"


@pytest.mark.parametrize(
    ("command", "message", "expected"),
    [
        (
            "train skipgram",
            f"t.txt: not UTF-8; to accept it, set {S.encoding_errors} to replace",
            "t.txt: not UTF-8; to accept it, set --encoding-errors to replace",
        ),
        (
            "train skipgram",
            f"{S.min_learning_rate} must be at most {S.learning_rate}, .1, got 2",
            "--min-learning-rate must be at most --learning-rate, .1, got 2",
        ),
        ("train skipgram", f"{S.tie(True)} requires one: remove {S.tie}", "--tie requires one: remove --tie"),
        ("train skipgram", f"{S.shrink_window(False)} has no effect", "--fixed-window has no effect"),
        (
            "train skipgram",
            f"{S.negatives(9)} has no effect with {S.objective('x')}: y",
            "--negatives 9 has no effect with --objective x: y",
        ),
        ("predict", f"{S.k} must be at least 1", "--top must be at least 1"),
        ("neighbours", f"{S.learning_rate} must be positive", "learning_rate must be positive"),
        ("neighbours", f"{S.negatives(9)} and {S.tie(False)}", "negatives=9 and tie=False"),
        ("train skipgram", "min_count, window=5 and a/min_count", "min_count, window=5 and a/min_count"),
    ],
)
def test_settings_in_messages_become_options_of_the_command(command, message, expected):
    assert error_line(CorpusError(message), [*command.split(), "x"], main) == expected


def test_the_message_of_a_wrapped_error_keeps_its_settings():
    error = OutputError(f"{marked(CorpusError(f'lower {S.min_count}'))}; nothing is written")
    assert str(error) == "lower min_count; nothing is written"
    assert error_line(error, TRAIN, main) == "lower --min-count; nothing is written"
    assert marked(KeyError("window")) == "'window'"
