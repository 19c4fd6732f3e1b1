"""Which phrases are learned from, which say when to stop, and which are kept for the evaluation."""

import numpy as np

TRAIN, DEV, TEST = 0, 1, 2
PARTS = ("train", "dev", "test")


def split(phrases: np.ndarray, held_out: float, seed: int) -> np.ndarray:
    """The part of each example, (examples,) int32: by the phrase, so that all examples of one are in one part.

    Arguments:
        phrases: (examples,) the row of each one's phrase.
        held_out: share of the phrases that are dev, and as many are test.
        seed: settles which.
    """
    tokens, place = np.unique(phrases, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(tokens))
    each = round(len(tokens) * held_out)
    parts = np.full(len(tokens), TRAIN, np.int32)
    parts[order[:each]] = DEV
    parts[order[each : 2 * each]] = TEST
    found: np.ndarray = parts[place]
    return found
