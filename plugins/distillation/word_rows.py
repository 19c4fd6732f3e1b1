"""Rows of words and of n-grams for distillation: the start of words in closed form, and n-grams from words.

Rows of words are X A: X are vectors of words times their SIF weights (Arora et al. 2017), and A is the linear map that
minimises the sum over texts of w |u A - y|^2 + l |A|^2. u is the direction of the sum of the rows of X of a text, y the
teacher's vector of the text in principal components and w its weight. l is `RIDGE` times the mean eigenvalue of the
Gram matrix of u.

Rows of character n-grams are learned so that their means reproduce the directions of given word vectors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.errors import CorpusError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.text_pooling import sum_texts
from embeddings.models.model import Model
from embeddings.models.subwords import SubwordVectors, Word, composer
from embeddings.plugins.text_pairs.pair_stream import PairTexts
from embeddings.support.imports import import_library

RIDGE = 1e-3
BLOCK = 8192  # texts at a time
MAX_TEXTS = 1 << 17  # from which components are computed
NO_WEIGHTS = np.empty(0, np.float32)


def principal_components(vectors: NDArray[np.float16], order: NDArray[np.int64], dim: int) -> NDArray[np.float32]:
    """The leading eigenvectors of the Gram matrix of vectors that are not centred, (dim of vectors, dim).

    The largest entry of each has a positive sign. Of very many vectors a regular sample is read.
    """
    sample, gram = order[:: -(-len(order) // MAX_TEXTS)], np.zeros((vectors.shape[1],) * 2)
    with import_library("threadpoolctl").threadpool_limits(1):  # sums of several threads differ from run to run
        for first in range(0, len(sample), BLOCK):
            block = vectors[sample[first : first + BLOCK]].astype(np.float32)
            gram += block.T @ block
        _, eigenvectors = np.linalg.eigh(gram)
    components = eigenvectors[:, ::-1][:, :dim]
    signs = np.sign(components[np.abs(components).argmax(axis=0), np.arange(dim)])
    return np.ascontiguousarray(components * signs, np.float32)


def project(vectors: NDArray[np.float16], components: NDArray[np.float32]) -> NDArray[np.float32]:
    """The principal components of vectors, (vectors, padded dim); norms stay the same."""
    output = np.zeros((len(vectors), padded(components.shape[1])), np.float32)
    with import_library("threadpoolctl").threadpool_limits(1):
        for first in range(0, len(vectors), BLOCK):
            block = vectors[first : first + BLOCK].astype(np.float32)
            part = block @ components
            norms = np.linalg.norm(part, axis=1, keepdims=True)
            part *= np.linalg.norm(block, axis=1, keepdims=True) / np.where(norms > 0, norms, 1)
            output[first : first + BLOCK, : components.shape[1]] = part
    return output


def text_sums(
    rows: NDArray[np.float32], texts: PairTexts, order: NDArray[np.int64], targets: NDArray[np.float32]
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield the sums of the rows of the known words of texts, (texts, dim), and their targets, a block at a time."""
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        lengths = np.minimum(texts.starts[block + 1] - texts.starts[block], texts.limit)
        starts = np.append(0, np.cumsum(lengths))
        ids = texts.ids[np.repeat(texts.starts[block] - starts[:-1], lengths) + np.arange(starts[-1])].astype(np.int64)
        known = np.append(0, np.cumsum(ids < texts.words))
        sums = np.zeros((len(block), rows.shape[1]), np.float32)
        sum_texts(rows, ids[ids < texts.words], known[starts], NO_WEIGHTS, sums)
        yield sums, targets[block]


