"""Naive twins of the trainer of text vectors: losses by definition, in plain numpy and float64."""

import numpy as np


def text_vectors(texts, words):
    """The sum of the rows of each text, (texts, dim)."""
    return np.array([sum(words[word] for word in text) for text in texts])


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def in_batch_loss(units, texts, size, temperature, weights=None):
    """The weighted sum of the losses of pairs; candidates equal to a text of the pair are left out."""
    left, right = texts[:size], texts[size : 2 * size]
    weights = np.ones(size) if weights is None else weights
    total = 0.0
    for i in range(size):
        own = units[i] @ units[size + i] / temperature
        forward = backward = np.exp(own)
        for j in range(len(texts) - size):
            is_equal_left = j < size and left[j] == left[i]
            if j != i and not is_equal_left and texts[size + j] not in (left[i], right[i]):
                forward += np.exp(units[i] @ units[size + j] / temperature)
        for j in range(size):
            is_equal_right = right[j] == right[i]
            if j != i and not is_equal_right and left[j] not in (left[i], right[i]):
                backward += np.exp(units[j] @ units[size + i] / temperature)
        total += weights[i] * (0.5 * (np.log(forward) + np.log(backward)) - own)
    return total


def cosent_loss(units, ratings, temperature, weights):
    size = len(ratings)
    c = (units[:size] * units[size:]).sum(axis=1)
    pairs = [(i, j) for i in range(size) for j in range(size) if ratings[i] > ratings[j]]
    return size * np.log(1 + sum(weights[i] * weights[j] * np.exp((c[j] - c[i]) / temperature) for i, j in pairs))
