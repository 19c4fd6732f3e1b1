"""Vectors: look up, compare, search; the fast search beside an obvious one, and beside gensim."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.errors import EmbeddingsError, SettingError
from embeddings.vectors.vectors import Vectors


def brute_force(vectors, query, top, restrict=None, barred=()):
    """Cosines one by one in float64 of the unit rows; sorted by score, then by place."""
    length = np.linalg.norm(query)
    query = query / length if length else query
    scored = []
    for place, word in enumerate(vectors.words[:restrict]):
        if word not in barred:
            score = (vectors.units[place].astype(np.float64) * query).sum()
            scored.append((-min(1.0, max(-1.0, score)), place, word))
    return [(word, -score) for score, _, word in sorted(scored)[:top]]


@pytest.fixture(scope="module")
def random():
    rng = np.random.default_rng(3)
    return Vectors([f"w{i}" for i in range(500)], rng.standard_normal((500, 20)).astype(np.float32))


@pytest.fixture(scope="module")
def keyed(random):
    from gensim.models import KeyedVectors

    made = KeyedVectors(random.dim)
    made.add_vectors(random.words, random.matrix)
    return made


def test_lookups(random):
    assert len(random) == 500
    assert random.dim == 20
    assert "w3" in random
    assert "x" not in random
    assert random.index("w7") == 7
    assert np.array_equal(random["w7"], random.matrix[7])
    assert random[["w1", "w0"]].tolist() == random.matrix[[1, 0]].tolist()
    assert random[[]].shape == (0, 20)
    with pytest.raises(ValueError, match="read-only"):
        random["w7"][0] = 1


def test_to_and_from_numpy():
    matrix = np.arange(6.0).reshape(2, 3)
    vectors = Vectors.from_numpy(["a", "b"], matrix)
    copy = vectors.to_numpy()
    copy[0] = 9
    assert vectors.matrix.tolist() == matrix.tolist()
    with pytest.raises(SettingError, match="the vector of 'b' holds NaN or infinity"):
        Vectors.from_numpy(["a", "b"], np.array([[1.0], [np.inf]]))


def test_float32_is_not_copied(tmp_path):
    matrix = np.ones((4, 2), np.float32)
    assert np.shares_memory(Vectors(list("abcd"), matrix).matrix, matrix)
    matrix.tofile(tmp_path / "m")
    mapped = np.memmap(tmp_path / "m", np.float32, "r", shape=(4, 2))
    assert np.shares_memory(Vectors(list("abcd"), mapped).matrix, mapped)


@pytest.mark.parametrize(
    ("words", "matrix", "counts", "message"),
    [
        (["a", "b", "a"], np.ones((3, 1)), None, "the word 'a' stands twice"),
        (["a"], np.ones((2, 1)), None, "1 words but 2 rows"),
        (["a"], np.ones(1), None, r"must be \(words, dim\) with dim at least 1, not \(1,\)"),
        (["a"], np.ones((1, 0)), None, r"not \(1, 0\)"),
        (["a"], np.ones((1, 1)), [1, 2], r"1 words but counts of shape \(2,\)"),
    ],
)
def test_what_does_not_fit(words, matrix, counts, message):
    with pytest.raises(SettingError, match=message):
        Vectors(words, matrix, counts=counts)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("kin", "no vector for 'kin' among 4 words; close: king, kings$"),
        ("KING", "no vector for 'KING' among 4 words; close: king"),
        ("zzzz", "no vector for 'zzzz' among 4 words$"),
        ("", "no vector for '' among 4 words$"),
    ],
)
def test_unknown_words(word, message):
    vectors = Vectors(["king", "kings", "queen", "the"], np.eye(4))
    for ask in (vectors.index, vectors.__getitem__, vectors.most_similar):
        with pytest.raises(LookupError, match=message) as caught:
            ask(word)
        assert isinstance(caught.value, EmbeddingsError)


def test_compose_serves_unseen_words_only():
    vectors = Vectors(["a", "b", "c"], np.eye(3), compose=lambda words: [[len(word)] * 3 for word in words])
    assert vectors["xx"].tolist() == [2, 2, 2]
    assert vectors["a"].tolist() == [1, 0, 0]
    assert "xx" not in vectors
    assert vectors.similarity("xx", "a") == pytest.approx(3**-0.5)
    assert [word for word, _ in vectors.most_similar("xx")] == ["a", "b", "c"]
    assert [word for word, _ in vectors.analogy("a", "b", "xx", method="3cosmul")] == ["c"]


def test_zero_rows_are_harmless():
    vectors = Vectors(["a", "zero", "b"], np.array([[1, 0], [0, 0], [-1, 0.0]]))
    assert vectors.similarity("a", "zero") == 0
    assert vectors.most_similar("a") == [("zero", 0.0), ("b", -1.0)]
    assert vectors.most_similar("zero") == [("a", 0.0), ("b", 0.0)]
    assert vectors.units[1].tolist() == [0, 0]


def test_huge_and_tiny_rows_keep_their_direction():
    vectors = Vectors(["a", "b", "c"], np.array([[3e38, 3e38], [1e-42, 1e-42], [1, -1]], np.float32))
    assert vectors.similarity("a", "b") == pytest.approx(1)
    assert vectors.most_similar("a")[0] == ("b", pytest.approx(1, abs=1e-6))


def test_nan_is_named_at_the_first_search():
    vectors = Vectors(["a", "b"], np.array([[1, 0], [np.nan, 0]]))
    with pytest.raises(SettingError, match="the vector of 'b' holds NaN or infinity"):
        vectors.most_similar("a")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_search_equals_brute_force_with_ties(data):
    size, dim = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 5))
    entries = data.draw(st.lists(st.integers(-2, 2), min_size=size * dim, max_size=size * dim))
    vectors = Vectors([f"w{i}" for i in range(size)], np.array(entries, np.float32).reshape(size, dim))
    top, restrict = data.draw(st.integers(1, 45)), data.draw(st.none() | st.integers(1, 45))
    words = data.draw(st.lists(st.sampled_from(vectors.words), min_size=1, max_size=3))
    query = sum(row / (np.linalg.norm(row) or 1) for row in vectors[words].astype(np.float64))
    expected = brute_force(vectors, query, top, restrict, words)
    found = vectors.most_similar(words, top=top, restrict=restrict)
    assert found == vectors.most_similar_many([words], top=top, restrict=restrict)[0]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-12)
    assert len({word for word, _ in found} & set(words)) == 0
    for (word, score), (other, below) in pairwise(found):
        assert score > below or (score == below and vectors.index(word) < vectors.index(other))


def test_equal_rows_tie_wherever_they_stand():
    rng = np.random.default_rng(8)
    rows = rng.standard_normal((7, 33)).astype(np.float32)
    vectors = Vectors([str(i) for i in range(700)], np.tile(rows, (100, 1)))
    found = vectors.most_similar(rng.standard_normal(33), top=120)
    places = [vectors.index(word) for word, _ in found]
    assert places[:100] == sorted(places[:100])
    assert len({place % 7 for place in places[:100]}) == 1
    assert len({score for _, score in found[:100]}) == 1


def test_blocks_change_nothing(random, monkeypatch):
    queries = [*random.words[:50], ["w1", "w2"], random.matrix[4] * 3]
    whole = random.most_similar_many(queries, top=5)
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 5000)
    assert random.most_similar_many(queries, top=5) == whole
    assert [random.most_similar(query, top=5) for query in queries] == whole
    assert random.most_similar_many([]) == []


def test_restrict_limits_candidates_not_queries(random):
    found = random.most_similar("w400", top=1000, restrict=10)
    assert sorted(word for word, _ in found) == [f"w{i}" for i in range(10)]
    assert len(random.most_similar("w3", top=1000)) == 499
    assert random.most_similar("w3", top=5, restrict=10**9) == random.most_similar("w3", top=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 0}, "top must be at least 1, not 0"),
        ({"restrict": 0}, "restrict must be at least 1, not 0"),
        ({"positive": []}, "nothing to search with"),
        ({"positive": np.ones(3)}, r"must be \(20,\), not \(3,\)"),
        ({"positive": np.full(20, np.nan)}, "holds NaN or infinity"),
    ],
)
def test_searches_that_make_no_sense(random, options, message):
    with pytest.raises(SettingError, match=message):
        random.most_similar(**{"positive": "w1", **options})


def test_method_of_analogy(random):
    with pytest.raises(SettingError, match="method must be 3cosadd or 3cosmul, not 'add'"):
        random.analogy("w1", "w2", "w3", method="add")
    with pytest.raises(SettingError, match="top must be at least 1"):
        random.analogy("w1", "w2", "w3", method="3cosmul", top=0)


def same(found, expected):
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-6)


@pytest.mark.golden
@pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")
def test_same_answers_as_gensim(random, keyed):
    array = random.matrix[9] * 2
    same(random.most_similar("w1"), keyed.most_similar("w1"))
    same(random.most_similar(["w1", "w2"], ["w3"], top=7), keyed.most_similar(["w1", "w2"], ["w3"], topn=7))
    same(random.most_similar(["w1", array], "w5"), keyed.most_similar(["w1", array], "w5"))
    same(random.most_similar("w1", restrict=60), keyed.most_similar("w1", restrict_vocab=60))
    same(random.most_similar([], ["w4"]), keyed.most_similar([], ["w4"]))
    same(random.analogy("w1", "w2", "w3"), keyed.most_similar(["w2", "w3"], ["w1"]))
    cosmul = keyed.most_similar_cosmul(["w2", "w3"], ["w1"], topn=20)
    found = random.analogy("w1", "w2", "w3", method="3cosmul", top=20)
    assert [word for word, _ in found] == [word for word, _ in cosmul]
    assert [score for _, score in found] == pytest.approx([score for _, score in cosmul], rel=1e-5)
    assert random.similarity("w1", "w2") == pytest.approx(float(keyed.similarity("w1", "w2")), abs=1e-6)


def test_cosmul_by_hand(random):
    units = random.units.astype(np.float64)
    a, b, c = ((1 + units @ units[i]) / 2 for i in (1, 2, 3))
    scores = b * c / (a + 1e-6)
    order = [i for i in np.argsort(-scores) if i not in (1, 2, 3)][:4]
    found = random.analogy("w1", "w2", "w3", method="3cosmul", top=4)
    assert [word for word, _ in found] == [f"w{i}" for i in order]
    assert [score for _, score in found] == pytest.approx(scores[order], rel=1e-6)
    limited = random.analogy("w1", "w2", "w3", method="3cosmul", top=4, restrict=5)
    assert {word for word, _ in limited} == {"w0", "w4"}
