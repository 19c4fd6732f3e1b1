"""Workers and machines that fail: one clear line, and a run that is resumed from its checkpoint to the same bytes."""

import os
import signal

import pytest
from interrupted_runs import corpus, learn, table_bytes
from lost_workers import kill_before

import embeddings as em
from embeddings.cluster import cluster_training
from embeddings.cluster.worker_pool import WorkerPool

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns
TWO = em.training.Replicas(2, merge_every=3000)


@pytest.fixture(scope="module")
def one_machine():
    return learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO)


@pytest.mark.parametrize(("method", "call"), [("learn", 6), ("merge", 6), ("gather", 2)])
def test_a_run_that_loses_a_worker_is_resumed_to_the_same_bytes(ray, one_machine, monkeypatch, tmp_path, method, call):
    kill_before(monkeypatch, method, {call: [1]})
    cluster, checkpoints = em.training.Cluster("auto", workers=2), em.Checkpoints(tmp_path / "c", every="10kw")
    options = {"replicas": TWO, "cluster": cluster, "checkpoints": checkpoints}
    with pytest.raises(em.EmbeddingsError, match=r"worker \d was lost: .*resume") as raised:
        learn("skipgram", corpus("skipgram"), {"epochs": 3}, **options)
    assert "\n" not in str(raised.value)
    assert checkpoints.paths()
    monkeypatch.undo()
    resumed = learn("skipgram", corpus("skipgram"), {"epochs": 3}, resume=True, **options)
    assert table_bytes(resumed) == table_bytes(one_machine)
    for name in ("loss_by_epoch", "words", "steps"):
        assert resumed.record[name] == one_machine.record[name]


def test_a_worker_that_others_wait_for_ends_the_run(ray, monkeypatch):
    stopped = []

    def stop_after(load):
        def call(pool, *arguments):
            load(pool, *arguments)
            stopped.append(pool.ray.get(pool.actors[1].process.remote()))
            os.kill(stopped[-1], signal.SIGSTOP)

        return call

    monkeypatch.setattr(WorkerPool, "load", stop_after(WorkerPool.load))
    with pytest.raises(em.EmbeddingsError, match=r"waited 5 s for worker 1; .*resume"):
        learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO,
              cluster=em.training.Cluster("auto", workers=2, worker_timeout=5))  # fmt: skip


def test_an_interrupted_run_is_resumed(ray, one_machine, tmp_path):
    class Interrupt(em.Callback):
        def on_progress(self, progress):
            if progress.share > 0.4:
                raise KeyboardInterrupt

    checkpoints, cluster = em.Checkpoints(tmp_path / "c"), em.training.Cluster("auto", workers=2)
    options = {"replicas": TWO, "cluster": cluster, "checkpoints": checkpoints}
    with pytest.raises(em.training.Interrupted) as interrupt:
        learn("skipgram", corpus("skipgram"), {"epochs": 3}, callbacks=[Interrupt()], **options)
    record = interrupt.value.model.record
    assert 0 < record["words"] < record["total_words"]
    resumed = learn("skipgram", corpus("skipgram"), {"epochs": 3}, resume=True, **options)
    assert table_bytes(resumed) == table_bytes(one_machine)


def test_other_versions_and_missing_plugins_are_refused(ray, monkeypatch):
    here = dict(cluster_training.package_versions())
    monkeypatch.setattr(cluster_training, "package_versions", lambda: here | {"numpy": "1.0"})
    with pytest.raises(em.EmbeddingsError, match=r"worker 0 on .* has numpy .* and not 1\.0"):
        learn("skipgram", corpus("skipgram"), {}, cluster=em.training.Cluster("auto", workers=2))
    monkeypatch.undo()
    monkeypatch.setattr(cluster_training, "package_of", lambda kind, name: {"a-plugin": "2.0"})
    with pytest.raises(em.EmbeddingsError, match=r"has a-plugin not installed and not 2\.0"):
        learn("skipgram", corpus("skipgram"), {}, cluster=em.training.Cluster("auto", workers=2))


def test_a_ray_that_has_ended_is_one_line(ray, monkeypatch):  # the last test: it ends the Ray of the others
    learn_interval = WorkerPool.learn

    def end_ray_and_learn(pool, *arguments):
        ray._private.worker._global_node.all_processes["gcs_server"][0].process.kill()
        learn_interval(pool, *arguments)

    monkeypatch.setattr(WorkerPool, "learn", end_ray_and_learn)
    with pytest.raises(em.EmbeddingsError, match=r"gcs_server.* has ended; .*resume"):
        learn("skipgram", corpus("skipgram"), {}, replicas=TWO, cluster=em.training.Cluster("auto", workers=2))
