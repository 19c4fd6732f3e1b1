"""Training recurrent networks: objectives, interrupts, devices and commands."""

import json

import numpy as np
import pytest
from commands import expect
from interrupted_runs import interrupted_after, table_bytes

import embeddings as em
from embeddings.errors import SettingError

torch = pytest.importorskip("torch", reason="requires PyTorch: pip install 'embeddings-toolkit[neural]'")
TEXTS = ["the cat eats a fish", "the dog eats", "a cat sleeps", "so the dog sleeps on a mat", "rare"] * 12
SMALL = {"dim": 7, "min_count": 12, "batch_words": 20, "hidden_size": 5, "learning_rate": 0.02, "epochs": 2}
OBJECTIVES = ["negative-sampling", "nce", "sampled-softmax", "full-softmax"]
TRAINERS = {"context2vec": {"input_dim": 3}, "c2w": {"character_dim": 4, "character_hidden_size": 3}}


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_learns(name, objective):
    model = em.train(name, TEXTS, threads=1, **SMALL | TRAINERS[name] | {"objective": objective, "epochs": 8})
    losses = model.record["loss_by_epoch"]
    assert losses[-1] < 0.9 * losses[0]
    assert np.isfinite(model.vectors.matrix).all()
    assert not any("exp_avg" in table for table in model.tables)


@pytest.mark.parametrize(
    ("name", "own"),
    [*TRAINERS.items(), ("c2w", {"dropout": 0.3})],
)
def test_a_run_interrupted_at_several_blocks_ends_with_the_same_bytes(name, own, tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.plugins.neural.neural_trainer.BATCHES_PER_BLOCK", 2)
    settings = {"threads": 1, "seed": 3, **SMALL, **own, "max_length": 5}
    whole, checkpoints = em.train(name, TEXTS, **settings), em.Checkpoints(tmp_path / "c")
    for number, checks in enumerate([3, 1, 6]):
        with interrupted_after(checks), pytest.raises(em.training.Interrupted):
            em.train(name, TEXTS, checkpoints=checkpoints, resume=number > 0, **settings)
    assert table_bytes(em.train(name, TEXTS, checkpoints=checkpoints, resume=True, **settings)) == table_bytes(whole)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", TRAINERS)
def test_a_missing_gpu_is_refused(name):
    with pytest.raises(SettingError, match="device=cuda requires a GPU"):
        em.train(name, TEXTS, device="cuda", **SMALL)


def test_commands_train_and_use_models(tmp_path):
    text, small = tmp_path / "text.txt", ["--dim", "8", "--min-count", "5", "--epochs", "2", "--threads", "2"]
    text.write_text("\n".join(TEXTS) + "\n")
    for name in TRAINERS:
        options = ["--batch-words", "100", "--device", "cpu", "--checkpoint-every", "20w"]
        expect("train", name, text, "-o", tmp_path / name, *small, *options, "--quiet")
    found = expect("substitutes", tmp_path / "context2vec", "the [] eats", "--top", 3, "--json")
    assert len(json.loads(found.stdout)) == 3
    assert expect("neighbours", tmp_path / "c2w", "catz", "--top", 3).stdout.count("\n") == 4
    assert em.load(tmp_path / "context2vec").dim == 8
