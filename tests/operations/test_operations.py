"""Comparing, choosing, aligning, merging, and handing over: equal to gensim where it has the same."""

import re
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embeddings as em
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import EmbeddingsError, FormatError, SettingError
from embeddings.vectors.subset import read_words
from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def random():
    rng = np.random.default_rng(3)
    return Vectors([f"w{i}" for i in range(300)], rng.standard_normal((300, 10)), counts=range(300, 0, -1))


@pytest.fixture(scope="module")
def keyed(random):
    from gensim.models import KeyedVectors

    made = KeyedVectors(random.dim)
    made.add_vectors(random.words, random.matrix)
    return made


some = st.lists(st.integers(0, 299), min_size=2, max_size=6, unique=True)


@pytest.mark.golden
@settings(max_examples=40, deadline=None)
@given(some)
def test_comparisons_equal_gensim(random, keyed, rows):
    words = [f"w{row}" for row in rows]
    a, b = words[:2]
    assert random.doesnt_match(words) == keyed.doesnt_match(words) or len(words) == 2
    gaps = np.abs(random.units @ (random.units[rows[0]] * 1.0) - random.similarity(a, b))
    if (gaps < 1e-6).sum() == 1:  # but for words that float32, which gensim compares in, cannot tell from b
        assert random.rank(a, b) == keyed.rank(a, b)
        assert random.closer_than(a, b) == keyed.closer_than(a, b)
    assert random.distances(a, words) == pytest.approx(keyed.distances(a, words), abs=1e-5)
    assert random.distances(a) == pytest.approx(keyed.distances(a), abs=1e-5)
    assert random.distances(random[a]) == pytest.approx(random.distances(a), abs=1e-7)


def test_ranks_are_places_among_neighbours(random):
    found = [word for word, _ in random.most_similar("w5", top=299)]
    assert [random.rank("w5", word) for word in found[::37]] == list(range(1, 300, 37))
    assert random.closer_than("w5", found[4]) == sorted(found[:4], key=random.index)
    assert random.rank("w5", "w5") == 1


def test_equal_words_share_a_rank():
    rows = np.random.default_rng(1).standard_normal((4, 7))
    vectors = Vectors(list("abcdef"), rows[[0, 1, 2, 1, 1, 3]])
    ranks = {vectors.rank("a", word) for word in "bde"}
    assert len(ranks) == 1
    assert vectors.doesnt_match(["b", "d", "e"]) == "b"


def test_near_ties_are_decided_in_float64():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal(7) + 1e-6 * rng.standard_normal((200, 7))
    vectors = Vectors([f"w{i}" for i in range(200)], rows)
    query = vectors.matrix[0].astype(float) / np.linalg.norm(vectors.matrix[0].astype(float))
    cosines = np.minimum((vectors.units.astype(float) * query).sum(axis=1), 1)
    for b in (3, 70, 199):
        expected = [f"w{i}" for i in range(1, 200) if cosines[i] > cosines[b]]
        assert vectors.closer_than("w0", f"w{b}") == expected


def test_what_comparisons_refuse(random):
    with pytest.raises(SettingError, match="doesnt_match needs a list of words"):
        random.doesnt_match("w1 w2")
    with pytest.raises(UnknownWordError, match="no vector for 'nope'"):
        random.doesnt_match(["w1", "nope"])
    with pytest.raises(UnknownWordError, match="no vector for 'nope'"):
        random.rank("w1", "nope")
    with pytest.raises(SettingError, match=re.escape("a vector to compare with must be (10,), not (3,)")):
        random.distances(np.ones(3))


def test_subset(random):
    first = random.subset(3)
    assert (first.words, first.counts.tolist()) == (["w0", "w1", "w2"], [300, 299, 298])
    assert np.shares_memory(first.matrix, random.matrix)
    chosen = random.subset(word for word in ["w7", "w2", "w7"])
    assert (chosen.words, chosen.counts.tolist()) == (["w7", "w2"], [293, 298])
    assert np.array_equal(chosen.matrix, random.matrix[[7, 2]])
    assert len(random.subset(10**9)) == 300
    assert Vectors(["a"], np.ones((1, 1))).subset(["a"]).counts is None
    with pytest.raises(SettingError, match="the number of words must be at least 1, not 0"):
        random.subset(0)
    with pytest.raises(UnknownWordError, match="no vector for 'nope'"):
        random.subset(["w1", "nope"])


def test_words_of_a_file(tmp_path):
    (tmp_path / "words").write_bytes("new york\r\n日本\n\nnew york\nking".encode())
    assert read_words(tmp_path / "words") == ["new york", "日本", "king"]
    (tmp_path / "words").write_bytes(b"\n\n")
    with pytest.raises(FormatError, match="holds no words"):
        read_words(tmp_path / "words")
    (tmp_path / "words").write_bytes(b"a\n\xff\n")
    with pytest.raises(FormatError, match=r"words, line 2: the word .* is not UTF-8"):
        read_words(tmp_path / "words")


def test_normalised(random):
    vectors = Vectors(["a", "b"], np.array([[3, 4], [0, 0]]), counts=[2, 1]).normalised()
    assert vectors.matrix.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
    assert vectors.counts.tolist() == [2, 1]


def turned(random, noise=0.0):
    rng = np.random.default_rng(8)
    rotation = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    matrix = random.matrix @ rotation + noise * rng.standard_normal(random.matrix.shape)
    order = rng.permutation(300)[:200]
    return Vectors([random.words[row] for row in order], matrix[order]), rotation


