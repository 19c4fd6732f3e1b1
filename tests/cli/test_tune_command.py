"""`embeddings tune`."""

import json
import shlex
import signal
import subprocess
import sys

import pytest
from commands import TEXT, expect, first_table, run, write_labelled_lines

import embeddings as em

pytest.importorskip("optuna", reason="optuna comes with the extra tune")
FIXED = ["--dim", 6, "--max-n", 0, "--threads", 1]
LABELS = ["--labels", "valid.txt"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_labelled_lines(tmp_path / "train.txt", 240, 1)
    write_labelled_lines(tmp_path / "valid.txt", 200, 2)
    (tmp_path / "text.txt").write_text(TEXT)
    words = ["king", "queen", "dog", "cat", "bone", "land"]
    pairs = [f"{a}\t{b}\t{(i * j) % 7}" for i, a in enumerate(words) for j, b in enumerate(words) if a < b]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs))
    return tmp_path


def tune(*options, code=0):
    return expect("tune", "classifier", "train.txt", *LABELS, *FIXED, *options, code=code)


def score_of(model, half, metric):
    rows = json.loads(expect("evaluate", model, "--labels", "valid.txt", "--half", half, "--json").stdout)
    keys = ((row["measure"], row.get("section"), row.get("method"), row["value"]) for row in rows if "value" in row)
    return next(value for measure, section, method, value in keys if (measure, section, method) == (metric, None, None))


def test_classifiers_are_chosen_by_one_half_and_judged_by_the_other(folder):
    report = json.loads(tune("--trials", 4, "--metric", "f1", "--no-halving", "-o", "s", "--json").stdout)
    assert report["metric"] == "f1 on the dev half of valid.txt"
    assert not {"dim", "max_n", "min_n"} & set(report["trials"][0])
    assert report["trials"][0]["learning_rate"] == em.TextClassification().learning_rate
    assert report["score"] == max(row["score"] for row in report["trials"])
    assert score_of("s/best", "dev", "f1@1") == pytest.approx(report["score"])
    measures = {(row["measure"], row["method"]) for row in report["test"]}
    assert {("f1@1", None), ("macro-f1@1", None), ("f1@1", "the most frequent labels")} <= measures
    (value,) = [
        row["value"]
        for row in report["test"]
        if (row["measure"], row["method"], row["vectors"]) == ("f1@1", None, f"trial {report['trial']}")
    ]
    assert score_of("s/best", "test", "f1@1") == value
    assert all(row["total"] == report["test"][0]["total"] < 200 for row in report["comparisons"])
    command = shlex.split(report["command"])
    assert command[:4] == ["embeddings", "train", "classifier", "train.txt"]
    expect(*command[1:])
    assert (folder / "tuned" / "tensors.safetensors").read_bytes() == (
        folder / "s" / "best" / "tensors.safetensors"
    ).read_bytes()
    assert report["command"] in (folder / "s" / "report.md").read_text()
    assert len((folder / "s" / "trials.tsv").read_text().splitlines()) == 5


def test_all_texts_score_the_trials():
    options = ["--metric", "f1:b", "--half", "all", "-k", 2]
    report = json.loads(tune("--trials", 2, *options, "-o", "s", "--json").stdout)
    assert report["metric"].endswith("on all texts of valid.txt")
    assert len(report["trials"]) == 2
    assert not report["test"]
    rows = json.loads(expect("evaluate", "s/best", "--labels", "valid.txt", "-k", 2, "--sections", "--json").stdout)
    keys = [(row["measure"], row.get("section"), row.get("method")) for row in rows]
    assert rows[keys.index(("f1@2", "b", None))]["value"] == pytest.approx(report["score"])


@pytest.mark.slow
def test_size(folder):
    options = ["--word-ngrams", 2, "--trials", 2, "--metric", "f1", "--size", "12k"]
    report = json.loads(tune(*options, "-o", "s", "--json").stdout)
    assert 11_900 < (folder / "s" / "best.ftz").stat().st_size <= 12_000
    train, quantize = report["command"].split(" && ")
    expect(*shlex.split(train)[1:])
    expect(*shlex.split(quantize)[1:])
    assert (folder / "s" / "best.ftz").read_bytes() == (folder / "tuned.ftz").read_bytes()
    fasttext = pytest.importorskip("fasttext")
    precision = fasttext.load_model("tuned.ftz").test("valid.txt")[1]
    assert precision == pytest.approx(score_of("tuned.ftz", "all", "precision@1"), abs=0.01)
    options[-1] = "9k"
    assert "allow a larger file" in tune(*options, "-o", "t", code=1).stderr.splitlines()[-1]


def test_words(folder):
    options = ["--dim", 4, "--epochs", 3, "--min-count", 1, "--threads", 1, "--vary", "window", "-o", "s"]
    tuning = ["tune", "skipgram", "text.txt", *options, "--metric", "similarity:pairs.tsv"]
    result = expect(*tuning, "--trials", 3)
    rows = first_table(result.stdout)
    assert set(rows[0]) == {"trial", "score", "state", "seconds", "window"}
    (best,) = [row for row in rows if row["state"] == "best"]
    assert em.load_model("s/best").settings["window"] == int(best["window"])
    assert "pairs (test)" in result.stdout
    assert "exists" in (message := run(*tuning, "--trials", 3).stderr)
    assert "read" not in message  # the corpus was not
    more = first_table(expect(*tuning, "--trials", 5, "--resume").stdout)
    assert [row["trial"] for row in more] == list("12345")
    assert json.loads(expect("info", "s", "--json").stdout).items() >= {"trials": 5, "trainer": "skipgram"}.items()
    for first, second in zip(rows, more, strict=False):
        assert {**first, "state": "", "seconds": ""} == {**second, "state": "", "seconds": ""}


WORDS = ["tune", "skipgram", "text.txt", "-o", "s", "--min-count", 1, "--metric", "similarity:pairs.tsv", "--trials", 1]
CLASSIFIER = ["tune", "classifier", "train.txt", "-o", "s", *FIXED]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_keeps_the_best_and_is_resumed(folder):
    command = [sys.executable, "-m", "embeddings", "tune", "classifier", "train.txt", *LABELS, *map(str, FIXED)]
    command += ["--metric", "f1", "--trials", "100000", "-o", "s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (line := process.stderr.readline()).startswith("trial 3"):
        assert line, "the search has ended"
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    trials = len(first_table(out))
    assert trials >= 3
    assert "nothing was scored on the test half" in errors
    assert em.load_model("s/best").name == "classifier"
    result = tune("--metric", "f1", "--trials", trials, "--resume", "-o", "s")
    assert "(test)" in result.stdout
