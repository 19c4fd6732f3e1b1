"""Inputs that are made of pretrained vectors, which stay constant, and of numbers that are learned.

The input of a group of words is the mean or sum of the rows of these words. The row of a word is

    concatenated    its pretrained vector, followed by its trained row
    projected       P' x for its pretrained vector x and a matrix P that is learned, or its trained row if it has none
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import inline


class PretrainedInputs(NamedTuple):
    """The rows of words.

    trained: (vocabulary, padded trained dim) rows that are learned.
    pretrained: (vocabulary, pretrained dim) constants; zeros for words without a vector.
    projection: (pretrained dim, padded dim) the matrix P; without rows if vectors are concatenated.
    is_trained: (vocabulary,) whether the trained row of a word is part of its row.
    trained_dim: numbers in a trained row, without padding.
    mean: (pretrained dim,) scratch memory: the mean or sum of the pretrained vectors of a group.
    """

    trained: np.ndarray
    pretrained: np.ndarray
    projection: np.ndarray
    is_trained: np.ndarray
    trained_dim: int
    mean: np.ndarray


@inline
def read_group(
    rows: PretrainedInputs, words: np.ndarray, first: int, last: int, factor: float, hidden: np.ndarray, row: int
) -> None:
    """Set a hidden row to the sum of the rows of `words[first:last]` times a factor."""
    dim, start = rows.trained_dim, trained_start(rows)
    set_mean(rows, words, first, last, factor)
    for j in range(hidden.shape[1]):
        hidden[row, j] = 0
    for k in range(rows.mean.shape[0]):
        number = rows.mean[k]
        if start > 0:
            hidden[row, k] = number
        else:
            for j in range(dim):
                hidden[row, j] += number * rows.projection[k, j]
    for c in range(first, last):
        word = words[c]
        if rows.is_trained[word]:
            for j in range(dim):
                hidden[row, start + j] += factor * rows.trained[word, j]


@inline
def backprop_to_group(
    rows: PretrainedInputs, words: np.ndarray, first: int, last: int, factor: float, share: float,
    hidden: np.ndarray, row: int,
) -> None:  # fmt: skip
    """Add the gradient in a hidden row, times `share`, to the trained rows of `words[first:last]`, and let P learn.

    The gradient of P is exact: that of the group's input, of which `factor` is that of `read_group`.
    """
    dim, start = rows.trained_dim, trained_start(rows)
    if start == 0:
        set_mean(rows, words, first, last, factor)
        for k in range(rows.mean.shape[0]):
            number = rows.mean[k]
            for j in range(dim):
                rows.projection[k, j] += number * hidden[row, j]
    for c in range(first, last):
        word = words[c]
        if rows.is_trained[word]:
            for j in range(dim):
                rows.trained[word, j] += share * hidden[row, start + j]


@inline
def set_mean(rows: PretrainedInputs, words: np.ndarray, first: int, last: int, factor: float) -> None:
    """Set `mean` to the sum of the pretrained vectors of `words[first:last]` times a factor."""
    for k in range(rows.mean.shape[0]):
        rows.mean[k] = 0
    for c in range(first, last):
        word = words[c]
        for k in range(rows.mean.shape[0]):
            rows.mean[k] += factor * rows.pretrained[word, k]


@inline
def trained_start(rows: PretrainedInputs) -> int:
    """Where the trained row of a word begins in its row: 0 if vectors are projected."""
    return 0 if rows.projection.shape[0] > 0 else rows.mean.shape[0]
