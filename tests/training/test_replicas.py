"""Replicas learn the same with any number of threads, in every model, wherever a run halts."""

from dataclasses import asdict
from functools import partial

import numpy as np
import pytest
from interrupted_runs import corpus, interrupted_after, interrupted_at_check, learn, table_bytes

import embeddings as em
from embeddings.errors import SettingError
from embeddings.models.table import Table
from embeddings.support.mapped_files import memory_mapped_zeros
from embeddings.training import replicas as replicas_module
from embeddings.training.replicas import MAX_GROWTH, MergeSchedule, Replicas, ReplicaTables

THREE = Replicas(3, merge_every=4000)


def test_the_number_of_threads_does_not_matter():
    text = corpus("skipgram")
    whole = [learn("skipgram", text, {"epochs": 3}, threads=threads, replicas=THREE) for threads in (1, 2, 4)]
    assert table_bytes(whole[0]) == table_bytes(whole[1]) == table_bytes(whole[2])
    assert whole[0].record["loss_by_epoch"] == whole[2].record["loss_by_epoch"]
    assert whole[0].record["words"] == whole[0].record["total_words"]
    assert whole[0].record["replicas"] == asdict(THREE)
    other = learn("skipgram", text, {"epochs": 3}, replicas=Replicas(2, merge_every=4000))
    assert table_bytes(other) != table_bytes(whole[0])


def test_one_replica_learns_as_one_thread():
    text = corpus("skipgram")
    assert table_bytes(learn("skipgram", text, {}, threads=2, replicas=Replicas(1))) == table_bytes(
        learn("skipgram", text, {})
    )


def test_an_interrupted_run_is_resumed_to_the_same_bytes(tmp_path):
    text, settings = corpus("skipgram"), {"shuffle": True, "epochs": 3, "average_last": 0.5}
    whole = learn("skipgram", text, settings, replicas=THREE)
    for checks in (1, 5, 12, 19, 30):
        options = {"checkpoints": em.Checkpoints(tmp_path / str(checks)), "replicas": THREE}
        with interrupted_at_check(checks), pytest.raises(em.training.Interrupted):
            learn("skipgram", text, settings, **options)
        with interrupted_at_check(9), pytest.raises(em.training.Interrupted):
            learn("skipgram", text, settings, **options, resume=True)
        resumed = learn("skipgram", text, settings, **options, resume=True, threads=2)
        assert table_bytes(resumed) == table_bytes(whole), checks
        for name in ("words", "steps", "loss_by_epoch"):
            assert resumed.record[name] == whole.record[name]


def test_another_number_of_replicas_cannot_resume(tmp_path):
    text, checkpoints = corpus("skipgram"), em.Checkpoints(tmp_path / "c")
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn("skipgram", text, {}, checkpoints=checkpoints, replicas=THREE)
    with pytest.raises(em.EmbeddingsError, match="count was 3, but is 4"):
        learn("skipgram", text, {}, checkpoints=checkpoints, replicas=Replicas(4, merge_every=4000), resume=True)
    with pytest.raises(em.EmbeddingsError, match="another run"):
        learn("skipgram", text, {}, checkpoints=checkpoints, resume=True)


def test_the_learning_rate_can_roll_back_to_saved_tables():
    class RollBack(em.Callback):
        def on_epoch_end(self, end):
            if end.epoch == 1:
                end.save_tables()
            elif end.epoch == 2:
                self.first = {"vectors": end.model.vectors.matrix.copy()}
                end.roll_back(0.0)

    text, back = corpus("skipgram"), RollBack()
    settings = {"epochs": 4, "schedule": "constant"}
    model = learn("skipgram", text, settings, replicas=THREE, callbacks=[back])
    one = learn("skipgram", text, {"epochs": 1, "schedule": "constant"}, replicas=THREE)
    assert model.vectors.matrix.tobytes() == one.vectors.matrix.tobytes()  # the last two epochs had the rate 0
    assert model.vectors.matrix.tobytes() != back.first["vectors"].tobytes()


