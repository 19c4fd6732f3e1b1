"""Naive twin of distillation: the start in closed form and AdaGrad on the rows, in plain numpy and float64."""

import numpy as np


def principal_components(vectors, dim):
    """The leading eigenvectors of the Gram matrix; the largest entry of each is positive."""
    vectors = np.asarray(vectors, np.float64)
    _, _, rows = np.linalg.svd(vectors, full_matrices=False)
    components = rows[:dim].T
    return components * np.sign(components[np.abs(components).argmax(axis=0), np.arange(dim)])


def targets(vectors, components):
    """The principal components of vectors, with the norms that the vectors have."""
    parts = vectors @ components
    return parts * (np.linalg.norm(vectors, axis=1) / np.linalg.norm(parts, axis=1))[:, None]


def initial_rows(word_vectors, shares, texts, aims, weights):
    """Rows X A: X are vectors times a / (a + share), and A is the map that minimises sum w |u A - y|^2 + l |A|^2.

    u is the sum of the rows of a text, divided by its norm.
    """
    rows = word_vectors * (1e-3 / (1e-3 + shares))[:, None]
    sums = np.array([rows[list(text)].sum(axis=0) for text in texts])
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    gram = sum(w * np.outer(u, u) for w, u in zip(weights, sums, strict=True))
    products = sum(w * np.outer(u, y) for w, u, y in zip(weights, sums, aims, strict=True))
    size = len(gram)
    return rows @ np.linalg.solve(gram + 1e-3 * np.trace(gram) / size * np.eye(size), products)


def loss(rows, texts, aims, weights):
    """The mean over texts of w (1 - cosine)."""
    total = 0.0
    for text, y, w in zip(texts, aims, weights, strict=True):
        u = rows[list(text)].sum(axis=0)
        total += w * (1 - u @ y / np.linalg.norm(u) / np.linalg.norm(y))
    return total / len(texts)


def adagrad_step(rows, squares, texts, aims, weights, rate):
    """One step of AdaGrad on the rows of the words of a batch, in place."""
    gradients = np.zeros_like(rows)
    for text, y, w in zip(texts, aims, weights, strict=True):
        u = rows[list(text)].sum(axis=0)
        unit, aim = u / np.linalg.norm(u), y / np.linalg.norm(y)
        gradient = -w * (aim - (unit @ aim) * unit) / np.linalg.norm(u) / len(texts)
        for word in text:
            gradients[word] += gradient
    squares += gradients**2
    rows -= rate * gradients / (np.sqrt(squares) + 1e-10)
