"""Random walks: transition probabilities, communities, and bad edges."""

from collections import Counter

import numpy as np
import pytest

from embeddings.corpora import RandomWalks
from embeddings.errors import CorpusError

EDGES = [("a", "b", 2), ("a", "c", 1), ("b", "c", 3), ("b", "d", 1), ("d", "e", 4), ("d", "d", 0.5)]


def weights_of(edges, *, directed):
    """The weight of each edge, by tail and head."""
    weights = {}
    for tail, head, weight in edges:
        for pair in {(tail, head), (tail, head) if directed else (head, tail)}:
            weights[pair] = weights.get(pair, 0) + weight
    return weights


def probabilities(weights, before, node, p, q):
    """The probability of each next node, by the formula of the paper."""
    biased = {
        head: weight * (1 / p if head == before else 1 if before is None or (before, head) in weights else 1 / q)
        for (tail, head), weight in weights.items()
        if tail == node
    }
    return {head: value / sum(biased.values()) for head, value in biased.items()}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (4, 0.25), (0.2, 3)])
def test_steps_have_the_probabilities_of_the_paper(p, q, directed):
    edges = [*EDGES, ("c", "a", 1), ("e", "b", 2)] if directed else EDGES
    weights = weights_of(edges, directed=directed)
    steps = Counter()
    for walk in RandomWalks(edges, walks=4000, length=8, p=p, q=q, directed=directed):
        steps.update(zip([None, *walk], walk, walk[1:], strict=False))
    places = {step[:2] for step in steps}
    assert len(places) >= 10
    for before, node in places:
        expected = probabilities(weights, before, node, p, q)
        count = sum(n for (t, v, _), n in steps.items() if (t, v) == (before, node))
        for head, probability in expected.items():
            error = 5 * np.sqrt(probability * (1 - probability) / count)
            assert steps[before, node, head] / count == pytest.approx(probability, abs=error + 1e-12)


def test_walks_begin_at_each_node_and_are_repeatable(tmp_path):
    (tmp_path / "edges.tsv").write_text("".join(f"{a}\t{b}\t{w}\n" for a, b, w in EDGES))
    walks = list(RandomWalks(tmp_path / "edges.tsv", walks=3, length=5))
    assert walks == list(RandomWalks(EDGES, walks=3, length=5)) != list(RandomWalks(EDGES, walks=3, length=5, seed=2))
    assert Counter(walk[0] for walk in walks) == dict.fromkeys("abcde", 3)
    assert {len(walk) for walk in walks} == {5}


def test_walks_are_the_same_in_blocks(monkeypatch):
    whole = list(RandomWalks(EDGES, walks=3))
    monkeypatch.setattr("embeddings.corpora.random_walks.WALKS_AT_ONCE", 2)
    assert list(RandomWalks(EDGES, walks=3)) == whole


def test_nodes_without_edges_walk_nowhere():
    walks = list(RandomWalks([("a", "b", 1), ("c", "a", 0), ("d", "d", 1)], walks=2, length=4))
    assert [walk for walk in walks if walk[0] == "c"] == [["c"]] * 2
    assert [walk for walk in walks if walk[0] == "d"] == [["d"] * 4] * 2
    assert list(RandomWalks([("a", "b")], walks=1, directed=True, seed=3)) in ([["a", "b"], ["b"]], [["b"], ["a", "b"]])


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "heavy"])
def test_bad_weights_are_refused(weight):
    with pytest.raises(CorpusError, match="item 2"):
        list(RandomWalks([("a", "b", 1), ("b", "c", weight)]))


def test_a_graph_without_edges_is_refused(tmp_path):
    (tmp_path / "empty.tsv").write_text("")
    for edges in (tmp_path / "empty.tsv", [("a", "b", 0)], [("a", "")]):
        with pytest.raises(CorpusError, match="no edges"):
            list(RandomWalks(edges))
