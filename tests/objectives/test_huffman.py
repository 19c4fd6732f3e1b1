"""Huffman trees against a naive search for the two least nodes."""

import naive_objectives
import numpy as np
import pytest

from embeddings.objectives.huffman import huffman_tree, paths_from_root

COUNTS = [
    [7],
    [5, 5],
    [9, 4, 1],
    [1] * 8,
    [5, 4, 3, 2, 1],
    [13, 8, 5, 3, 2, 1, 1],
    *[sorted(np.random.default_rng(seed).zipf(1.4, 40).clip(max=999).tolist(), reverse=True) for seed in range(5)],
]


def codes_of(counts):
    """For each word its inner nodes and codes from the root on, as a set, read from the paths of the kernel."""
    paths, starts, lefts = paths_from_root(huffman_tree(np.array(counts)))
    codes = []
    for word in range(len(counts)):
        path = paths[starts[word] : starts[word + 1]].tolist()
        left, right = path[: lefts[word]], path[lefts[word] :]
        assert left == sorted(left)
        assert right == sorted(right)  # both from the root on
        codes.append(sorted([*((node, 0) for node in left), *((node, 1) for node in right)]))
    return codes


@pytest.mark.parametrize("counts", COUNTS, ids=len)
def test_codes_equal_the_naive_ones(counts):
    assert codes_of(counts) == naive_objectives.huffman_codes(counts)


def test_the_first_rows_are_used_most():
    counts = np.array(COUNTS[-1])
    paths, starts, _ = paths_from_root(huffman_tree(counts))
    uses = np.bincount(paths, weights=np.repeat(counts, np.diff(starts)))
    assert (np.diff(uses) <= 0).all()
    assert uses[0] == counts.sum()
