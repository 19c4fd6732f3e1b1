"""Negatives near the texts of pairs."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError


def test_hard_negatives_are_near_and_not_right():
    """An apple is nearer to a cherry than to stones; both apples are right for the same text."""
    words = ["apple", "pear", "cherry", "stone", "rock"]
    vectors = em.Vectors(words, np.array([[1, 0, 0], [0.9, 0.1, 0], [0.7, 0.7, 0], [0, 0, 1], [0, 0.1, 1]]))
    pairs = em.corpora.TextPairs(
        [("apple", "apple pear"), ("apple", "pear"), ("stone", "rock"), ("cherry", "cherry apple")]
    )
    triplets = em.training.mine_negatives(vectors, pairs, max_ratio=1)
    assert [left for left, *_ in triplets] == ["apple", "apple", "stone", "cherry"]
    assert triplets[0][2] == triplets[1][2] == "cherry apple"
    assert triplets[3][2] == "pear"
    rows = [pair for batch in pairs for pair in zip(batch.left, batch.right, strict=True)]
    assert em.training.mine_negatives(vectors, rows, max_ratio=1) == triplets
    strict = em.training.mine_negatives(vectors, pairs, max_ratio=0.5)
    assert strict[0][2] == "rock"
    same = em.corpora.TextPairs([("apple", "apple apple"), ("rock", "apple"), ("stone", "cherry")])
    assert em.training.mine_negatives(vectors, same, max_ratio=1)[0] == ("apple", "apple apple", "cherry")
    with pytest.raises(CorpusError, match="at least two different"):
        em.training.mine_negatives(vectors, em.corpora.TextPairs([("apple", "pear"), ("rock", "pear")]))
