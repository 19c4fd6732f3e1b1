"""Precision of translations against brute force, and wrong arguments."""

import numpy as np
import pytest

from embeddings.eval import evaluate
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def languages():
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((60, 8))
    noisy = matrix + 0.7 * rng.standard_normal((60, 8))
    return Vectors([f"a{n}" for n in range(60)], noisy), Vectors([f"B{n}" for n in range(60)], matrix)


@pytest.fixture
def dictionary(tmp_path):
    path = tmp_path / "test.txt"
    lines = [f"a{n}\tb{n}\n" for n in range(40)] + ["a0\tb50\n", "unknown\tb1\n", "a41\tunknown\n"]
    path.write_text("".join(lines))
    return path


def brute_force(source, target, golds):
    """The ranks of the best translation of each word by cosine and by CSLS with all means of ten nearest."""
    cosines = source.unit_rows.astype(float) @ target.unit_rows.T.astype(float)
    of_target = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    scores = {"cosine": cosines, "csls": 2 * cosines - of_target}
    return {
        (method, depth): np.mean([bool(set(np.argsort(-table[row])[:depth]) & gold) for row, gold in golds.items()])
        for method, table in scores.items()
        for depth in (1, 5)
    }


def test_precision_equals_brute_force(languages, dictionary):
    source, target = languages
    results = evaluate(source, translation=dictionary, target=target)
    expected = brute_force(source, target, {n: {n, 50} if n == 0 else {n} for n in range(40)})
    values = {(one.method, int(one.measure[-1])): one.value for one in results}
    assert values == pytest.approx(expected)
    assert 0 < values["cosine", 1] < values["csls", 5] <= 1
    assert {(one.covered, one.total) for one in results} == {(40, 42)}
