"""Vocabularies: merged, written to files and read back, and invalid files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary, read_vocabulary_file, write_vocabulary_file
from embeddings.errors import FormatError, OutputError, SettingError

COUNTS = st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=9)


@given(one=COUNTS, other=COUNTS, more=st.integers(0, 3))
def test_merged_counts_are_sums(one, other, more):
    first, second = (Vocabulary.from_counts(counts, total=sum(counts.values()) + more) for counts in (one, other))
    merged = first.merge(second)
    whole = {word: one.get(word, 0) + other.get(word, 0) for word in {**one, **other}}
    expected = Vocabulary.from_counts(whole)
    assert list(merged.words) == list(expected.words)
    assert merged.counts.tolist() == expected.counts.tolist()
    assert merged.total == sum(one.values()) + sum(other.values()) + 2 * more
    assert list(second.merge(first).words) == list(merged.words)


@pytest.mark.parametrize("name", ["v.arrow", "v.txt", "v.TXT"])
def test_written_vocabularies_are_read_back(tmp_path, name):
    vocabulary = Vocabulary.from_counts({"the": 9, "a b": 9, "é\u2028x": 2, "7": 1, "never": 0})
    write_vocabulary_file(vocabulary, tmp_path / name)
    result = read_vocabulary_file(tmp_path / name)
    assert list(result.words) == list(vocabulary.words)
    assert result.counts.tolist() == vocabulary.counts.tolist()
    with pytest.raises(OutputError, match=r"exists.*force=True"):
        write_vocabulary_file(vocabulary, tmp_path / name)
    write_vocabulary_file(vocabulary.select(max_vocab=1), tmp_path / name, force=True)
    assert list(read_vocabulary_file(tmp_path / name).words) == ["a b"]


def test_text_of_other_tools_is_read(tmp_path):
    (tmp_path / "v").write_bytes("\ufeffone 1\r\n\nthree\t3\ntwo  words   2  \n".encode())
    vocabulary = read_vocabulary_file(tmp_path / "v")
    assert list(zip(vocabulary.words, vocabulary.counts, strict=True)) == [("three", 3), ("two  words", 2), ("one", 1)]


def test_the_vocabulary_of_a_model_is_read(tmp_path):
    em.train("cbow", [["a", "b", "a"]], dim=2, min_count=1, epochs=1, subsample=0, threads=1).save(tmp_path / "m")
    assert list(read_vocabulary_file(tmp_path / "m").words) == ["a", "b"]
    with pytest.raises(FormatError, match=r"vocabulary.arrow"):
        read_vocabulary_file(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a 1\nb\n", "v, line 2: .*'b'$"),
        (b"a 1\nb -1\n", "line 2: .*'b -1'"),
        (b"a 1.5", "line 1: .*'a 1.5'"),
        (b" 5", "line 1: .*' 5'"),
        (b"a 1\nb 2\na 3", "line 3: .*'a' once"),
        (b"a " + b"9" * 30, "line 1: .*'a 99999"),
        (b"\xff 1", "byte 0xff in position 0"),
        (b"\n", "expected text"),
        (b"ARROW1 and so on", "vocabulary file"),
    ],
)
def test_invalid_files_are_reported(tmp_path, data, message):
    (tmp_path / "v").write_bytes(data)
    with pytest.raises(FormatError, match=message):
        read_vocabulary_file(tmp_path / "v")


def test_invalid_paths_and_words_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"missing cannot be read.*No such file"):
        read_vocabulary_file(tmp_path / "missing")
    with pytest.raises(OutputError, match=r"\.arrow or \.txt.*v.csv"):
        write_vocabulary_file(Vocabulary(["a"], [1]), tmp_path / "v.csv")
    for word in ("", "a\nb", " a", "\ufeffa"):
        with pytest.raises(SettingError, match=r"text file.*\.arrow"):
            write_vocabulary_file(Vocabulary([word], [1]), tmp_path / "v.txt")
    assert list(tmp_path.iterdir()) == []
