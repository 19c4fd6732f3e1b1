"""`embeddings train ... --autotune-...`."""

import json
import shlex
import signal
import subprocess
import sys
import time

import pytest
from commands import TEXT, expect, first_table, refused, run, table, write_labelled_lines

import embeddings as em

pytest.importorskip("optuna", reason="optuna comes with the extra tune")
SEARCH = ["--autotune-validation", "valid.txt", "--threads", 1]
FIXED = ["--dim", 6, "--max-n", 0]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_labelled_lines(tmp_path / "train.txt", 240, 1)
    write_labelled_lines(tmp_path / "valid.txt", 120, 2)
    return tmp_path


def tune(*options, code=0):
    return expect("train", "classifier", "train.txt", *SEARCH, *FIXED, *options, code=code)


def validation_score(model, metric="f1@1"):
    rows = table(expect("evaluate", model, "--labels", "valid.txt", "--sections").stdout)
    return {(row["measure"], row["section"]): row["value"] for row in rows if row["method"] == "-"}[metric]


def test_a_search_is_repeated_by_its_seed_and_its_command(folder):
    result = tune("--autotune-trials", 5, "-o", "m")
    rows = table(result.stdout)
    assert [row["trial"] for row in rows] == list("12345")
    assert not {"dim", "max_n", "min_n"} & set(rows[0])
    assert float(rows[0]["learning_rate"]) == em.TextClassification().learning_rate
    (best,) = [row for row in rows if row["state"] == "best"]
    assert "f1 on all texts of valid.txt" in result.stderr
    assert {path.name for path in folder.iterdir()} == {"train.txt", "valid.txt", "m"}
    assert float(best["score"]) == max(float(row["score"]) for row in rows)
    assert float(validation_score("m", ("f1@1", "all"))) == pytest.approx(float(best["score"]), abs=1e-4)
    again = table(tune("--autotune-trials", 5, "-o", "again").stdout)
    for first, second in zip(rows, again, strict=True):
        assert first | {"seconds": ""} == second | {"seconds": ""}
    command = shlex.split(result.stderr.splitlines()[-1])
    assert command[:4] == ["embeddings", "train", "classifier", "train.txt"]
    tensors = (folder / "m" / "tensors.safetensors").read_bytes()
    expect(*command[1:], "--force")
    assert (folder / "m" / "tensors.safetensors").read_bytes() == tensors
    assert em.load_model("m").settings["learning_rate"] == float(best["learning_rate"])
    assert "--threads 1" in shlex.join(command)


def test_metrics():
    for metric, measure, section in (("f1:b", "f1@1", "b"), ("macro-f1", "macro-f1@1", "all")):
        report = json.loads(
            tune("--autotune-trials", 2, "--autotune-metric", metric, "-o", "m", "--force", "--json").stdout
        )
        assert float(validation_score("m", (measure, section))) == pytest.approx(report["score"], abs=1e-4)
        assert len(report["trials"]) == 2
    report = json.loads(
        tune("--autotune-trials", 1, "--autotune-predictions", 2, "-o", "m", "--force", "--json").stdout
    )
    (row,) = [
        row
        for row in json.loads(expect("evaluate", "m", "--labels", "valid.txt", "-k", 2, "--json").stdout)
        if (row["measure"], row.get("section", 1), row.get("method", 1)) == ("f1@2", None, None)
    ]
    assert row["value"] == pytest.approx(report["score"])


def test_size(folder):
    options = ["--word-ngrams", 2, "--autotune-trials", 2, "--autotune-size", "12k"]
    report = json.loads(tune(*options, "-o", "m.ftz", "--json").stdout)
    assert 11_900 < (folder / "m.ftz").stat().st_size <= 12_000
    first = (folder / "m.ftz").read_bytes()
    train, quantize = report["command"].split(" && ")
    expect(*shlex.split(train)[1:])
    expect(*shlex.split(quantize)[1:], "--force")
    assert (folder / "m.ftz").read_bytes() == first
    assert all(trial["cutoff"] > 256 for trial in report["trials"])
    assert float(validation_score("m.ftz", ("f1@1", "all"))) == pytest.approx(report["score"], abs=1e-4)
    fasttext = pytest.importorskip("fasttext")
    assert fasttext.load_model("m.ftz").test("valid.txt")[1] == pytest.approx(report["score"], abs=0.02)
    search = ["--autotune-trials", 6, "--autotune-size", "20k", "--max-n", 0, "-o", "l.ftz", "--json", *SEARCH]
    trials = json.loads(expect("train", "classifier", "train.txt", *search).stdout)["trials"]
    states = [trial["state"].partition(":")[0] for trial in trials]
    assert states[0] == "failed"
    assert "best" in states, "a lower dim fits"
    options[-1] = "9k"
    assert "allow a larger file" in tune(*options, "-o", "n.ftz", code=1).stderr.splitlines()[-1]


