"""Workers and machines that fail: the result is the same bytes, or one clear line."""

import os
import signal

import pytest
from interrupted_runs import corpus, learn, table_bytes
from lost_workers import kill, kill_before

import embeddings as em
from embeddings.cluster import cluster_training, worker_pool
from embeddings.cluster.worker_pool import WorkerPool

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns
TWO = em.training.Replicas(2, merge_every=3000)


@pytest.fixture(scope="module")
def one_machine():
    return learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO)


@pytest.mark.parametrize(("method", "direct"), [("learn", 2), ("merge", 2), ("merge", 0)])
def test_a_worker_that_is_killed_three_times_does_not_change_the_result(ray, one_machine, monkeypatch, method, direct):
    monkeypatch.setattr(cluster_training, "MAX_DIRECT_WORKERS", direct)
    kill_before(monkeypatch, method, {0: [1], 2: [0], 4: [1]})
    model = learn(
        "skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO, cluster=em.training.Cluster("auto", workers=2)
    )
    replaced = model.record["cluster"]["replaced_workers"]
    assert replaced[:3] == [1, 0, 1]  # on a busy machine, one that starts too slowly is replaced, too
    assert table_bytes(model) == table_bytes(one_machine)
    for name in ("loss_by_epoch", "words", "steps"):
        assert model.record[name] == one_machine.record[name]


def test_a_worker_that_others_wait_for_is_replaced(ray, one_machine, monkeypatch):
    monkeypatch.setattr(WorkerPool, "load", stop_after(WorkerPool.load))
    cluster = em.training.Cluster("auto", workers=2, worker_timeout=20)
    model = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO, cluster=cluster)
    assert model.record["cluster"]["replaced_workers"] == [1]
    assert table_bytes(model) == table_bytes(one_machine)


def stop_after(load):
    """A method `load` after which the process of the second worker stands still."""

    def call(pool, *arguments):
        load(pool, *arguments)
        os.kill(pool.ray.get(pool.actors[1].process.remote()), signal.SIGSTOP)

    return call


def test_all_workers_lost_at_once_end_the_run(ray, monkeypatch, tmp_path):
    kill_before(monkeypatch, "learn", {6: [0, 1]})
    cluster, checkpoints = em.training.Cluster("auto", workers=2), em.Checkpoints(tmp_path / "c", every="20kw")
    with pytest.raises(em.EmbeddingsError, match="all workers, or the rows"):
        learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO, cluster=cluster, checkpoints=checkpoints)
    monkeypatch.undo()
    resumed = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO, checkpoints=checkpoints, resume=True)
    whole = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=TWO)
    assert table_bytes(resumed) == table_bytes(whole)


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
    with pytest.raises(em.EmbeddingsError, match=r"worker 0 on .* has numpy .*, but this machine has 1\.0"):
        learn("skipgram", corpus("skipgram"), {}, cluster=em.training.Cluster("auto", workers=2))
    monkeypatch.undo()
    monkeypatch.setattr(cluster_training, "package_of", lambda kind, name: {"a-plugin": "2.0"})
    with pytest.raises(em.EmbeddingsError, match=r"has a-plugin not installed, but this machine has 2\.0"):
        learn("skipgram", corpus("skipgram"), {}, cluster=em.training.Cluster("auto", workers=2))


def test_a_worker_that_fails_again_and_again_ends_the_run(ray, monkeypatch):
    send = WorkerPool.send_learn

    def kill_and_send(pool, number):
        if number == 1:
            kill(pool, 1)
        return send(pool, number)

    monkeypatch.setattr(WorkerPool, "send_learn", kill_and_send)
    with pytest.raises(em.EmbeddingsError, match=f"worker 1 failed {worker_pool.MAX_FAILURES + 1} times"):
        learn("skipgram", corpus("skipgram"), {}, replicas=TWO, cluster=em.training.Cluster("auto", workers=2))


def test_a_ray_that_has_ended_is_one_line(ray, monkeypatch):  # the last test: it ends the Ray of the others
    send = WorkerPool.send_learn

    def end_ray_and_send(pool, number):
        process = ray._private.worker._global_node.all_processes["gcs_server"][0].process
        process.kill()
        return send(pool, number)

    monkeypatch.setattr(WorkerPool, "send_learn", end_ray_and_send)
    with pytest.raises(em.EmbeddingsError, match=r"gcs_server.* has ended; .*resume"):
        learn("skipgram", corpus("skipgram"), {}, replicas=TWO, cluster=em.training.Cluster("auto", workers=2))
