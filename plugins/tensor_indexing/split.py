"""The split of phrases into train, dev (early stopping) and test."""

import numpy as np

TRAIN, DEV, TEST = 0, 1, 2


def split(phrases: np.ndarray, held_out: float, seed: int) -> np.ndarray:
    """The part of each example, (examples,) int32, from the rows of their phrases, all of one phrase in the same part.

    `held_out` is the share of phrases that are dev; the same share is test.
    """
    tokens, position = np.unique(phrases, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(tokens))
    each = round(len(tokens) * held_out)
    parts = np.full(len(tokens), TRAIN, np.int32)
    parts[order[:each]] = DEV
    parts[order[each : 2 * each]] = TEST
    return np.asarray(parts[position])
