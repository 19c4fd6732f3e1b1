"""Checkpoints, logs and early stopping from the command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_commands import SMALL, TEXT, ok, run

import embeddings as em

EPOCHS = ["--dim", "10", "--threads", "1", "--epochs", "3000"]
SIGNALLED = """
import os, signal
from embeddings.cli import main, progress
from embeddings.training import hogwild
hogwild.INTERVAL = 0.001
def ended(self, progress):
    if progress.words:
        os.kill(os.getpid(), signal.{name})
progress.Training.__call__ = ended
main()
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def interrupted(*args: object, name: str = "SIGINT") -> subprocess.CompletedProcess[str]:
    """A run that gets the signal with its first report."""
    command = [sys.executable, "-c", SIGNALLED.format(name=name), "train", "skipgram", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_writes_a_checkpoint_and_resume_ends_with_the_same_bytes(text, tmp_path, name, code):
    ok("train", "skipgram", text, "-o", tmp_path / "whole", *EPOCHS)
    assert not (tmp_path / "whole.checkpoints").exists()
    done = interrupted(text, "-o", tmp_path / "v", *EPOCHS, name=name)
    assert done.returncode == code
    assert done.stderr.endswith(f"saved in {tmp_path / 'v'}; the same command with --resume goes on from there\n")
    words = em.load_model(tmp_path / "v").record["words"]
    assert 0 < words < 3_000_000
    done = run("train", "skipgram", text, "-o", tmp_path / "v", *EPOCHS, "--resume")
    assert done.returncode == 0, done.stderr
    assert f"going on after {words:,} of 3,000,000 words" in done.stderr
    whole, again = em.load_model(tmp_path / "whole"), em.load_model(tmp_path / "v")
    assert whole.vectors.matrix.tobytes() == again.vectors.matrix.tobytes()
    assert whole.tables["output"].tobytes() == again.tables["output"].tobytes()
    assert not (tmp_path / "v.checkpoints").exists()


def test_only_what_the_interrupted_run_saved_is_replaced(text, tmp_path):
    out = tmp_path / "v.bin"
    assert interrupted(text, "-o", out, *EPOCHS).returncode == 130
    os.utime(out, (1, 1))
    done = run("train", "skipgram", text, "-o", out, *EPOCHS, "--resume")
    assert (done.returncode, "v.bin exists" in done.stderr) == (1, True)
    assert run("train", "skipgram", text, "-o", out, *EPOCHS, "--resume", "--force").returncode == 0
    assert not (tmp_path / "v.bin.checkpoints").exists()


def test_a_run_that_did_not_end_is_not_begun_anew_unasked(text, tmp_path):
    assert interrupted(text, "-o", tmp_path / "v", *EPOCHS).returncode == 130
    done = run("train", "skipgram", text, "-o", tmp_path / "v", *EPOCHS)
    assert done.returncode == 1
    (tmp_path / "v").rename(tmp_path / "elsewhere")
    done = run("train", "skipgram", text, "-o", tmp_path / "v", *EPOCHS)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert (
        "holds checkpoints of a run that did not end: --resume goes on from there, --force begins anew" in done.stderr
    )
    done = run("train", "skipgram", text, "-o", tmp_path / "v", *EPOCHS, "--seed", "2", "--resume")
    assert done.returncode == 1
    assert done.stderr.endswith("cannot be gone on with: seed was 1, and is 2\n")
    assert "read" not in done.stderr
    ok("train", "skipgram", text, "-o", tmp_path / "v", *SMALL, "--force")
    assert not (tmp_path / "v.checkpoints").exists()


def test_without_a_checkpoint_that_is_said(text, tmp_path):
    done = run("train", "cbow", text, "-o", tmp_path / "v", *SMALL, "--resume")
    assert done.returncode == 0
    assert "there is no checkpoint yet: from the beginning" in done.stderr


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (["--checkpoint-every", "60"], 2, "a time such as 30s, 10m or 1h, or words such as"),
        (["--checkpoint-every", "never", "--resume"], 2, "--resume goes on from checkpoints: leave out"),
        (["--stop-patience", "3"], 2, "--stop-patience is of use only with --stop-similarity or --stop-analogy"),
        (["--stop-similarity", "missing"], 1, "no test set 'missing'"),
        (["--log", "text.txt"], 2, "--log text.txt is a part of the corpus"),
        (["--log", "no/where.jsonl"], 1, "is not a folder"),
    ],
    ids=str,
)
def test_what_is_asked_for_wrongly(text, tmp_path, given, code, told):
    done = run("train", "skipgram", "text.txt", "-o", "v", *SMALL, *given, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_never_writes_none(text, tmp_path):
    done = interrupted(text, "-o", tmp_path / "v", *EPOCHS, "--checkpoint-every", "never")
    assert done.returncode == 130
    assert "--resume" not in done.stderr
    assert not (tmp_path / "v.checkpoints").exists()


@pytest.mark.slow
def test_what_checkpoints_and_a_log_say(text, tmp_path):
    log = tmp_path / "run.jsonl"
    assert interrupted(text, "-o", tmp_path / "v", *EPOCHS, "--log", log).returncode == 130
    words = em.load_model(tmp_path / "v").record["words"]
    for path, what in ((tmp_path / "v.checkpoints", "checkpoints of a run"), (log, "log of a run")):
        facts = json.loads(ok("info", path, "--json"))
        assert (facts["what"], facts["trainer"], facts["words"]) == (what, "skipgram", words)
        assert (facts["settings"]["epochs"], facts["seed"]) == (3000, 1)
    assert (facts["state"], facts["of_words"]) == ("interrupted", 3_000_000)
    ok("train", "skipgram", text, "-o", tmp_path / "v", *EPOCHS, "--log", log, "--resume")
    facts = json.loads(ok("info", log, "--json", "--full"))
    assert (facts["state"], facts["runs"], facts["interrupts"]) == ("ended", 2, 1)
    assert facts["words"] == facts["of_words"] == 3_000_000


def test_checkpoints_that_cannot_be_written_are_told_however_quiet(text, tmp_path):
    code = """
from embeddings.cli import main
from embeddings.errors import OutputError
from embeddings.training import hogwild
from embeddings.training.checkpoints import Checkpoints
hogwild.INTERVAL = 0.001
def full(self, state, words):
    raise OutputError("no space left")
Checkpoints.write = full
main()
"""
    given = ["train", "skipgram", text, "-o", tmp_path / "v", *EPOCHS, "--checkpoint-every", "1w", "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *map(str, given)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    assert re.fullmatch(r"warning: no checkpoint after [\d,]+ words: no space left\n", done.stderr)


@pytest.mark.slow
def test_a_log_and_its_curve(text, tmp_path):
    log = tmp_path / "run.jsonl"
    ok("train", "cbow", text, "-o", tmp_path / "v", *SMALL, "--log", log)
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == ["begin", "progress", "end"]
    ok("info", log, "--curve", tmp_path / "log.png")
    ok("info", tmp_path / "v", "--curve", tmp_path / "v.png")
    assert (tmp_path / "v.png").read_bytes()[:4] == b"\x89PNG"
    assert run("info", tmp_path / "v", "--curve", tmp_path / "v.png").returncode == 1
    ok("info", log, "--curve", tmp_path / "v.png", "--force")
    assert run("info", log, "--force").returncode == 2
    assert run("info", text, "--curve", tmp_path / "t.png").returncode == 1


def test_early_stopping(text, tmp_path):
    (tmp_path / "pairs.txt").write_text("king queen 9\ndog cat 8\nking bone 1\nland bone 3\n")
    given = ["--stop-similarity", tmp_path / "pairs.txt", "--stop-patience", "1", "--rate", "0.0001", "--epochs", "50"]
    done = run("train", "skipgram", text, "-o", tmp_path / "v", "--dim", "10", "--threads", "1", *given)
    assert done.returncode == 0, done.stderr
    record = em.load_model(tmp_path / "v").record
    told = record["early_stopping"]
    assert len(told["scores"]) < 50
    best = f"epoch {told['best_epoch']} scored best, {max(told['scores']):.4f}: that one is saved"
    assert f"ended after epoch {len(told['scores'])} of 50, {best}\n" in done.stderr
    assert record["words"] == told["best_epoch"] * 1000
