"""The command with --cluster, through real processes."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import process

import embeddings as em
from embeddings.cluster.cluster_task import ClusterError
from embeddings.cluster.ray_runtime import connected
from embeddings.training.run_options import RunOptions

SMALL = ["--dim", "8", "--window", "3", "--min-count", "1", "--seed", "3", "--merge-every", "2000", "--quiet"]


@pytest.fixture
def text(tmp_path) -> Path:
    import numpy as np

    rng, path = np.random.default_rng(1), tmp_path / "text.txt"
    path.write_text("".join(" ".join(f"w{i}" for i in rng.integers(0, 60, 25)) + "\n" for _ in range(800)))
    return path


def matrix(folder) -> bytes:
    return em.load_model(folder).vectors.matrix.tobytes()


def has_ray() -> None:
    pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")


@pytest.mark.slow
def test_a_run_whose_first_process_is_killed_is_resumed(text, tmp_path):
    has_ray()
    options = [text, *SMALL, "--epochs", 60]
    process("train", "skipgram", *options, "--replicas", 2, "--threads", 1, "-o", tmp_path / "whole", check=True)
    command = ["train", "skipgram", *options, "--cluster", "local:2", "--checkpoint-every", "20kw", "--resume"]
    command += ["-o", tmp_path / "v"]
    arguments = [sys.executable, "-m", "embeddings", *map(str, command)]
    for kills in (1, 2):
        with subprocess.Popen(arguments) as running:
            deadline = time.monotonic() + 200
            while len(list((tmp_path / "v.checkpoints").glob("words-*"))) < kills and time.monotonic() < deadline:
                time.sleep(0.05)
                assert running.poll() is None, "the run ended before it was killed"
            running.send_signal(signal.SIGKILL)
    result = process(*command, "--json")
    assert result.returncode == 0, result.stderr
    assert matrix(tmp_path / "v") == matrix(tmp_path / "whole")
    assert not (tmp_path / "v.checkpoints").exists()


@pytest.mark.slow
def test_progress_tells_of_the_workers(text, tmp_path):
    has_ray()
    result = process("train", "cbow", text, *SMALL[:-1], "--cluster", "local:1", "--log", tmp_path / "log",
                     "--replicas", 8, "--json", "-o", tmp_path / "v")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert re.search("trained in .* saved 60 vectors", result.stderr), result.stderr
    assert em.load_model(tmp_path / "v").record["cluster"]["merges"] > 1


@pytest.mark.slow
def test_a_cluster_that_cannot_be_reached_is_refused(text, tmp_path):
    has_ray()
    result = process("train", "skipgram", text, "-o", str(tmp_path / "v"), "--cluster", "ray://127.0.0.1:1")
    assert result.returncode == 1
    progress, error = result.stderr.splitlines()
    assert "ray://127.0.0.1:1" in progress
    assert error.startswith("Error: cannot reach the cluster")


@pytest.mark.slow
def test_a_machine_without_a_cluster_is_told_so(monkeypatch):
    """A stand-in for `ray.init`, because other tests may run Ray on this machine."""
    ray = pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")

    def refuse(address, **options):
        raise ConnectionError(address)

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(ClusterError, match="no Ray cluster is running"), connected("auto"):
        pass


def test_the_run_of_a_cluster_is_checked_once_its_replicas_are_known(tmp_path):
    class Interrupt(em.Callback):
        def on_progress(self, progress):
            if progress.share > 0.2:
                raise KeyboardInterrupt

    trainer, checkpoints = em.SkipGram(dim=8, min_count=1, epochs=50), em.Checkpoints(tmp_path / "c")
    words = ["a b c d e f g h"] * 500
    run = RunOptions(checkpoints=checkpoints, replicas=em.training.Replicas(2), callbacks=[Interrupt()])
    with pytest.raises(em.training.Interrupted):
        trainer.train(words, threads=2, run_options=run)
    options = {"checkpoints": checkpoints, "resume": True}
    RunOptions(**options, cluster=em.training.Cluster("local:2")).check_fingerprint(trainer, 2, 1)
    with pytest.raises(em.EmbeddingsError, match="replicas"):
        RunOptions(**options).check_fingerprint(trainer, 2, 1)
