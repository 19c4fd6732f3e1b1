"""Resuming a benchmark: completed runs, and results of another machine, corpus or version."""

import json

import pytest

from embeddings.corpora import Corpus
from embeddings.eval.benchmark.runner import Benchmark, BenchmarkError, ResumeError, completed_runs, is_completed
from embeddings.eval.benchmark.tools import PEERS, ModelConfig
from embeddings.eval.benchmark.workspace import write_rows

NOW = {"date": "2026-01-02", "cores": 2, "corpus": {"words": 5}, "tools": {"embeddings": "1", "gensim": "4"}}
ROW = {
    "trainer": "cbow",
    "learning_rate": 0.05,
    "min_learning_rate": None,
    "subsample": 1e-05,
    "shuffle": False,
    "threads": 2,
    "corpus_words": 5,
    "tool": "embeddings",
    "version": "1",
    "seed": 1,
}


def results(folder, machine, *found):
    (folder / "machine.json").write_text(json.dumps(machine))
    write_rows(list(found), folder / "results.csv")
    return folder


def test_completed_runs_are_kept(tmp_path):
    results(tmp_path, NOW, {**ROW, "error": ""}, {**ROW, "seed": 2, "error": "broke"})
    found, _ = completed_runs(tmp_path, dict(NOW))
    assert [row["seed"] for row in found] == [1]
    assert is_completed(ROW, found)
    for name, value in {
        "seed": 2,
        "learning_rate": 0.06,
        "shuffle": True,
        "subsample": 1e-4,
        "min_learning_rate": 0.1,
        "tool": "g",
    }.items():
        assert not is_completed({**ROW, name: value}, found), name
    assert not is_completed({**ROW, "further": 3}, found)


def test_an_empty_folder_has_no_runs(tmp_path):
    assert completed_runs(tmp_path, NOW) == ([], NOW["tools"])


def test_date_and_set_of_tools_may_differ(tmp_path):
    was = {**NOW, "date": "2025-12-31", "tools": {"gensim": "4", "fasttext": "2"}}
    _, versions = completed_runs(results(tmp_path, was, {**ROW, "error": ""}), NOW)
    assert versions == {"embeddings": "1", "gensim": "4", "fasttext": "2"}


@pytest.mark.parametrize(
    ("was", "message"),
    [
        ({"cores": 4}, "cores is 2, was 4"),
        ({"corpus": {"words": 6}}, 'corpus is {"words": 5}, was {"words": 6}'),
        ({"tools": {"gensim": "3"}}, 'gensim is "4", was "3"'),
        ({"tools": []}, "cannot resume"),
    ],
)
def test_results_of_another_benchmark_are_refused(tmp_path, was, message):
    results(tmp_path, NOW | was, {**ROW, "error": ""})
    with pytest.raises(ResumeError, match=message):
        completed_runs(tmp_path, dict(NOW))


@pytest.mark.parametrize("spoil", ["machine.json", "results.csv"])
def test_corrupt_files_are_refused(tmp_path, spoil):
    results(tmp_path, NOW, {**ROW, "error": ""})
    (tmp_path / spoil).write_bytes(b'"\xff\n\x00,')
    with pytest.raises(ResumeError, match="cannot resume"):
        completed_runs(tmp_path, dict(NOW))
    (tmp_path / spoil).write_text("a,b\n1,2\n")
    with pytest.raises(ResumeError, match="cannot resume"):
        completed_runs(tmp_path, dict(NOW))


def test_a_benchmark_without_runs_is_refused(tmp_path):
    config = ModelConfig("glove", {"min_count": 1}, 1)
    with Corpus([["a", "b"]]).encode() as encoded, pytest.raises(BenchmarkError, match="no tool supports"):
        Benchmark([config], [PEERS[0]], tmp_path / "results").run(encoded)
