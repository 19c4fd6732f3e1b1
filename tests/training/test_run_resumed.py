"""A resumed run ends with the same bytes as an uninterrupted one, wherever it halted, in every model."""

from dataclasses import replace

import numpy as np
import pytest
from interrupted_runs import CONFIGURATIONS, corpus, interrupted_after, learn, table_bytes

import embeddings as em
from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.loss_tally import report_loss
from embeddings.training import stream as shuffling
from embeddings.training import worker
from embeddings.training.replicas import Replicas
from embeddings.training.run import Run
from embeddings.training.run_options import RunOptions
from embeddings.training.training_data import prepare


@pytest.mark.slow
@pytest.mark.parametrize(("trainer", "settings"), CONFIGURATIONS, ids=str)
def test_repeatedly_interrupted_run_ends_with_the_same_bytes(trainer, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffling, "SEGMENT", 1000)
    monkeypatch.setattr(shuffling, "SEGMENTS_PER_CHUNK", 3)
    text = corpus(trainer)
    whole = learn(trainer, text, settings)
    checkpoints = em.Checkpoints(tmp_path / "c")
    for number, checks in enumerate([1, 2, 3, 5, 4, 2, 7, 3, 4]):
        with interrupted_after(checks), pytest.raises(em.training.Interrupted):
            learn(trainer, text, settings, checkpoints=checkpoints, resume=number > 0)
    resumed = learn(trainer, text, settings, checkpoints=checkpoints, resume=True)
    assert table_bytes(resumed) == table_bytes(whole)
    for name in ("words", "total_words", "steps", "loss_by_epoch"):
        assert resumed.record[name] == whole.record[name]


@pytest.mark.parametrize("shuffle", [False, True])
def test_run_resumes_at_every_block(shuffle, tmp_path):
    text, settings = corpus("cbow"), {"shuffle": shuffle, "epochs": 3}
    whole = table_bytes(learn("cbow", text, settings))
    for checks in range(1, 14):
        checkpoints = em.Checkpoints(tmp_path / str(checks))
        with interrupted_after(checks), pytest.raises(em.training.Interrupted):
            learn("cbow", text, settings, checkpoints=checkpoints)
        assert table_bytes(learn("cbow", text, settings, checkpoints=checkpoints, resume=True)) == whole, checks


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("threads", [2, 3])
def test_resumed_threads_read_every_word_once_per_epoch(threads, shuffle, tmp_path, monkeypatch):
    """A kernel that only counts words; every thread halts at a different position."""
    monkeypatch.setattr(shuffling, "SEGMENT", 500)
    trainer = em.SkipGram(dim=8, min_count=1, subsample=0, epochs=3, window=4, shuffle=shuffle)
    checkpoints, seen = em.Checkpoints(tmp_path / "c"), []

    def learn_block(block, tables, buffers, rate):
        seen.append(block.words[block.cursor[FIRST] : block.cursor[LAST]].copy())
        report_loss(buffers, 0.0, len(seen[-1]))

    def run(resume):
        run_options = RunOptions(checkpoints=checkpoints, resume=resume)
        data = prepare(trainer, corpus("skipgram"), threads=threads, run_options=run_options)
        return data, Run(data, replace(trainer.plan(data), kernel=learn_block)).train()

    for number, checks in enumerate((3, 1, 4)):
        with interrupted_after(checks), pytest.raises(em.training.Interrupted):
            run(number > 0)
    data, model = run(True)
    counts = np.bincount(np.concatenate(seen), minlength=len(data.vocabulary))
    assert counts.tolist() == (3 * data.vocabulary.counts).tolist()
    assert model.record["words"] == model.record["total_words"] == 3 * len(data.encoded.ids)


class StopAtTheEnd(em.Callback):
    """Ends a run at its last epoch."""

    def on_epoch_end(self, end):
        if end.epoch == 20:
            end.stop()


@pytest.mark.parametrize("replicas", [None, Replicas(3, merge_every=4000)], ids=["alone", "replicas"])
def test_checkpoints_and_callbacks_do_not_change_the_result(replicas, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "REPORT_INTERVAL", 0.001)
    text, options = corpus("cbow"), {"replicas": replicas}
    whole = learn("cbow", text, {"epochs": 20}, **options)
    checkpoints = em.Checkpoints(tmp_path / "c", every="1w")
    again = learn("cbow", text, {"epochs": 20}, checkpoints=checkpoints, callbacks=[StopAtTheEnd()], **options)
    assert table_bytes(again) == table_bytes(whole)
    state = checkpoints.latest()
    assert not any("replica" in name for name in state.arrays)  # a checkpoint holds the merged tables only


def test_time_before_the_interrupt_is_counted(tmp_path):
    text, checkpoints = corpus("cbow"), em.Checkpoints(tmp_path / "c")
    with interrupted_after(3), pytest.raises(em.training.Interrupted) as interrupted:
        learn("cbow", text, {}, checkpoints=checkpoints)
    before, seconds = interrupted.value.model.record, checkpoints.latest().values["tally"]["seconds"]
    again = learn("cbow", text, {}, checkpoints=checkpoints, resume=True).record
    assert again["seconds"] > round(seconds, 3)
    assert again["words"] > before["words"] > 0
