"""Options of a run that are refused."""

import re

import pytest
from interrupted_runs import never_read

import embeddings as em
from embeddings.errors import SettingError
from embeddings.training.replicas import Replicas
from embeddings.training.run_options import RunOptions
from embeddings.training.trainer import Trainer


def test_options_require_a_trainer_that_supports_them(tmp_path):
    class SimpleTrainer(Trainer):
        trainer_name = "simple"
        accepts_run_options = False

        def learn(self, data):
            raise AssertionError("learn was called")

    for run_options in (RunOptions(checkpoints=em.Checkpoints(tmp_path / "c")), RunOptions(callbacks=[em.Callback()])):
        with pytest.raises(SettingError, match=r"simple does not support checkpoints"):
            SimpleTrainer().train([["a"]], run_options=run_options)


VECTORS = em.Vectors(["a"], [[1.0]])
INVALID = [  # calls, and settings that the error must name
    (lambda: RunOptions(resume=True), "resume requires checkpoints"),
    (lambda: RunOptions(checkpoints="c"), r"checkpoints.*embeddings\.Checkpoints.*'c'"),
    (lambda: RunOptions(callbacks=[print]), r"callback.*embeddings\.Callback.*<built-in"),
    (lambda: RunOptions(replicas=3), "replicas must be"),
    (lambda: em.Checkpoints(5), "checkpoints.*folder.*got 5"),
    (lambda: em.Checkpoints(""), "checkpoints.*folder.*got ''"),
    (lambda: em.Checkpoints("c", keep=0), "keep"),
    (lambda: em.Checkpoints("c", keep=1.5), "keep"),
    (lambda: em.InitFrom(VECTORS, "first"), "duplicates.*most-frequent.*'first'"),
    (lambda: Replicas(0), "replicas"),
    (lambda: Replicas(1025), "replicas"),
    (lambda: Replicas(2.5), "replicas"),
    (lambda: Replicas(True), "replicas"),
    (lambda: Replicas(2, 0), "merge_every"),
    (lambda: Replicas(2, 1.5), "merge_every"),
    (lambda: Replicas(2, 10, "median"), "merge_rule"),
]


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_invalid_options_of_a_run(call, message):
    with pytest.raises(SettingError, match=message):
        call()


@pytest.mark.parametrize(("name", "value"), [
    *((name, value) for name in ("threads", "seed") for value in ("2", 1.5, True, -1)),
    ("threads", 0), ("threads", 1025), ("seed", None), ("seed", 2**63),
])  # fmt: skip
def test_invalid_threads_and_seeds_are_refused_before_the_corpus_is_read(name, value):
    with pytest.raises(SettingError, match=rf"{name}.*got {re.escape(repr(value))}"):
        em.SkipGram().train(em.Corpus(never_read()), **{name: value})
