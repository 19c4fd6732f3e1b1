"""The objective of the page "Your own objective", read from the page, learns what it says."""

import importlib
import sys
from dataclasses import fields

import numpy as np
import pytest
from test_guides import blocks

from embeddings.errors import SettingError
from embeddings.kernels.block import FILLED, FIRST, LAST, new_block
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins.skipgram import SkipGram, SkipGramOperands, learn_block
from embeddings.testing import check_trainer


@pytest.fixture(scope="module")
def margin(tmp_path_factory):
    """The module of the page."""
    (code,) = (one.code for one in blocks("docs/extending/objective.md") if one.title == "margin_skipgram.py")
    folder = tmp_path_factory.mktemp("objective")
    (folder / "margin_skipgram.py").write_text(code, encoding="utf-8")
    sys.path.insert(0, str(folder))
    sys.modules.pop("margin_skipgram", None)
    yield importlib.import_module("margin_skipgram")
    sys.path.remove(str(folder))
    del sys.modules["margin_skipgram"]


@pytest.mark.parametrize("noise", [(2, 3), (1, 3)], ids=["different", "the word itself"])
@pytest.mark.parametrize("size", [1.0, 0.1], ids=["all violated", "some violated"])
def test_a_step_is_that_of_numpy(margin, noise, size):
    block = new_block(window=1, noise=2)
    block.words[:2] = 0, 1
    block.start[1], block.stop[1] = 0, 2
    block.noise[1] = noise
    block.cursor[[FIRST, LAST, FILLED]] = 1, 2, 2
    words, output = np.random.default_rng(0).normal(0, 0.3, (2, 4, 16)).astype(np.float32)
    x, before = words[0].copy(), output.copy()
    operands = SkipGramOperands(words, margin.MarginOperand(output, 2, np.float32(size)))
    learn_block(block, operands, new_step_buffers(inputs=2, targets=3, width=16, contexts=2), 0.1)

    steps = np.zeros(4)
    for word in noise:
        if word != 1 and size - x @ before[1] + x @ before[word] > 0:
            steps[word] -= 0.1
            steps[1] += 0.1
    assert steps.any()
    assert np.allclose(output, before + np.outer(steps, x), atol=1e-6)
    assert np.allclose(words[0], x + steps @ before, atol=1e-6)


def test_settings_of_other_objectives_are_dropped(margin):
    own, inherited = ({field.name for field in fields(kind)} for kind in (margin.MarginSkipGram, SkipGram))
    assert own - inherited == {"margin"}
    assert inherited - own == {"objective", "nce_normalizer", "proposals", "target_in_sample", "cutoffs"}
    with pytest.raises(SettingError, match="objective"):
        margin.MarginSkipGram(objective="nce")


@pytest.mark.slow
def test_it_keeps_the_contract_of_trainers(margin):
    check_trainer(margin.MarginSkipGram)
