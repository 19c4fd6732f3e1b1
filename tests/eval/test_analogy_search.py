"""The search for the answers of analogies in blocks."""

import numpy as np
import pytest
from text_sets import write_questions as write

from embeddings.eval import evaluate
from embeddings.eval.tasks.analogy_search import (
    CHUNK,
    GROUPS,
    Queries,
    exact_scores,
    new_block,
    new_candidates,
    resolve_ties,
    update,
)


def test_block_size_does_not_change_the_result(tmp_path, random, monkeypatch):
    rng = np.random.default_rng(4)
    path = write(tmp_path / "q", [[f"w{i}" for i in row] for row in rng.integers(0, 300, (200, 4))])
    both = ("3cosadd", "3cosmul")
    whole = evaluate(random, analogy=path, method=both, restrict=(None, 50))
    monkeypatch.setattr("embeddings.eval.tasks.analogy_search.CACHE_BYTES", 0)
    assert evaluate(random, analogy=path, method=both, restrict=(None, 50)) == whole


def single_block(scores):
    """A block in which one question has these scores, by 3CosAdd."""
    return new_block(np.zeros((1, len(scores))), np.array([scores], np.float64), 0)


def test_near_ties_are_resolved_in_float64():
    units = np.array([[0.8, 0.6], [1, 0], [1, 0], [0.6, 0.8], [0.9, 0.1], [0.1, 0.9]], np.float32)
    question = np.array([0, 0, 1])  # b - a + c is row 1, and row 2 is equal
    asked = Queries(np.zeros((1, 2), np.int64), np.array([0, 1]), np.array([0]))
    candidates = new_candidates(1)

    def update_with(scores, start):
        update(0, single_block(scores)._replace(start=start), asked, units, candidates, np.empty(CHUNK))
        return candidates.rows[0, : candidates.counts[0]].tolist()

    assert update_with([0.9], 0) == []  # excluded
    assert update_with([0.5 + 1e-9], 1) == [1]
    assert update_with([0.5 + 2e-9, 0.5 - 1e-9], 2) == [1, 3]  # row 2 equals row 1, and loses
    assert resolve_ties(units, question[None], candidates, "3cosadd", asked, 6).tolist() == [1]
    assert update_with([0.4], 4) == [1, 3]
    assert update_with([0.6, 0.6], 4) == [4, 5]
    assert update_with([0.6 + 1e-7 - 1e-9], 3) == [4, 5, 3]
    assert not candidates.overflowed.any()
    assert exact_scores(units, question, np.array([3, 2]), "3cosadd").argmax() == 1


@pytest.mark.parametrize("method", range(2))
def test_bounds_drop_no_candidate(method):
    """The best of many chunks, of which some have no bounds, is the best of all scores."""
    rng = np.random.default_rng(5)
    for size in (GROUPS, CHUNK, 3 * CHUNK + 7):
        pairs, third = rng.uniform(0, 1, (2, 9, size)) ** rng.choice([1, 4])
        pairs -= 1 - method  # tables of 3CosMul are positive
        rows = rng.integers(0, 9, (40, 2))
        asked = Queries(rows, np.zeros(41, np.int64), np.zeros(0, np.int64))
        candidates, scores = new_candidates(40), np.empty(CHUNK)
        units = rng.normal(size=(size, 2)).astype(np.float32)
        update(method, new_block(pairs, third, 0), asked, units, candidates, scores)
        for q, (pair, c) in enumerate(rows):
            expected = (pairs[pair] + third[c], pairs[pair] * third[c])[method]
            assert candidates.best[q] == pytest.approx(expected.max(), abs=1e-12)
            near = np.flatnonzero(expected >= expected.max() - 9e-8)
            assert candidates.overflowed[q] or set(near) <= set(candidates.rows[q, : candidates.counts[q]])
