"""Error messages are limited in length, whatever value they contain."""

import pickle

import pytest
from click.testing import CliRunner

import embeddings as em
from embeddings.cli import main
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import MAX_LENGTH, CorpusError, EmbeddingsError, RemoteError, SettingError


@pytest.mark.parametrize("kind", [EmbeddingsError, SettingError, UnknownWordError])
def test_long_messages_are_shortened_in_the_middle(kind):
    assert str(kind("x" * MAX_LENGTH)) == "x" * MAX_LENGTH
    message = str(kind("start" + "x" * 10**6 + "end"))
    assert message.startswith("startx")
    assert message.endswith("xend")
    assert len(message) < MAX_LENGTH + 10


def test_very_long_column_name(tmp_path):
    (tmp_path / "t.tsv").write_text("a" * 100_000 + "\tb\n1\t2\n")
    with pytest.raises(CorpusError, match="'text'") as error:
        em.Corpus(tmp_path / "t.tsv", text_column="text").encode()
    assert len(str(error.value)) < MAX_LENGTH + 10


def test_very_long_option_value():
    result = CliRunner().invoke(main, ["train", "skipgram", "text.txt", "-o", "out", "--case", "k" * 100_000])
    assert result.exit_code == 2
    assert "is not one of 'lower', 'fold', 'keep'" in result.stderr
    assert len(result.stderr) < MAX_LENGTH + 100


def test_an_error_of_a_remote_file_can_be_sent_to_another_process():
    error = pickle.loads(pickle.dumps(RemoteError("s3://bucket/file", "cannot be read")))
    assert (str(error), error.strerror) == ("s3://bucket/file cannot be read", "cannot be read")


def test_python_sees_the_names_of_settings_without_marks():
    with pytest.raises(SettingError) as error:
        em.SkipGram(window=-1)
    assert error.value.args == (str(error.value),)
    assert repr(error.value) == f"SettingError({str(error.value)!r})"


def test_the_hint_of_an_unknown_word_is_made_when_it_is_shown():
    calls = []

    def hint():
        calls.append(None)
        return "; did you mean king?"

    error = UnknownWordError("no vector for 'kin'", hint)
    assert not calls
    assert str(error) == str(error) == "no vector for 'kin'; did you mean king?"
    assert len(calls) == 1
    assert str(pickle.loads(pickle.dumps(UnknownWordError("no vector for 'kin'", hint)))) == str(error)
