"""Training on a cluster: the same bytes as on one machine, whatever the workers, nodes and threads."""

import numpy as np
import pytest
from doubled_skipgram import DoubledSkipGram
from interrupted_runs import corpus, learn, table_bytes
from remote_servers import web_server

import embeddings as em
from embeddings.cluster import cluster_training

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns
FOUR = em.training.Replicas(4, merge_every=4000)


@pytest.fixture(scope="module")
def one_machine():
    return learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=FOUR)


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (1, 2), (2, 1)])
def test_workers_and_threads_do_not_change_the_result(ray, one_machine, workers, threads):
    cluster = em.training.Cluster("auto", workers=workers, threads_per_worker=threads)
    model = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=FOUR, cluster=cluster)
    assert table_bytes(model) == table_bytes(one_machine)
    for name in ("loss_by_epoch", "words", "steps", "corpus", "replicas"):
        assert model.record[name] == one_machine.record[name]
    statistics = model.record["cluster"]
    assert statistics["workers"] == workers
    assert statistics["merges"] > 3


@pytest.mark.parametrize("rule", ["coherence", "mean-changed", "sum"])
def test_two_workers_equal_two_replicas(ray, rule):
    two, text = em.training.Replicas(2, merge_every=4000, rule=rule), corpus("skipgram")
    one = learn("skipgram", text, {"epochs": 3}, replicas=two)
    cluster = em.training.Cluster("auto", workers=2, merge_every=4000, rule=rule)
    assert table_bytes(learn("skipgram", text, {"epochs": 3}, cluster=cluster)) == table_bytes(one)


@pytest.mark.parametrize(
    ("trainer", "settings"),
    [("cbow", {"shuffle": True, "average_last": 0.5}), ("fasttext", {"buckets": 500}), ("paragraph-dbow", {}),
     ("sembei", {"max_n": 2, "per_length": "all"}), ("glove", {})],
)  # fmt: skip
def test_any_trainer_learns_the_same(ray, trainer, settings):
    text, replicas = corpus(trainer), em.training.Replicas(2, merge_every=4000)
    if trainer == "glove":
        small = {"dim": 8, "min_count": 1, "epochs": 2}
        one, other = (
            em.train("glove", text, threads=1, seed=3, **small, replicas=replicas, cluster=cluster)
            for cluster in (None, em.training.Cluster("auto", workers=2))
        )
    else:
        one = learn(trainer, text, settings, replicas=replicas)
        other = learn(trainer, text, settings, replicas=replicas, cluster=em.training.Cluster("auto", workers=2))
    assert table_bytes(one) == table_bytes(other)


def test_threads_of_a_worker_share_its_tables(ray):
    cluster = em.training.Cluster("auto", workers=1, threads_per_worker=2, merge_every=3000)
    model = learn("skipgram", corpus("skipgram"), {}, cluster=cluster)
    assert model.record["words"] == model.record["total_words"]
    assert model.record["replicas"]["count"] == 1
    assert np.isfinite(model.vectors.matrix).all()


def test_callbacks_and_frozen_vectors(ray):
    text, ends = corpus("skipgram"), []

    class Stop(em.Callback):
        def on_epoch_end(self, end):
            ends.append(end.model.vectors.matrix.copy())
            if end.epoch == 2:
                end.stop()

    cluster = em.training.Cluster("auto", workers=2, merge_every=4000)
    model = learn("skipgram", text, {"epochs": 4}, callbacks=[Stop()], cluster=cluster)
    assert len(ends) == 2
    assert (ends[1] == model.vectors.matrix).all()
    init = em.InitFrom(model.vectors, freeze=True)
    frozen = learn("skipgram", text, {}, init=init, cluster=cluster)
    assert frozen.vectors.matrix.tobytes() == init.vectors.matrix.tobytes()


@pytest.mark.parametrize(
    ("cluster", "message"),
    [(em.training.Cluster("auto", workers=3), "need 3 CPUs"),
     (em.training.Cluster("local:2"), "connected to Ray already")],
)  # fmt: skip
def test_what_does_not_fit_is_refused(ray, cluster, message):
    with pytest.raises(em.EmbeddingsError, match=message):
        learn("skipgram", corpus("skipgram"), {}, cluster=cluster)