def test_align_finds_the_rotation(random):
    other, rotation = turned(random)
    found = em.align(random, other)
    assert found.rotation == pytest.approx(rotation, abs=1e-6)
    assert found.residual == pytest.approx(0, abs=1e-6)
    assert found.vectors.words == random.words
    assert found.vectors[other.words] == pytest.approx(other.matrix, abs=1e-5)
    assert sorted(found.words) == sorted(other.words)
    assert found.vectors.similarity("w1", "w2") == pytest.approx(random.similarity("w1", "w2"), abs=1e-6)


def test_align_is_the_best_rotation(random):
    from scipy.linalg import orthogonal_procrustes

    other, _ = turned(random, noise=0.5)
    found = em.align(random, other, words=other.words[:50])
    a, b = random[other.words[:50]].astype(float), other.matrix[:50].astype(float)
    assert found.rotation == pytest.approx(orthogonal_procrustes(a, b)[0], abs=1e-9)
    assert found.residual == pytest.approx(np.linalg.norm(a @ found.rotation - b) / np.linalg.norm(b))
    assert 0.1 < found.residual < 1
    assert found.words == other.words[:50]


def test_what_align_refuses(random):
    with pytest.raises(SettingError, match="spaces of 10 and of 1 components cannot be aligned"):
        em.align(random, Vectors(["w1"], np.ones((1, 1))))
    with pytest.raises(SettingError, match="share no word to align them by"):
        em.align(random, Vectors(["x"], np.ones((1, 10))))
    with pytest.raises(UnknownWordError, match="no vector for 'x'"):
        em.align(random, random, words=["x"])
    with pytest.raises(SettingError, match="holds NaN or infinity"):
        em.align(random, Vectors(["w1"], np.full((1, 10), np.nan)))


@pytest.fixture
def two():
    first = Vectors(["a", "b", "c"], np.array([[1, 1], [2, 2], [3, 3]]), counts=[9, 5, 1])
    return first, Vectors(["d", "b"], np.array([[8, 8], [4, 4]]), counts=[7, 6])


def test_merge(two):
    union = em.merge(*two)
    assert (union.words, union.counts.tolist()) == (["b", "a", "d", "c"], [11, 9, 7, 1])
    assert union.matrix.tolist() == [[2, 2], [1, 1], [8, 8], [3, 3]]
    assert em.merge(*two, how="mean").matrix.tolist() == [[3, 3], [1, 1], [8, 8], [3, 3]]
    both = em.merge(*two, how="concat")
    assert (both.words, both.matrix.tolist(), both.counts.tolist()) == (["b"], [[2, 2, 4, 4]], [11])
    assert two[0].matrix.tolist() == [[1, 1], [2, 2], [3, 3]]


def test_merge_without_counts_keeps_the_order(two):
    plain = Vectors(two[1].words, two[1].matrix)
    union = em.merge(two[0], plain)
    assert (union.words, union.counts) == (["a", "b", "c", "d"], None)


def test_what_merge_refuses(two):
    with pytest.raises(SettingError, match="how must be first, mean or concat, not 'sum'"):
        em.merge(*two, how="sum")
    with pytest.raises(SettingError, match="vectors of 2 and of 3 components can only be merged by 'concat'"):
        em.merge(two[0], Vectors(["a"], np.ones((1, 3))))
    with pytest.raises(SettingError, match="no word has a vector in both"):
        em.merge(two[0], Vectors(["x"], np.ones((1, 3))), how="concat")


def test_pandas_both_ways(random):
    frame = random.to_pandas()
    assert (frame.shape, frame.index.name, frame.index[3]) == ((300, 10), "word", "w3")
    frame.iloc[0] = 5
    assert random.matrix[0, 0] != 5
    again = Vectors.from_pandas(random.to_pandas())
    assert again.words == random.words
    assert again.matrix.tobytes() == random.matrix.tobytes()
    assert again.matrix.dtype == np.float32


def test_pandas_of_our_tables(random):
    again = Vectors.from_pandas(random.to_arrow().to_pandas())
    assert again.words == random.words
    assert np.array_equal(again.matrix, random.matrix)
    assert again.counts.tolist() == random.counts.tolist()


def test_what_frames_must_be(random):
    import pandas as pd

    for frame, message in [
        (pd.DataFrame([[1.0]]), "words must be strings, not 0"),
        (pd.DataFrame([["x"]], index=["a"]), "the column 0 holds no numbers"),
        (pd.DataFrame([[1.0], [2.0]], index=["a", "a"]), "the word 'a' stands twice"),
        (pd.DataFrame([[np.nan]], index=["a"]), "the vector of 'a' holds NaN or infinity"),
        (pd.DataFrame({"word": ["a", "b"], "vector": [[1.0], [1.0, 2]]}), "must hold vectors of one length"),
        (pd.DataFrame({"word": ["a", "b"], "vector": [[1.0], [2.0]], "count": [1, None]}), "must hold whole numbers"),
    ]:
        with pytest.raises(SettingError, match=message):
            Vectors.from_pandas(frame)


def test_without_pandas_the_message_says_how(random, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(EmbeddingsError, match=r"^this needs pandas: pip install pandas$"):
        random.to_pandas()


def test_arrow_both_ways(random):
    table = random.to_arrow()
    assert table.column_names == ["word", "count", "vector"]
    again = Vectors.from_arrow(table)
    assert again.words == random.words
    assert again.counts.tolist() == random.counts.tolist()
    assert np.shares_memory(again.matrix, random.matrix)
    assert np.array_equal(Vectors.from_arrow(table.slice(100)).matrix, random.matrix[100:])
    with pytest.raises(FormatError, match="it needs the columns word and vector, each once, and has x"):
        Vectors.from_arrow(pa.table({"x": [1]}))
