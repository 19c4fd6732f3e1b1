"""The plan of large clusters follows from the recorded costs, and its rows from counting."""

from itertools import count
from pathlib import Path

import numpy as np
from studies import cluster_plan
from studies.grid import collect, read_rows

import embeddings as em

RESULTS = Path(__file__).parents[2] / "eval" / "results" / "cluster"
NO_BURSTS = cluster_plan.Bursts([1], [1.0])


def test_tables_are_those_of_the_record():
    plan = cluster_plan.ClusterPlan("cluster-plan", {}).page(RESULTS / "plan")
    assert (RESULTS / "plan.md").read_text(encoding="utf-8") == plan
    values = collect(read_rows(RESULTS / "check.tsv"), "workers")
    assert [workers for (workers,) in values] == ["1", "2", "3", "4"]
    assert all(one["merges"] == one["calculated merges"] for (workers,), one in values.items() if workers > "1")


def test_rows_that_change_are_those_of_a_simulation(monkeypatch):
    monkeypatch.setattr(cluster_plan, "NEGATIVES", 0)
    frequencies = 1 / np.arange(1, 2001)
    curve = cluster_plan.Curve(frequencies / frequencies.sum(), np.ones(2000), NO_BURSTS)
    rng, words = np.random.default_rng(1), 3000
    keep = cluster_plan.kept_share(curve.frequencies)
    drawn = [rng.choice(2000, words, p=curve.frequencies) for _ in range(50)]
    changed = np.mean([len(np.unique(ids[rng.random(words) < keep[ids]])) for ids in drawn])
    inputs, outputs = cluster_plan.changed_per_interval(curve, words)
    assert abs(inputs.sum() / changed - 1) < 0.02
    assert np.allclose(inputs, outputs)


def test_bursts_are_measured():
    """A text in which each word occurs three times in a row, or never."""
    rng, frequencies = np.random.default_rng(2), 1 / np.arange(1, 20_001)
    ids = np.repeat(rng.choice(20_000, 40_000, p=frequencies / frequencies.sum()), 3)
    counts = np.bincount(ids, minlength=20_000)
    order = np.argsort(-counts)
    ranks = np.empty(20_000, int)
    ranks[order] = np.arange(20_000)
    vocabulary = em.corpora.Vocabulary([f"w{i}" for i in order], counts[order]).select(min_count=3)
    bursts = cluster_plan.measure_bursts(ranks[ids], vocabulary)
    assert bursts.words == [5_000, 20_000]
    assert all(2.2 < size < 3.2 for size in bursts.sizes)
    curve = cluster_plan.Curve(vocabulary.counts / vocabulary.tokens, np.ones(len(vocabulary)), bursts)
    inputs, _ = cluster_plan.changed_per_interval(curve, 5_000)
    keep = cluster_plan.kept_share(curve.frequencies)
    parts = [ranks[ids][first : first + 5_000] for first in range(0, 100_000, 5_000)]
    distinct = np.mean([len(np.unique(part[rng.random(5_000) < keep[part]])) for part in parts])
    assert abs(inputs.sum() / distinct - 1) < 0.03
    assert bursts.size(10**9) == bursts.sizes[-1]


def test_intervals_hold_all_words():
    job = cluster_plan.Job(4, 1, 1e9, 1000, 100, 10**8, 200_000)
    intervals = list(cluster_plan.intervals(job))
    split = list(cluster_plan.intervals(job._replace(epochs=3)))
    assert sum(count for _, count in split) == sum(count for _, count in intervals) + 2
    assert abs(sum(words * count for words, count in split) - 25_000_000) < 1e-6
    assert abs(sum(words * count for words, count in intervals) - 25_000_000) < 1e-6
    assert min(words for words, _ in intervals) == 5000
    assert max(words for words, _ in intervals) == 200_000


def test_more_machines_and_faster_networks_take_less_time():
    costs = cluster_plan.Costs(1e-6, 1e-10, 4e-10, 1e-10, 2e-10, 1e-10, 1e-3)
    content = {"curve": {"ranks": [1, 10, 100], "frequencies": [0.1, 0.01, 0.001]}, "bursts": NO_BURSTS._asdict()}
    curve = cluster_plan.extended_curve(content, 100_000)
    assert abs((curve.frequencies * curve.words).sum() - 1) < 1e-9
    assert curve.words.sum() == 100_000
    jobs = [cluster_plan.Job(m, 8, b, 100_000, 100, 10**10, 10**7) for m in (1, 2, 4) for b in (1e9, 1e10)]
    one, fast, *_, last, fastest = [cluster_plan.estimate(job, costs, curve) for job in jobs]
    assert one.merging == fast.merging  # one machine sends nothing
    assert fastest.seconds < last.seconds < one.seconds


def test_costs_of_rows_are_measured(monkeypatch):
    """With a clock whose time passes as it is read, each step runs twice."""
    clock = count(step=0.6)
    monkeypatch.setattr(cluster_plan, "SAMPLE_ROWS", 64)
    monkeypatch.setattr(cluster_plan.seconds_of, "__defaults__", (lambda: next(clock),))
    assert set(cluster_plan.measure_rows(8)) == {"scan", "copy", "merge", "apply"}
