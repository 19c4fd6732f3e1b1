"""Vectors of words of three topics, and a similarity set."""

import numpy as np
import pytest
from parabola import NAMES
from text_sets import WORDS

import embeddings as em


@pytest.fixture(scope="module")
def vectors():
    """Words of the same third are alike."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((3, 8)).repeat(20, axis=0)
    return em.Vectors(WORDS, centres + rng.standard_normal((60, 8)), counts=range(120, 60, -1))


@pytest.fixture
def pairs(tmp_path):
    lines = [f"{a} {b} {(i * j) % 10}" for i, a in enumerate(NAMES) for j, b in enumerate(NAMES) if a < b]
    (tmp_path / "pairs.txt").write_text("\n".join(lines))
    return f"similarity:{tmp_path / 'pairs.txt'}"


@pytest.fixture(scope="module")
def random():
    """Vectors without neighbours."""
    rng = np.random.default_rng(2)
    return em.Vectors([f"w{i}" for i in range(300)], rng.standard_normal((300, 10)).astype(np.float32))
