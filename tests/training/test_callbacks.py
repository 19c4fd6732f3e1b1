"""Callbacks: the order of events, models at the end of epochs, ending a run, and invalid run options."""

import numpy as np
import pytest
from interrupted_runs import interrupted_after, learn, table_bytes

import embeddings as em
from embeddings.errors import DeclarationError
from embeddings.testing.trainer_contract import synonym_corpus


class EventRecorder(em.Callback):
    """Records the events of a run."""

    def __init__(self, name="", events=None):
        self.name, self.events = name, [] if events is None else events

    def add(self, event):
        self.events.append(self.name + event)

    def on_run_start(self, run_start):
        self.add(f"start {run_start.words}")

    def on_epoch_end(self, epoch_end):
        self.add(f"epoch {epoch_end.epoch}")

    def on_checkpoint(self, path, progress):
        self.add("checkpoint")

    def on_interrupt(self, progress):
        self.add("interrupted")

    def on_run_end(self, model):
        self.add("end")
        return model


@pytest.mark.parametrize("threads", [1, 3])
def test_order_of_events(threads):
    recorded = []
    learn(
        "cbow",
        synonym_corpus(),
        {"epochs": 3},
        threads=threads,
        callbacks=[EventRecorder("a ", recorded), EventRecorder("b ", recorded)],
    )
    events = ["start 0", "epoch 1", "epoch 2", "epoch 3", "end"]
    assert recorded == [name + event for event in events for name in ("a ", "b ")]


def test_events_of_an_interrupted_and_resumed_run(tmp_path):
    first, second = EventRecorder(), EventRecorder()
    checkpoints = em.Checkpoints(tmp_path / "c")
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn("cbow", synonym_corpus(), {}, checkpoints=checkpoints, callbacks=[first])
    learn("cbow", synonym_corpus(), {}, checkpoints=checkpoints, callbacks=[second], resume=True)
    assert first.events == ["start 0", "checkpoint", "interrupted"]
    assert second.events == ["start 2400", "epoch 1", "epoch 2", "end"]


@pytest.mark.parametrize("trainer", ["skipgram", "fasttext", "paragraph-dbow", "sembei"])
def test_models_at_epoch_ends_are_copies(trainer):
    settings = {"epochs": 3, "buckets": 99} if trainer == "fasttext" else {"epochs": 3}
    settings |= {"max_n": 1, "per_length": "all"} if trainer == "sembei" else {}
    copies = []

    class CollectModels(em.Callback):
        def on_epoch_end(self, epoch_end):
            copies.append((epoch_end.model, table_bytes(epoch_end.model)))

    whole = learn(trainer, synonym_corpus(), settings)
    model = learn(trainer, synonym_corpus(), settings, callbacks=[CollectModels()])
    assert table_bytes(model) == table_bytes(whole) == copies[-1][1]
    assert copies[0][1] != copies[1][1]
    assert all(table_bytes(model) == before for model, before in copies), "a copy must not change"
    assert [model.record["words"] for model, _ in copies] == [2400, 4800, 7200]


def test_a_callback_that_returns_no_model_does_not_replace_it():
    class KeepModel(em.Callback):
        def on_run_end(self, model):
            self.model = model

    callback = KeepModel()
    assert learn("cbow", synonym_corpus(), {}, callbacks=[callback]) is callback.model


def test_numbers_of_a_state_are_resumed_as_python_numbers(tmp_path):
    class Numbers(em.Callback):
        def __init__(self):
            self.values = {"best": np.float32(0.5), "seen": [np.int64(3)], "loss": np.nan, "worst": -np.inf}

        def state(self):
            return self.values

        def restore(self, state):
            self.values = state

    checkpoints, callback = em.Checkpoints(tmp_path / "c"), Numbers()
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn("cbow", synonym_corpus(), {}, checkpoints=checkpoints, callbacks=[Numbers()])
    learn("cbow", synonym_corpus(), {}, checkpoints=checkpoints, resume=True, callbacks=[callback])
    assert repr(callback.values) == "{'best': 0.5, 'seen': [3], 'loss': nan, 'worst': -inf}"


def test_a_state_that_is_not_json_is_refused_with_the_name_of_its_callback(tmp_path):
    class WordSet(em.Callback):
        def state(self):
            return {"words": {"the", "cat"}}

    with interrupted_after(2), pytest.raises(DeclarationError, match=r"WordSet.*JSON.*set"):
        learn("cbow", synonym_corpus(), {}, checkpoints=em.Checkpoints(tmp_path / "c"), callbacks=[WordSet()])
