"""Options of a run that are refused."""

import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.testing.trainer_contract import synonym_corpus
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
        ({"resume": True}, r"resume requires checkpoints"),
        ({"checkpoints": "c"}, r"checkpoints.*embeddings\.Checkpoints.*'c'"),
        ({"callbacks": [print]}, r"callback.*embeddings\.Callback.*<built-in"),
    ],
)
def test_invalid_run_options(options, message):
    with pytest.raises(SettingError, match=message):
        em.train("skipgram", synonym_corpus(), **options)
