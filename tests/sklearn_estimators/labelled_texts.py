"""Texts whose words tell their class."""

import numpy as np


def labelled(classes=("a", "b", "c"), count=90):
    """Texts and their classes in turn."""
    rng = np.random.default_rng(3)
    numbers = np.arange(count) % len(classes)
    texts = [" ".join(f"{'abcdef'[n]}{rng.integers(6)} x{rng.integers(6)}" for _ in range(5)) for n in numbers]
    return texts, [classes[n] for n in numbers]