def test_words(folder):
    (folder / "text.txt").write_text(TEXT)
    words = ["king", "queen", "dog", "cat", "bone", "land"]
    pairs = [f"{a}\t{b}\t{(i * j) % 7}" for i, a in enumerate(words) for j, b in enumerate(words) if a < b]
    (folder / "pairs.tsv").write_text("\n".join(pairs))
    options = ["--dim", 4, "--epochs", 1, "--min-count", 1, "--threads", 1, "--autotune-trials", 3]
    result = expect("train", "skipgram", "text.txt", *options, "--autotune-similarity", "pairs.tsv", "-o", "m")
    rows = first_table(result.stdout)
    assert "score on the dev half of similarity:pairs.tsv" in result.stderr
    assert "pairs (test)" in result.stdout
    assert set(rows[0]) == {"trial", "score", "state", "seconds", "window", "subsample", "learning_rate"}
    (best,) = [row for row in rows if row["state"] == "best"]
    assert em.load_model("m").settings["window"] == int(best["window"])


ERRORS = {
    "no set": (["--autotune-trials", 2], "--autotune-trials requires --autotune-validation"),
    "two limits": ([*SEARCH, "--autotune-trials", 2, "--autotune-seconds", 3], "cannot be combined"),
    "log": ([*SEARCH, "--log", "log"], "--log cannot be combined with --autotune-validation"),
    "metric": ([*SEARCH, "--autotune-metric", "f2"], "metric must be one of"),
    "metric without set": (["--autotune-metric", "f1"], "--autotune-metric requires"),
    "label": ([*SEARCH, "--autotune-metric", "f1:zz", "--autotune-seconds", 60], "'zz'"),
    "size": ([*SEARCH, "--autotune-size", "much"], "is not a size"),
    "size without ftz": ([*SEARCH, "--autotune-size", "2M"], "must end in .ftz"),
    "missing": (["--autotune-validation", "missing.txt"], "missing.txt"),
    "unlabelled": (["--autotune-validation", "plain.txt", "--autotune-trials", 3], "has no labels"),
    "similarity": (["--autotune-similarity", "wordsim353"], "autotune-similarity"),
    "seconds": ([*SEARCH, "--autotune-seconds", 0], "autotune-seconds"),
}


@pytest.mark.parametrize(("options", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(folder, options, message):
    (folder / "plain.txt").write_text("no label\n")
    result = run("train", "classifier", "train.txt", "-o", "m", "--quiet", *FIXED, *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    assert not list(folder.glob("m*"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_saves_the_best_and_is_resumed(folder):
    command = [sys.executable, "-m", "embeddings", "train", "classifier", "train.txt", *map(str, SEARCH), "--dim", "6"]
    command += ["--max-n", "0", "--autotune-trials", "100000", "-o", "m"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (line := process.stderr.readline()).startswith("trial 3"):
        assert line, "the search has ended"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    trials = len(table(out))
    assert trials >= 3
    assert em.load_model("m").name == "classifier"
    more = table(tune("--autotune-trials", trials + 1, "--resume", "--force", "-o", "m").stdout)
    assert len(more) == trials + 1
    for first, second in zip(table(out), more, strict=False):
        assert first | {"state": ""} == second | {"state": ""}
    assert not (folder / "m.search").exists()


def test_the_folder_of_another_search_is_not_replaced(folder):
    (folder / "m.search").mkdir()
    (folder / "m.search" / "study.json").write_text("{}")
    assert "m.search" in tune("--autotune-trials", 1, "-o", "m", code=1).stderr.splitlines()[-1]
    assert (folder / "m.search" / "study.json").exists()
    assert not (folder / "m").exists()


def test_time_is_a_limit(folder):
    start = time.monotonic()
    rows = table(tune("--autotune-seconds", 2, "-o", "m").stdout)
    assert rows
    assert time.monotonic() - start < 600


@pytest.mark.parametrize("name", ["m.bin", "m.ftz", "m.npy"])
def test_files_of_classifiers(folder, name):
    arguments = ["train", "classifier", "train.txt", "--dim", 4, "--epochs", 1, "-o", name]
    if name == "m.ftz":
        assert "quantize" in refused(*arguments, code=2)
        return
    expect(*arguments)
    if name == "m.bin":
        assert em.load_classifier(folder / name).labels[0].startswith("__label__")
    else:
        assert em.load(folder / name).dim == 4
