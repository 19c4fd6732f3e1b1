"""What a user is told stays a line, whatever value it names."""

import pytest
from click.testing import CliRunner

import embeddings as em
from embeddings.cli import main
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import MAX_LENGTH, CorpusError, EmbeddingsError, SettingError


@pytest.mark.parametrize("kind", [EmbeddingsError, SettingError, UnknownWordError])
def test_an_endless_value_loses_its_middle(kind):
    assert str(kind("x" * MAX_LENGTH)) == "x" * MAX_LENGTH
    told = str(kind("start" + "x" * 10**6 + "end"))
    assert told.startswith("startx")
    assert told.endswith("xend")
    assert len(told) < MAX_LENGTH + 10


def test_a_column_with_an_endless_name(tmp_path):
    (tmp_path / "t.tsv").write_text("a" * 100_000 + "\tb\n1\t2\n")
    with pytest.raises(CorpusError, match="has no column 'text'") as told:
        em.Corpus(tmp_path / "t.tsv", text_column="text").encode()
    assert len(str(told.value)) < MAX_LENGTH + 10


def test_what_the_command_line_refuses():
    found = CliRunner().invoke(main, ["train", "skipgram", "text.txt", "-o", "out", "--case", "k" * 100_000])
    assert found.exit_code == 2
    assert "is not one of 'lower', 'keep'" in found.stderr
    assert len(found.stderr) < MAX_LENGTH + 100
