"""Full disks and lost objects of the store: one clear line."""

import subprocess
import sys

import pytest
from interrupted_runs import corpus, learn
from lost_workers import lost_object

import embeddings as em
from embeddings.cluster.worker_pool import WorkerPool
from embeddings.support.cache_folder import cache_folder

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns
TWO = em.training.Replicas(2, merge_every=3000)


def test_lost_rows_end_the_run(ray, monkeypatch):
    merge = WorkerPool.merge

    def merge_and_lose(pool):
        merge(pool)
        pool.merged = [lost_object(pool) for _ in pool.merged]

    monkeypatch.setattr(WorkerPool, "merge", merge_and_lose)
    with pytest.raises(em.EmbeddingsError, match=r"worker \d was lost: .*resume") as raised:
        learn("skipgram", corpus("skipgram"), {}, replicas=TWO, cluster=em.training.Cluster("auto", workers=2))
    assert "\n" not in str(raised.value)


def test_a_worker_without_room_for_its_share_ends_the_run(tmp_path):
    """A disk of 64 kB for temporary tables, in a mount namespace of its own, which goes away with the process."""
    pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")
    scratch, text = cache_folder("scratch"), tmp_path / "text.txt"
    text.write_text("a few words of one line\n" * 10_000)
    mount = f"mount -t tmpfs -o size=64k none {scratch}"
    try:
        possible = subprocess.run(["unshare", "--mount", "sh", "-c", mount], capture_output=True)
    except FileNotFoundError:
        pytest.skip("unshare is not there")
    if possible.returncode:
        pytest.skip("mounting is not allowed")
    command = f"{sys.executable} -m embeddings train skipgram {text} --quiet --cluster local:1 -o {tmp_path / 'v'}"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{mount} && exec {command}"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "No space left on device" in line
    assert not (tmp_path / "v").exists()
