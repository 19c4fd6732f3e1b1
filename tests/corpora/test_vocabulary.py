import math

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary, read_vocabulary_file, write_vocabulary_file
from embeddings.errors import CorpusError, EmbeddingsError, FormatError, OutputError, SettingError

COUNTS = st.dictionaries(st.text(max_size=5), st.integers(1, 9), max_size=20)


@given(counts=COUNTS)
def test_sorted_by_count_then_code_points(counts):
    vocabulary = Vocabulary.from_counts(counts)
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], [ord(character) for character in pair[0]]))
    assert list(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)) == pairs
    assert vocabulary.counts.dtype == np.int64
    assert [vocabulary.index(word) for word in vocabulary.words] == list(range(len(vocabulary)))
    assert vocabulary.tokens == vocabulary.total == sum(counts.values())


def test_words_and_counts_apart():
    vocabulary = Vocabulary.from_counts(["b", "a", "c"], [1, 1, 5], total=10)
    assert vocabulary.words == ["c", "a", "b"]
    assert (vocabulary.tokens, vocabulary.total) == (7, 10)
    assert "a" in vocabulary
    assert "d" not in vocabulary
    with pytest.raises(KeyError, match="'d' is not among the 3 words of the vocabulary"):
        vocabulary.index("d")
    with pytest.raises(EmbeddingsError, match=r"^'d' is not among"):
        vocabulary.index("d")


@pytest.mark.parametrize(
    ("words", "counts", "total", "message"),
    [
        (["a", "b"], [1], None, "2 words.*1"),
        (["a", "b"], [1, 2], None, "descending"),
        (["a"], [-1], None, "negative"),
        (["a"], [5], 4, "total.* 5.* 4"),
    ],
)
def test_invalid_counts_are_refused(words, counts, total, message):
    with pytest.raises(SettingError, match=message):
        Vocabulary(words, counts, total=total)


@given(counts=COUNTS.filter(bool), min_count=st.integers(0, 10), max_vocab=st.none() | st.integers(1, 25))
def test_select_is_a_prefix_of_the_frequent_words(counts, min_count, max_vocab):
    vocabulary = Vocabulary.from_counts(counts, total=1000)
    expected = [word for word in vocabulary.words if counts[word] >= min_count][:max_vocab]
    if not expected:
        with pytest.raises(CorpusError, match=f"at least {min_count} times: the most frequent is .* with"):
            vocabulary.select(min_count=min_count, max_vocab=max_vocab)
        return
    selected = vocabulary.select(min_count=min_count, max_vocab=max_vocab)
    assert selected.words == expected
    assert selected.counts.tolist() == [counts[word] for word in expected]
    assert selected.total == 1000


def test_errors_of_select_suggest_a_remedy():
    vocabulary = Vocabulary(["the", "a"], [12, 3])
    message = "^no word occurs at least 50 times: the most frequent is 'the' with 12; lower min_count$"
    with pytest.raises(CorpusError, match=message):
        vocabulary.select(min_count=50)
    with pytest.raises(CorpusError, match="empty"):
        Vocabulary([], []).select()


def test_keep_probabilities_equal_word2vec():
    vocabulary = Vocabulary(["a", "b", "c"], [900, 90, 10], total=5000)
    keep = vocabulary.keep_probabilities(0.02)
    assert keep.dtype == np.float32
    for count, probability in zip([900, 90, 10], keep, strict=True):
        share = count / 1000
        assert probability == pytest.approx(min(1, math.sqrt(0.02 / share) + 0.02 / share), rel=1e-6)
    assert vocabulary.keep_probabilities(0).tolist() == [1, 1, 1]


@pytest.mark.parametrize("exponent", [0.75, 0, 1, -0.5])
def test_noise_weights_are_powers_of_counts(exponent):
    weights = Vocabulary(["a", "b", "c"], [900, 90, 10]).noise_weights(exponent)
    powers = [count**exponent for count in (900, 90, 10)]
    assert weights.dtype == np.float64
    assert weights == pytest.approx([power / sum(powers) for power in powers], rel=1e-12)
    with (
        pytest.raises(SettingError, match="noise_exponent=1000"),
        np.errstate(all="ignore"),
    ):
        Vocabulary(["a"], [900]).noise_weights(1000)
    with pytest.raises(SettingError, match=r"noise_exponent.* 0 tokens"):
        Vocabulary(["a", "b"], [0, 0]).noise_weights(0.75)


def test_saved_vocabularies_are_loaded(tmp_path):
    words = ["", "tab\there", "line\nend", "😀", "nul\0", " ", "ü", "u\u0308"]
    vocabulary = Vocabulary(words, range(10, 2, -1), total=10**12)
    vocabulary.save(tmp_path / "v")
    for loaded in (Vocabulary.load(tmp_path / "v"), Vocabulary.load(tmp_path / "v").select(min_count=3)):
        assert loaded.words == words
        assert loaded.counts.tolist() == vocabulary.counts.tolist()
        assert loaded.total == 10**12
    loaded.select(max_vocab=3).save(tmp_path / "v", force=True)
    assert Vocabulary.load(tmp_path / "v").words == words[:3]
    with pytest.raises(OutputError, match="exists"):
        vocabulary.save(tmp_path / "v")


def write_table(path, columns, metadata):
    table = pyarrow.table(columns).replace_schema_metadata(metadata)
    with pyarrow.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("columns", "metadata", "message"),
    [
        ({"word": ["a"]}, {"total": "1"}, "count"),
        ({"word": ["a"], "count": ["many"]}, {"total": "1"}, "many"),
        ({"word": ["a"], "count": [1.5]}, {"total": "1"}, "1.5"),
        ({"word": ["a", None], "count": [1, 1]}, {"total": "2"}, "missing"),
        ({"word": ["a", "b"], "count": [1, None]}, {"total": "2"}, "missing"),
        ({"word": ["a", "a"], "count": [1, 1]}, {"total": "2"}, "twice"),
        ({"word": ["a", "b"], "count": [1, 2]}, {"total": "3"}, "descending"),
        ({"word": ["a"], "count": [1]}, {}, "is not a vocabulary file: "),
        ({"word": ["a"], "count": [1]}, {"total": "x"}, "is not a vocabulary file: "),
    ],
)
def test_other_tables_are_refused(tmp_path, columns, metadata, message):
    write_table(tmp_path / "v", columns, metadata)
    with pytest.raises(FormatError, match=message):
        Vocabulary.load(tmp_path / "v")


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "v"
    with pytest.raises(FormatError, match=r"v .vocabulary file"):
        Vocabulary.load(path)
    Vocabulary(["a", "b"], [2, 1]).save(path)
    data = path.read_bytes()
    for length in range(0, len(data), 16):
        path.write_bytes(data[:length])
        with pytest.raises(FormatError, match=r"v .vocabulary file"):
            Vocabulary.load(path)


SMALL_COUNTS = st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=9)


@given(one=SMALL_COUNTS, other=SMALL_COUNTS, more=st.integers(0, 3))
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
    with pytest.raises(FormatError, match=r"missing \(vocabulary\) cannot be read.*No such file"):
        read_vocabulary_file(tmp_path / "missing")
    with pytest.raises(OutputError, match=r"\.arrow or \.txt.*v.csv"):
        write_vocabulary_file(Vocabulary(["a"], [1]), tmp_path / "v.csv")
    for word in ("", "a\nb", " a", "\ufeffa"):
        with pytest.raises(SettingError, match=r"text file.*\.arrow"):
            write_vocabulary_file(Vocabulary([word], [1]), tmp_path / "v.txt")
    assert list(tmp_path.iterdir()) == []
