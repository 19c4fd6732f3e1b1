"""Errors in terms of the command line: unknown options of other tools, remedies as options."""

import pytest
from commands import refused

from embeddings.cli import main
from embeddings.cli.error_messages import error_line
from embeddings.errors import CorpusError, OutputError, S, marked

TRAIN = ["train", "skipgram", "text.txt", "-o", "x"]


@pytest.mark.parametrize(
    ("options", "name", "remedy"),
    [
        (["--vector_size", "4"], "--vector_size", "Use --dim."),
        (["-size", "4"], "-size", "Use --dim."),
        (["-minCount", "4"], "-minCount", "Use --min-count."),
        (["-output", "v"], "-output", "Use --out."),
        (["--vocab", "4"], "--vocab", "Use --vocabulary."),
        (["--epohcs", "4"], "--epohcs", "Use --epochs."),
        (["-cbow", "1"], "-cbow", "skipgram or cbow"),
        (["-hs", "1"], "-hs", "objective"),
        (["-wordNgrams", "2"], "-wordNgrams", "trainer classifier"),
        (["--wat", "1"], "--wat", "See --help."),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_unknown_options_are_answered_with_ours(options, name, remedy):
    message = refused(*TRAIN, *options, code=2)
    assert message.startswith(f"No such option: {name}. ")
    assert remedy in message


@pytest.mark.parametrize("command", ["train", "tune"])
def test_options_of_other_trainers_name_these(command):
    message = refused(command, "fasttext", "text.txt", "-o", "x", "--tie", code=2)
    assert message.startswith("No such option: --tie. ")
    assert "cbow, skipgram" in message
    assert "of paragraph-dm." in refused(command, "skipgram", "text.txt", "-o", "x", "--tag-count", "2", code=2)


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (["supervised", "-input", "t.txt"], "Use train classifier."),
        (["test", "m.bin", "t.txt"], "Use evaluate --labels."),
        (["trian"], "Use train."),
        (["xyzzy"], "See --help."),
    ],
)
def test_commands_of_other_tools(command, remedy):
    assert remedy in refused(*command, code=2)


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


def test_errors_of_settings_name_options():
    message = refused(*TRAIN, "--min-learning-rate", "1", code=2)
    assert "--min-learning-rate 1.0" in message
    assert "--learning-rate" in message
    assert "--max-n above 0" in refused("train", "fasttext", "t", "-o", "x", "--max-n", "0", "--buckets", "9", code=2)