def ridge_map(
    rows: NDArray[np.float32], texts: PairTexts, order: NDArray[np.int64], targets: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The linear map A of sums of rows to targets, (dim of rows, dim); targets are weights times unit vectors."""
    size = rows.shape[1]
    gram, products = np.zeros((size, size)), np.zeros((size, targets.shape[1]))
    with import_library("threadpoolctl").threadpool_limits(1):
        for sums, target in text_sums(rows, texts, order, targets):
            sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(np.float32).tiny)
            gram += sums.T @ (sums * np.linalg.norm(target, axis=1, keepdims=True))
            products += sums.T @ target
        if not gram.any():
            raise CorpusError("no text to train on has a word with a vector of the teacher")
        penalty = RIDGE * float(np.trace(gram)) / size
        return np.linalg.solve(gram + penalty * np.eye(size), products).astype(np.float32)


def mean_cosine(
    rows: NDArray[np.float32], texts: PairTexts, order: NDArray[np.int64], targets: NDArray[np.float32]
) -> float:
    """The mean cosine of the sums of rows of texts and their targets."""
    total = 0.0
    for sums, target in text_sums(rows, texts, order, targets):
        norms = np.linalg.norm(sums, axis=1) * np.linalg.norm(target, axis=1)
        total += float((np.einsum("ij,ij->i", sums, target) / np.where(norms > 0, norms, 1)).sum(dtype=np.float64))
    return total / len(order)


EPOCHS = 5
RATE = 0.5
NGRAMS = "character_ngrams"
WEIGHT = 1.25  # of unknown words: their norm, divided by that of rare words


@entry_point
def learn_ngram_rows(
    targets: np.ndarray, order: np.ndarray, offsets: np.ndarray, buckets: np.ndarray, ngrams: np.ndarray,
    error: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """For each word move its n-gram rows by rate (v - m): v is its target, m the mean of its n-gram rows (Kaczmarz)."""
    for word in order:
        begin, end = offsets[word], offsets[word + 1]
        if begin == end:
            continue
        share, target = error.dtype.type(1) / error.dtype.type(end - begin), targets[word]
        for d in range(error.shape[0]):
            error[d] = 0
        for at in range(begin, end):
            row = ngrams[buckets[at]]
            for d in range(error.shape[0]):
                error[d] += row[d]
        step = error.dtype.type(rate)
        for d in range(error.shape[0]):
            error[d] = step * (target[d] - share * error[d])
        for at in range(begin, end):
            row = ngrams[buckets[at]]
            for d in range(error.shape[0]):
                row[d] += error[d]


def fit_ngram_rows(
    vectors: NDArray[np.float32], offsets: NDArray[np.int64], buckets: NDArray[np.int32], rows: int, seed: int
) -> NDArray[np.float32]:
    """N-gram rows, (rows, dim), whose means have about the directions of the vectors of words; zeros are left out.

    All words have the same norm, the median norm of the rarer half: an unknown word weighs as much as a rare one.

    Arguments:
        vectors: (words, dim), most frequent first. offsets, buckets: as those of `embeddings.models.subwords.subwords`.
    """
    norms, dim = np.linalg.norm(vectors, axis=1), vectors.shape[1]
    given, norm = np.flatnonzero(norms), rare_norm(norms)
    targets = np.zeros((len(vectors), padded(dim)), np.float32)
    np.divide(vectors * norm, norms[:, None], out=targets[:, :dim], where=norms[:, None] > 0)
    ngrams, error = np.zeros((rows, targets.shape[1]), np.float32), np.zeros(targets.shape[1], np.float32)
    random = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        learn_ngram_rows(targets, random.permutation(given), offsets, buckets, ngrams, error, rate)
    return np.ascontiguousarray(ngrams[:, :dim])


def rare_norm(norms: NDArray[np.float32]) -> np.float32:
    """The median norm of the rarer half of the words that have vectors, most frequent first."""
    given = norms[norms > 0]
    return np.float32(np.median(given[len(given) // 2 :]))


@dataclass(frozen=True)
class DirectionComposer(SubwordVectors):
    """Composes word vectors of one norm from n-gram rows; the means of rows that are not fitted are too short."""

    norm: np.float32

    def __call__(self, words: Sequence[Word]) -> NDArray[np.float32]:
        """The vectors of words outside the vocabulary, (words, dim) float32; zeros for words without n-grams."""
        vectors = super().__call__(words)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors *= np.divide(self.norm, norms, out=np.zeros_like(norms), where=norms > 0)
        return vectors


def new_composer(model: Model) -> DirectionComposer:
    """The composer of a distilled model."""
    subwords, norms = composer(model, NGRAMS), np.linalg.norm(model.vectors.matrix, axis=1)
    return DirectionComposer(subwords.ngrams, subwords.min_n, subwords.max_n, np.float32(WEIGHT) * rare_norm(norms))
