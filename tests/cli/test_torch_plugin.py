"""A trainer on PyTorch from another package: its optimiser's state is resumed, and models hold only its parameters."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from test_example_plugin import install

PLUGIN = Path(__file__).parents[1] / "example_torch_plugin"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="requires PyTorch: pip install torch"),
]

TRAIN = """
import numpy as np
import embeddings as em
texts = ["the cat eats", "the dog eats", "the cat sleeps", "the dog sleeps"] * 50
small = dict(dim=8, min_count=1, subsample=0, window=1, epochs=3, learning_rate=0.02)
model = em.train("neural-cbow", texts, **small)
assert set(model.tables) == {"output", "hidden"}, model.tables.keys()
assert model.record["threads"] == 1
losses = model.record["loss_by_epoch"]
assert losses[-1] < losses[0], losses
assert model.vectors.most_similar("cat", top=1)[0][0] == "dog"
more = em.continue_training(model, ["the bird eats", "the bird sleeps"] * 50)
assert "bird" in more.vectors
assert not np.array_equal(more.tables["hidden"], model.tables["hidden"])
started = em.train("neural-cbow", texts, init=em.InitFrom(model.vectors), **small | {"learning_rate": 1e-9})
np.testing.assert_allclose(started.vectors.matrix, model.vectors.matrix, atol=1e-5)
try:
    em.train("neural-cbow", texts, init=em.InitFrom(model.vectors, freeze=True), **small)
except em.errors.SettingError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, start_python):
    """A folder where the package is installed."""
    return install(PLUGIN, tmp_path_factory.mktemp("plugin"), start_python)


def test_it_trains_continues_and_starts_from_vectors(site, python):
    assert "cannot freeze" in python("-c", TRAIN, path=[site]).stdout


def test_its_command_has_its_settings(site, python):
    text = " ".join(python("-m", "embeddings", "train", "neural-cbow", "--help-all", path=[site]).stdout.split())
    assert "--batch INTEGER Windows that learn in one step." in text
    assert "--negative-sharing" in text


def test_it_fulfils_the_contract(site, python):
    code = "from embeddings.testing import check_trainer\ncheck_trainer('neural-cbow')\nprint('checked')"
    assert python("-c", code, path=[site]).stdout == "checked\n"
