"""Options of a run that are refused."""

import pytest

import embeddings as em
from embeddings.errors import SettingError
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda: RunOptions(resume=True), r"resume requires checkpoints"),
        (lambda: RunOptions(checkpoints="c"), r"checkpoints.*embeddings\.Checkpoints.*'c'"),
        (lambda: RunOptions(callbacks=[print]), r"callback.*embeddings\.Callback.*<built-in"),
        (lambda: em.Checkpoints(5), r"checkpoints.*folder.*got 5"),
        (lambda: em.Checkpoints(""), r"checkpoints.*folder.*got ''"),
        (lambda: em.Checkpoints("c", keep=0), "keep"),
        (lambda: em.Checkpoints("c", keep=1.5), "keep"),
    ],
)
def test_invalid_run_options(options, message):
    with pytest.raises(SettingError, match=message):
        options()
