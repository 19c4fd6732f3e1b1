"""Two sets of vectors as one."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import SettingError
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


def test_invalid_merges(pair):
    with pytest.raises(SettingError, match=r"how.*first.*mean.*concat.*'sum'"):
        em.merge(*pair, how="sum")
    with pytest.raises(SettingError, match=r"2 and 3.*'concat'"):
        em.merge(pair[0], Vectors(["a"], np.ones((1, 3))))
    with pytest.raises(SettingError, match="shared words"):
        em.merge(pair[0], Vectors(["x"], np.ones((1, 3))), how="concat")
