"""Checkpoints, logs and early stopping from the command line."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import Result
from commands import SMALL, TEXT, expect, process, refused
from interrupted_runs import interrupted_at_check

import embeddings as em
from embeddings.errors import OutputError
from embeddings.training import worker

EPOCHS = ["--dim", "10", "--threads", "1", "--epochs", "200"]
LONG = [*EPOCHS[:-1], "4000"]
INTERRUPTED = """
import os, signal
from embeddings.cli import main, progress_bar
from embeddings.training import worker
worker.REPORT_INTERVAL = 0.001
def end(self, progress, total=None):
    if getattr(progress, "words", 0):
        os.kill(os.getpid(), signal.{name})
progress_bar.Bar.__call__ = end
main()
"""


def interrupt(*args: object) -> Result:
    """A skip-gram run that Ctrl-C ends early."""
    with interrupted_at_check(8):
        return expect("train", "skipgram", *args, *EPOCHS, code=130)


def interrupted_process(*args: object, name: str) -> subprocess.CompletedProcess[str]:
    """A skip-gram run that gets the signal with its first progress report."""
    return process("train", "skipgram", *args, script=INTERRUPTED.format(name=name))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of a run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "text.txt").write_text(TEXT)
    expect("train", "skipgram", folder / "text.txt", "-o", folder / "v", *LONG)
    assert not (folder / "v.checkpoints").exists()
    return folder / "v"


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.slow)])
def test_a_signal_writes_a_checkpoint_and_resuming_gives_the_same_bytes(text, tmp_path, whole, name, code):
    result = interrupted_process(text, "-o", "v", *LONG, name=name)
    assert result.returncode == code
    assert "saved to v;" in result.stderr
    assert "--resume --force" in result.stderr
    words = em.load_model("v").record["words"]
    assert 0 < words < 4_000_000
    resumed = expect("train", "skipgram", text, "-o", "v", *LONG, "--resume", "--force")
    assert f"{words:,} of 4,000,000 words" in resumed.stderr
    expected, resumed = em.load_model(whole), em.load_model("v")
    assert expected.vectors.matrix.tobytes() == resumed.vectors.matrix.tobytes()
    assert expected.tables["output"].tobytes() == resumed.tables["output"].tobytes()
    assert not (tmp_path / "v.checkpoints").exists()


def test_resuming_replaces_the_interrupted_output_only_with_force(text, tmp_path):
    interrupt(text, "-o", "v.bin")
    command = ["train", "skipgram", text, "-o", "v.bin", *EPOCHS, "--resume"]
    assert "v.bin" in refused(*command, code=1)
    expect(*command, "--force")
    assert not (tmp_path / "v.bin.checkpoints").exists()


def test_an_unfinished_run_is_not_restarted_without_force(text, tmp_path):
    interrupt(text, "-o", "v")
    command = ["train", "skipgram", text, "-o", "v", *EPOCHS]
    refused(*command, code=1)
    (tmp_path / "v").rename(tmp_path / "elsewhere")
    message = refused(*command, code=1)
    assert "v.checkpoints" in message
    assert "--resume" in message
    assert "--force" in message
    result = expect(*command, "--seed", "2", "--resume", code=1)
    assert re.search(r"seed.*1.*2", result.stderr)
    assert "read " not in result.stderr
    expect("train", "skipgram", text, "-o", "v", *SMALL, "--force")
    assert not (tmp_path / "v.checkpoints").exists()


def test_without_checkpoints(text, tmp_path):
    result = interrupt(text, "-o", "v", "--checkpoint-every", "never")
    assert "--resume" not in result.stderr
    assert not (tmp_path / "v.checkpoints").exists()


@pytest.mark.slow
def test_info_on_checkpoints(text):
    interrupt(text, "-o", "v", "--log", "run.jsonl")
    words = em.load_model("v").record["words"]
    properties = json.loads(expect("info", "v.checkpoints", "--json").stdout)
    what = "checkpoints of a run"
    assert (properties["what"], properties["trainer"], properties["words"]) == (what, "skipgram", words)
    assert (properties["settings"]["epochs"], properties["seed"]) == (200, 1)
    expect("train", "skipgram", text, "-o", "v", *EPOCHS, "--log", "run.jsonl", "--resume", "--force")
    record = em.load_model("v").record
    assert record["words"] == record["total_words"] == 200_000


def test_warnings_about_checkpoints_are_printed_even_with_quiet(text, monkeypatch):
    def fail(self, state, words):
        raise OutputError("no space left")

    monkeypatch.setattr(worker, "REPORT_INTERVAL", 0.001)
    monkeypatch.setattr(em.Checkpoints, "write", fail)
    result = expect("train", "skipgram", text, "-o", "v", *LONG, "--checkpoint-every", "1w", "--quiet")
    assert re.fullmatch(r"warning: .*no space left\n", result.stderr)


def test_early_stopping_decay_on_plateau_and_average(text, tmp_path):
    (tmp_path / "pairs.txt").write_text("king queen 9\nqueen bone 2\nking cat 1\nland bone 3\nland king 5\n")
    command = ["train", "skipgram", text, "-o", "v", "--dim", "10", "--threads", "1", "--stop-similarity", "pairs.txt"]
    command += ["--stop-patience", "1"]
    result = expect(*command, "--learning-rate", "0.0001", "--epochs", "50")
    record = em.load_model("v").record
    stopping = record["early_stopping"]
    assert len(stopping["scores"]) < 50
    assert f"after epoch {len(stopping['scores'])} of 50" in result.stderr
    assert f"epoch {stopping['best_epoch']}, the best with a score of {max(stopping['scores']):.4f}" in result.stderr
    assert record["words"] == stopping["best_epoch"] * 1000
    options = ["--decay-on-plateau", "2", "--epochs", "9", "--schedule", "constant", "--average-last", "1", "--force"]
    result = expect(*command, *options, "--warm-up", "0.1")
    stopping = em.load_model("v").record["early_stopping"]
    assert len(stopping["decays"]) == 2 or len(stopping["scores"]) == 9
    saved = stopping["returned"].replace("average", "the average")
    best = max(*stopping["scores"], stopping["average_score"])
    assert f"saved {saved}, the best with a score of {best:.4f}" in result.stderr