def test_replicas_are_checked_before_ray_starts(monkeypatch):
    monkeypatch.setattr("embeddings.cluster.cluster_training.connected", None)
    with pytest.raises(em.EmbeddingsError, match="use fewer workers"):
        learn(
            "skipgram", corpus("skipgram"), {}, cluster=em.training.Cluster("local:2"), replicas=em.training.Replicas(1)
        )


def test_a_text_with_too_few_shares_is_refused(ray):
    with pytest.raises(em.EmbeddingsError, match="shares for 1 of 2"):
        learn("skipgram", em.Corpus([["a", "b", "c"]] * 20), {}, cluster=em.training.Cluster("auto", workers=2))


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(7)
    for number, lines in enumerate((700, 20, 0, 900)):
        words = [" ".join(f"w{i}" for i in rng.zipf(1.5, rng.integers(0, 40)) % 300) for _ in range(lines)]
        (tmp_path / f"{number}.txt").write_text("\n".join(words) + "\n" * (number % 2))
    return tmp_path


def test_workers_read_the_text_and_learn_the_same(ray, files, monkeypatch):
    settings, replicas = {"min_count": 3, "shuffle": True}, em.training.Replicas(4, merge_every=4000)
    one = learn("skipgram", em.Corpus(files), settings, replicas=replicas)
    monkeypatch.setattr(cluster_training, "prepare", None)  # not this process
    cluster = em.training.Cluster("auto", workers=2)
    other = learn("skipgram", em.Corpus(files), settings, replicas=replicas, cluster=cluster)
    assert other.vectors.words == one.vectors.words
    assert (other.vocabulary.counts == one.vocabulary.counts).all()
    assert table_bytes(one) == table_bytes(other)
    assert one.record["text"] == other.record["text"]
    with pytest.raises(em.EmbeddingsError, match="min_count"):
        learn("skipgram", em.Corpus(files), {"min_count": 1_000_000}, cluster=cluster)
    (files / "1.txt").write_bytes(b"\xff\xfe\xfd broken")
    with pytest.raises(em.EmbeddingsError, match="encoding"):
        learn("skipgram", em.Corpus(files), settings, cluster=cluster)


def test_a_trainer_of_another_package_learns_the_same(ray, monkeypatch):
    trainer, text = DoubledSkipGram(dim=8, min_count=1, epochs=2), corpus("skipgram")
    runs = [
        em.training.RunOptions(replicas=FOUR, cluster=cluster)
        for cluster in (None, em.training.Cluster("auto", workers=2))
    ]
    one, other = (trainer.train(text, threads=1, run_options=options) for options in runs)
    assert table_bytes(one) == table_bytes(other)
    assert "spare" in one.tables
    monkeypatch.setattr(DoubledSkipGram, "__module__", "numpy.missing")
    with pytest.raises(em.EmbeddingsError, match=r"cannot import numpy\.missing, which the trainer doubled-skipgram"):
        trainer.train(text, run_options=runs[1])


def test_what_a_cluster_cannot_do_is_refused(ray):
    class Counting(DoubledSkipGram):
        def learn(self, data):
            return super().learn(data)

    options = em.training.RunOptions(cluster=em.training.Cluster("auto", workers=2))
    with pytest.raises(em.EmbeddingsError, match="has no plan"):
        Counting().train(corpus("skipgram"), run_options=options)
    model = learn("skipgram", corpus("skipgram"), {})
    with pytest.raises(em.EmbeddingsError, match="cluster does not support continued training"):
        em.continue_training(model, corpus("skipgram"), cluster=em.training.Cluster("auto", workers=2))


def test_workers_read_files_of_servers(ray, files):
    paths = [files / "0.txt", files / "3.txt"]
    one = learn("skipgram", em.Corpus(*paths), {}, replicas=FOUR)
    with web_server(files={f"/{path.name}": path.read_bytes() for path in paths}) as server:
        text = em.Corpus(*(f"{server.url}/{path.name}" for path in paths))
        other = learn("skipgram", text, {}, replicas=FOUR, cluster=em.training.Cluster("auto", workers=2))
    assert table_bytes(one) == table_bytes(other)
