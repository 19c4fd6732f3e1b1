"""`embeddings benchmark` in real processes: its files, its numbers, failures and interrupts."""

import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest
from optional_libraries import import_gensim, needs_gensim
from platforms import needs_wait4

import embeddings as em
from embeddings.eval.benchmark import tools
from embeddings.eval.tasks.word_similarity import read_word_pairs

PEERS = [peer for peer in tools.PEERS if peer.name == "gensim"]  # fastText stops with NaN on texts as small as here
SMALL = ["--trainer", "cbow", "--dim", "8", "--epochs", "1", "--seeds", "1", "--threads", "2", "--min-count", "2"]
SMALL += ["--peer", "gensim"]
pytestmark = needs_wait4


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A few thousand words, some of them those of the test sets."""
    pairs = read_word_pairs("wordsim353").pairs[:60]
    words = [word.lower() for pair in pairs for word in pair]
    draw = random.Random(1)
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text("\n".join(" ".join(draw.choices(words, k=draw.choice([5, 40, 1500]))) for _ in range(12)))
    return path


def benchmark(*args, path=()):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "embeddings", "benchmark", *map(str, args)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def results(corpus):
    """The process of a real benchmark and the folder it wrote."""
    import_gensim()
    folder = corpus.parent / "results"
    done = benchmark(corpus, "-o", folder, *SMALL, "--keep")
    assert done.returncode == 0, done.stderr
    return done, folder


def as_text(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_every_tool_has_a_row(results, corpus):
    _, folder = results
    found = as_text(folder / "results.csv")
    assert [line["tool"] for line in found] == ["embeddings", *(peer.name for peer in PEERS)]
    for line in found:
        assert line["error"] == ""
        assert (line["trainer"], line["dim"], line["epochs"], line["threads"]) == ("cbow", "8", "1", "2")
        assert (line["subsample"], line["min_count"], line["seed"]) == ("0.001", "2", "1")
        assert int(line["corpus_words"]) == len(corpus.read_text().split())
        assert float(line["whole_cpu"]) > 0
        assert int(line["peak_memory"]) > 10_000_000
        assert -1 <= float(line["wordsim353"]) <= 1
    assert len({(line["wordsim353 covered"], line["wordsim353 total"]) for line in found}) == 1


@pytest.mark.slow
def test_ratios_are_those_of_the_rows(results):
    done, folder = results
    assert done.stdout == (folder / "results.md").read_text()
    found = as_text(folder / "results.csv")
    heads, _, *lines = ([cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines() if "|" in line)
    assert len(lines) == 1 + len(PEERS)
    for line in lines:
        cells = dict(zip(heads, line, strict=True))
        for head, column in (("CPU s, training", "training_cpu"), ("CPU s, whole", "whole_cpu")):
            theirs, ours = (
                median(float(one[column]) for one in found if one["tool"] == name)
                for name in (cells["tool"], "embeddings")
            )
            seconds, ratio = re.fullmatch(r"([\d.]+) \((.+)x\)", cells[head]).groups()
            assert float(seconds) == pytest.approx(theirs, abs=0.051)
            assert ratio == f"{theirs / ours:.2g}"


@pytest.mark.slow
def test_output_files(results):
    _, folder = results
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["results.csv", "results.md", "results.png", "machine.json", "vectors"]
    )
    kept = [f"cbow-dim8-negatives5-threads2-{tool}-1.bin" for tool in ("embeddings", "gensim")]
    assert sorted(path.name for path in (folder / "vectors").iterdir()) == kept
    assert em.load(folder / "vectors" / kept[0]).matrix.shape[1] == 8
    assert (folder / "results.png").read_bytes().startswith(b"\x89PNG")
    machine = json.loads((folder / "machine.json").read_text())
    assert machine["cores"] >= 1
    assert machine["corpus"]["sources"] == ["text.txt"]
    assert set(machine["tools"]) == {"embeddings", *(peer.name for peer in PEERS)}


@pytest.mark.slow
def test_results_are_not_overwritten(results, corpus):
    _, folder = results
    before = (folder / "results.csv").read_bytes()
    done = benchmark(corpus, "-o", folder, *SMALL)
    assert done.returncode == 1
    assert done.stderr == f"Error: {folder / 'results.csv'} exists; choose another path, or set --force to replace it\n"
    assert (folder / "results.csv").read_bytes() == before


@pytest.mark.slow
def test_results_are_resumed(results, corpus, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(results[1], folder)
    first, second = as_text(folder / "results.csv")
    renamed = (folder / "results.csv").read_text().replace(",gensim,", ",gensim-of-another-name,")
    (folder / "results.csv").write_text(renamed)
    done = benchmark(corpus, "-o", folder, *SMALL, "--resume")
    assert done.returncode == 0, done.stderr
    assert "[1/1]" in done.stderr  # ours is not run again
    found = as_text(folder / "results.csv")
    assert [line["tool"] for line in found] == ["embeddings", "gensim-of-another-name", "gensim"]
    assert found[0] == first
    same = ("trainer", "learning_rate", "subsample", "seed", "version", "corpus_words", "wordsim353 covered", "error")
    assert [found[2][name] for name in same] == [second[name] for name in same]
    assert (folder / "results.png").exists()


@needs_gensim
@pytest.mark.slow
def test_document_models_are_scored_by_labels(tmp_path):
    draw, files = random.Random(1), []
    for name, count in (("train", 60), ("test", 40), ("more", 20)):
        path = tmp_path / f"{name}.csv"
        lines = [f"{label},{' '.join(draw.choices([f'{label}{i}' for i in range(9)], k=8))}" for label in "ab" * count]
        path.write_text("label,text\n" + "\n".join(lines) + "\na,\n")
        files.append(path)
    columns = ["--text-column", "text", "--label-column", "label"]
    shapes = ["--trainer", "paragraph-dbow", "--trainer", "paragraph-dm:combine=concat", "--dim", "8", "--epochs", "20"]
    shapes += ["--seeds", "1", "--threads", "1", "--min-count", "2", "--subsample", "0", "--peer", "gensim"]
    done = benchmark(*files, "-o", tmp_path / "r", *shapes, *columns, "--keep")
    assert done.returncode == 0, done.stderr
    found = as_text(tmp_path / "r" / "results.csv")
    assert [(line["trainer"], line["tool"]) for line in found] == [
        (name, tool) for name in ("paragraph-dbow", "paragraph-dm") for tool in ("embeddings", "gensim")
    ]
    for line in found:
        assert line["error"] == ""
        seen = "80" if line["tool"] == "embeddings" else "81"  # gensim keeps a vector of an empty text as it was drawn
        assert (line["error of test covered"], line["error of test total"]) == (seen, "81")
    assert float(found[0]["error of test"]) < 0.1
    assert "error of test (covered of 81)" in done.stdout
    kept = tmp_path / "r" / "vectors" / "paragraph-dbow-dim8-negatives5-threads1"
    assert len(em.load(f"{kept}-gensim-1")) == len(em.load_model(f"{kept}-embeddings-1").documents) == 243
    refused = benchmark(files[0], "-o", tmp_path / "s", *shapes, *columns)
    assert (refused.returncode, "--label-column" in refused.stderr) == (2, True)
    refused = benchmark(*files, "-o", tmp_path / "s", "--trainer", "cbow", *columns)
    assert (refused.returncode, "--label-column" in refused.stderr) == (2, True)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--trainer", "no-such"], "'no-such'"),
        (["--dim", "0"], "dim"),
        (["--peer", "word2vec"], "peer must be one of gensim, fasttext, a file that ends in .toml, or none, got"),
        (["--trainer", "glove", "--negatives", "9"], "--negatives is not a setting of glove"),
        (["--peer", "none", "--peer", "gensim"], "--peer none cannot be combined with other peers"),
    ],
)
def test_invalid_options_are_refused_in_one_line(corpus, tmp_path, wrong, said):
    done = benchmark(corpus, "-o", tmp_path / "results", *wrong)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_a_failing_peer_is_reported_and_others_run(corpus, tmp_path):
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "fasttext.py").write_text("raise RuntimeError('broken on purpose')\n")
    done = benchmark(
        corpus,
        "-o",
        tmp_path / "results",
        *SMALL[:-2],
        "--peer",
        "fasttext",
        "--json",
        "--quiet",
        path=[tmp_path / "fake"],
    )
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]  # after a note on test sets that are left out
    assert re.search("fasttext.*cbow.*RuntimeError: broken on purpose$", error)
    ours, broken = json.loads(done.stdout)
    assert (ours["tool"], ours["runs"], ours["error"]) == ("embeddings", 1, "")
    assert (broken["runs"], broken["failed"], broken["error"]) == (0, 1, "RuntimeError: broken on purpose")
    assert "1 failed: RuntimeError: broken on purpose" in (tmp_path / "results" / "results.md").read_text()
    assert as_text(tmp_path / "results" / "results.csv")[1]["error"] == "RuntimeError: broken on purpose"


@needs_gensim
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")
def test_ctrl_c_keeps_finished_runs_and_leaves_no_process(corpus, tmp_path):
    folder = tmp_path / "results"
    command = [sys.executable, "-m", "embeddings", "benchmark", corpus, "-o", folder, *SMALL, "--seeds", "500"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            until = time.monotonic() + 600  # kernels may have to be compiled first, beside other tests
            while not (folder / "results.md").exists() and running.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            _, errors = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 130
    found = as_text(folder / "results.csv")
    assert found
    message = errors.splitlines()[-1]
    assert all(fact in message for fact in (f"after {len(found)} runs", str(folder / "results.csv"), "--resume"))
    assert sorted(path.name for path in folder.iterdir()) == ["machine.json", "results.csv", "results.md"]
    assert not [pid for pid, words in processes() if str(folder) in words and pid != running.pid]


def processes():
    """The ids and command lines of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield int(path.parent.name), path.read_text(errors="replace")
        except OSError:
            continue


@pytest.mark.slow
def test_fasttext_itself_with_ngrams(tmp_path):
    """As a peer of the trainer fasttext: it learns from n-grams, so that its vectors are those of words, not rows."""
    pytest.importorskip("fasttext", reason="fastText itself is not installed; it comes with the extra fasttext")
    small = ["--dim", "16", "--epochs", "1", "--seeds", "1", "--threads", "2", "--min-count", "20"]
    done = benchmark("sample", "-o", tmp_path / "r", "--trainer", "fasttext", "--peer", "fasttext", *small)
    assert done.returncode == 0, done.stderr
    ours, theirs = as_text(tmp_path / "r" / "results.csv")
    assert (theirs["tool"], theirs["error"]) == ("fasttext", "")
    assert ours["simlex999 covered"] == theirs["simlex999 covered"]