def test_frozen_rows_stay_as_they_are():
    text = corpus("skipgram")
    init = em.InitFrom(learn("skipgram", text, {}).vectors, freeze=True)
    model = learn("skipgram", text, {}, replicas=THREE, init=init)
    assert model.vectors.matrix.tobytes() == init.vectors.matrix.tobytes()


@pytest.mark.parametrize("count", [2, 4, 8, 100])
def test_merges_come_often_at_first(count):
    schedule, points = MergeSchedule(count, 200_000), []
    for _ in range(100):
        points.append(schedule.next_merge)
        schedule.advance()
    steps = np.diff(points)
    assert (points[0], steps[0], steps[-1]) == (5000, 5000, 200_000)
    assert (steps <= np.maximum(np.array(points[:-1]) // min(count, MAX_GROWTH), 5000)).all()
    assert MergeSchedule(count, 10).next_merge == 10
    assert MergeSchedule(count, None).merge_every == Replicas(count).merge_every


def test_more_replicas_than_shares_learn():
    text = em.Corpus([["a", "b", "c"]] * 40)
    model = learn("skipgram", text, {"epochs": 5}, replicas=Replicas(16))
    assert model.record["words"] == model.record["total_words"] == 600


def test_a_run_that_is_interrupted_just_after_a_roll_back_is_resumed_to_the_same_bytes(tmp_path):
    class RollBack(em.Callback):
        def __init__(self, *, interrupts):
            self.interrupts, self.is_rolled_back = interrupts, False

        def on_epoch_end(self, end):
            if end.epoch == 1:
                end.save_tables()
            elif end.epoch == 2:
                end.roll_back(0.25)
                self.is_rolled_back = True

        def on_progress(self, progress):
            if self.interrupts and self.is_rolled_back:
                raise KeyboardInterrupt

    text, settings, checkpoints = corpus("skipgram"), {"epochs": 4}, em.Checkpoints(tmp_path / "c")
    whole = learn("skipgram", text, settings, replicas=THREE, callbacks=[RollBack(interrupts=False)])
    options = {"replicas": THREE, "checkpoints": checkpoints}
    with pytest.raises(em.training.Interrupted):
        learn("skipgram", text, settings, callbacks=[RollBack(interrupts=True)], **options)
    resumed = learn("skipgram", text, settings, callbacks=[RollBack(interrupts=False)], resume=True, **options)
    assert table_bytes(resumed) == table_bytes(whole)


def test_replicas_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(replicas_module, "free_memory", lambda: 10_000)
    with pytest.raises(SettingError, match="use fewer replicas"):
        learn("skipgram", corpus("skipgram"), {}, replicas=THREE)


def test_copies_in_mapped_files_require_no_free_memory(monkeypatch):
    monkeypatch.setattr(replicas_module, "free_memory", lambda: 10_000)
    zeros = partial(memory_mapped_zeros, 100, 16, name="documents")
    declared = {"documents": Table(rows=100, dim=16, axis="other", zeros=zeros)}
    replicas = ReplicaTables(Replicas(2), declared, {"documents": zeros()}, threads=1)
    assert replicas.copies["documents"].shape == (2, 100, 16)


def test_a_table_can_declare_its_rule():
    tables = {name: Table(rows=2, dim=3, axis="other", on_merge=rule) for name, rule in (("a", "sum"), ("b", None))}
    merged = {name: table.allocate(1) for name, table in tables.items()}
    replicas = ReplicaTables(Replicas(4, rule="mean"), tables, merged, threads=2)
    for number in range(4):
        for table in replicas.tables(number).values():
            table[0] += 1
    replicas.merge()
    assert (merged["a"][0] == 4).all()
    assert (merged["b"][0] == 1).all()
    with pytest.raises(em.EmbeddingsError, match="on_merge"):
        Table(rows=2, dim=3, axis="other", on_merge="median")
