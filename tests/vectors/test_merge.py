"""Two sets of vectors as one."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import FormatError, SettingError
from embeddings.vectors.align import read_dictionary
from embeddings.vectors.merge import read_lexicon, retrofit
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def pair():
    first = Vectors(["a", "b", "c"], np.array([[1, 1], [2, 2], [3, 3]]), counts=[9, 5, 1])
    return first, Vectors(["d", "b"], np.array([[8, 8], [4, 4]]), counts=[7, 6])


def test_merge(pair):
    union = em.merge(*pair)
    assert (union.words, union.counts.tolist()) == (["b", "a", "d", "c"], [11, 9, 7, 1])
    assert union.matrix.tolist() == [[2, 2], [1, 1], [8, 8], [3, 3]]
    assert em.merge(*pair, how="mean").matrix.tolist() == [[3, 3], [1, 1], [8, 8], [3, 3]]
    both = em.merge(*pair, how="concat")
    assert (both.words, both.matrix.tolist(), both.counts.tolist()) == (["b"], [[2, 2, 4, 4]], [11])
    assert pair[0].matrix.tolist() == [[1, 1], [2, 2], [3, 3]]


def test_without_counts_the_order_stays(pair):
    union = em.merge(pair[0], Vectors(pair[1].words, pair[1].matrix))
    assert (union.words, union.counts) == (["a", "b", "c", "d"], None)


def test_several_sets(pair):
    third = Vectors(["b", "e"], np.array([[6, 0], [1, 5]]))
    union = em.merge(*pair, third, how="mean")
    assert (union.words, union.counts) == (["a", "b", "c", "d", "e"], None)
    assert union["b"].tolist() == [(2 + 4 + 6) / 3, 2]
    assert em.merge(pair[1], third, pair[0])["b"].tolist() == [4, 4]
    assert em.merge(*pair, third, how="concat")["b"].tolist() == [2, 2, 4, 4, 6, 0]


def test_svd_keeps_the_cosines_of_joined_unit_vectors():
    rng = np.random.default_rng(2)
    words = [f"w{row}" for row in range(30)]
    first, second = (Vectors(words, rng.standard_normal((30, dim))) for dim in (3, 4))
    joined = np.concatenate([first.unit_rows, second.unit_rows], axis=1)
    whole = em.merge(first, second, how="svd", dim=7)
    assert whole.matrix @ whole.matrix.T == pytest.approx(joined @ joined.T, abs=1e-5)
    u, s, v = np.linalg.svd(joined)
    best = (u[:, :3] * s[:3]) @ v[:3]
    reduced = em.merge(first, second, how="svd")
    assert reduced.dim == 3
    assert reduced.matrix @ reduced.matrix.T == pytest.approx(best @ best.T, abs=1e-5)


def naive_retrofit(words, matrix, lexicon):
    """Passes over words one at a time, as in the paper; both ways have the same fixed point."""
    original = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    rows = original.copy()
    for _ in range(200):
        for word, others in lexicon.items():
            related = [words.index(other) for other in others if other in words and other != word]
            if word in words and related:
                rows[words.index(word)] = (original[words.index(word)] + rows[related].mean(axis=0)) / 2
    return rows


def test_retrofit_equals_its_definition(tmp_path):
    rng = np.random.default_rng(3)
    words, matrix = [f"w{row}" for row in range(20)], rng.standard_normal((20, 6))
    lexicon = {f"w{row}": [f"w{other}" for other in rng.integers(25, size=3)] for row in range(0, 24, 2)}
    path = tmp_path / "lexicon.txt"
    path.write_text("".join(f"{word} {' '.join(others)}\n" for word, others in lexicon.items()) + "\n")
    vectors = Vectors(words, matrix, counts=range(20, 0, -1))
    unique = {word: list(dict.fromkeys(others)) for word, others in lexicon.items()}
    result = retrofit(vectors, path)
    assert result.matrix == pytest.approx(naive_retrofit(words, matrix, unique), abs=1e-2)
    assert result.counts.tolist() == vectors.counts.tolist()
    assert retrofit(vectors, lexicon).matrix.tolist() == result.matrix.tolist()
    unrelated = [word for word in words if word not in lexicon]
    assert result[unrelated] == pytest.approx(vectors.normalize()[unrelated])


def test_broken_lexicons(tmp_path, pair):
    (tmp_path / "binary").write_bytes(b"a b\n\xff \xfe\n")
    for path, message in (("binary", "utf-8"), ("missing", "missing")):
        with pytest.raises(FormatError, match=message):
            retrofit(pair[0], tmp_path / path)
    with pytest.raises(SettingError, match="no two words"):
        retrofit(pair[0], {"a": ["a", "x"], "y": ["b"]})


def test_a_byte_order_mark_is_no_part_of_a_word(tmp_path):
    (tmp_path / "lexicon.txt").write_text("a b\nc d\n", encoding="utf-8-sig")
    (tmp_path / "dictionary.txt").write_text("a\tb\n", encoding="utf-8-sig")
    assert read_lexicon(tmp_path / "lexicon.txt") == {"a": ["b"], "c": ["d"]}
    assert read_dictionary(tmp_path / "dictionary.txt") == [("a", "b")]
