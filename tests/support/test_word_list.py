"""Words of an Arrow array are found without a list or dict; counts whose sum does not fit 64 bits are refused."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optional_libraries import KV

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary, read_vocabulary_file
from embeddings.errors import FormatError, SettingError
from embeddings.models.model import Model
from embeddings.support.word_list import MAX_SEARCHES, MAX_SUM, WordList, as_counts, sum_counts
from embeddings.vectors.vectors import Vectors

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), unique=True, max_size=30)


@given(
    words=texts, queries=st.lists(st.text(max_size=5), max_size=40), kind=st.sampled_from([pa.string, pa.large_string])
)
def test_a_column_and_a_list_find_the_same(words, queries, kind):
    column = WordList(pa.array(words, kind()), distinct=True)
    for word in [*queries, *words, *queries]:
        assert column.find(word) == (words.index(word) if word in words else None)
        assert WordList(words).find(word) == column.find(word)
    assert len(column) == len(words)
    assert column.words == words


def test_a_few_searches_build_neither_list_nor_dict(monkeypatch):
    words = WordList(pa.array(["a", "b", "c"]), distinct=True)
    for _ in range(MAX_SEARCHES):
        assert words.find("c") == 2
    assert not {"words", "rows"} & set(vars(words))
    assert words.find("b") == 1
    assert {"words", "rows"} <= set(vars(words))


@pytest.mark.parametrize("wrong", [5, None, b"a", {"a"}, ["a"], "\ud800"])
def test_other_types_are_not_found(wrong):
    assert WordList(pa.array(["a", "5", "None"]), distinct=True).find(wrong) is None
    assert WordList(["a", "5", "None"]).find(wrong) is None
    assert wrong not in Vectors(["a"], [[1.0]])


def test_a_duplicate_word_is_refused():
    for words in (["a", "b", "a"], pa.array(["a", "b", "a"])):
        with pytest.raises(SettingError, match=r"'a'.*twice"):
            WordList(words)


def test_a_loaded_model_builds_no_list_of_its_words(tmp_path):
    vocabulary = Vocabulary(["the", "king", "日本"], [5, 4, 1])
    vectors = Vectors(vocabulary.words, [[1.0, 2], [3, 4], [5, 6]], counts=vocabulary.counts)
    Model("skipgram", vectors=vectors, vocabulary=vocabulary).save(tmp_path / "m")
    loaded = Model.load(tmp_path / "m")
    assert loaded.vectors["king"].tolist() == [3, 4]
    assert "none" not in loaded.vectors
    assert "king" in loaded.vocabulary
    assert not {"words", "rows"} & set(vars(loaded.vectors.word_list))
    assert loaded.vectors.words == loaded.vocabulary.words == vocabulary.words
    assert loaded.vectors.words is loaded.vocabulary.words


HUGE = [2**62, 2**62, 5]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5))
@example([2**63 - 2, 1])
@example([2**63 - 1, 1])
def test_sums_are_exact(counts):
    if sum(counts) > MAX_SUM:
        with pytest.raises(SettingError, match=f"sum of the counts must be at most {MAX_SUM}, got {sum(counts)}"):
            as_counts(counts)
    else:
        assert sum_counts(as_counts(counts)) == sum(counts)


@pytest.mark.parametrize("counts", [[2.5, 1], np.array([1.0, np.inf])])
def test_fractions_are_refused(counts):
    with pytest.raises(SettingError, match="counts must be whole numbers"), np.errstate(invalid="ignore"):
        as_counts(counts)
    assert as_counts([2.0, 1]).tolist() == [2, 1]


def test_a_total_that_is_too_large_is_refused():
    with pytest.raises(SettingError, match=f"total must be from 3, the sum of counts, to {MAX_SUM}, got {2**63}"):
        Vocabulary(["a"], [3], total=2**63)


def write_arrow(path):
    table = pa.table({"word": pa.array(["a", "b", "c"]), "count": pa.array(HUGE, pa.int64())})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema.with_metadata({"total": "9"})) as out:
        out.write_table(table)


def write_text(path):
    path.write_text("".join(f"w{i} {10**18 - 1}\n" for i in range(10)))


@pytest.mark.parametrize("write", [write_arrow, write_text])
def test_vocabulary_files_are_refused(tmp_path, write):
    write(tmp_path / "v")
    with pytest.raises(FormatError, match=r"v is not a vocabulary file: the sum of the counts must be at most"):
        read_vocabulary_file(tmp_path / "v")
    with pytest.raises(FormatError, match="the sum of the counts"):
        em.train("skipgram", em.Corpus(["a b c"], vocabulary=tmp_path / "v"), min_count=1)


@pytest.mark.parametrize("name", ["v.safetensors", "v.parquet", "v.arrow", "v.bin", KV])
def test_files_of_vectors_are_refused(tmp_path, name):
    """As another program may write them: the counts are set after they were checked."""
    vectors = em.Vectors(map(str, range(40)), np.eye(40), counts=[1] * 40)
    vectors.counts = np.full(40, 10**18 - 1)  # their 64-bit sum is positive
    vectors.save(tmp_path / name, format="fasttext" if name == "v.bin" else None)
    with pytest.raises(FormatError, match=rf"{name}.*the sum of the counts must be at most"):
        em.load(tmp_path / name, allow_pickle=True)
