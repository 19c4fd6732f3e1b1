"""The start of distillation in closed form: principal components, sums of word vectors, and a ridge regression.

Rows of words are X A: X are vectors of words times their SIF weights (Arora et al. 2017), and A is the linear map that
minimises the sum over texts of w |u A - y|^2 + l |A|^2. u is the direction of the sum of the rows of X of a text, y the
teacher's vector of the text in principal components and w its weight. l is `RIDGE` times the mean eigenvalue of the
Gram matrix of u.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.text_pooling import sum_texts
from embeddings.plugins.text_pairs.text_batch import PairTexts
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
