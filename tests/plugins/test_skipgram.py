"""Skip-gram: the trainer contract, whole blocks against the twin, and steps against numerical gradients."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    BLOCK_TOLERANCE,
    POSITIONS,
    SMALL_VOCABULARY,
    block_and_tables,
    check_gradients,
    position_and_block,
    small_table,
    tallying_buffers,
    windows_of,
)

import embeddings as em
from embeddings.errors import SettingError
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.row_operations import UPDATE_TILE
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import skipgram
from embeddings.testing import check_trainer
from embeddings.testing.trainer_contract import synonym_corpus


@pytest.mark.parametrize(
    "settings",
    [
        {"negative_sharing": "none"},
        *(
            pytest.param(settings, marks=pytest.mark.slow)
            for settings in ({"negatives": 1}, {"negatives": 20}, {"dim": 33}, {"window": 9})
        ),
    ],
    ids=str,
)
def test_contract(settings):
    check_trainer(em.SkipGram, **settings)


def test_pairs_with_their_own_negative_samples_limit_the_window():
    assert em.SkipGram(negative_sharing="none", window=1000).window == 1000
    assert em.SkipGram(window=1001).window == 1001
    with pytest.raises(SettingError, match=r"2 x window x negatives.*10000.*10010"):
        em.SkipGram(negative_sharing="none", window=1001)


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("in_pairs", [False, True], ids=["windows", "pairs"])
def test_block_equals_the_twins(in_pairs, dtype, negatives):
    """A pair has its own negative samples and is a step of its own."""
    block, words, output = block_and_tables(dtype, 10 * negatives if in_pairs else negatives)
    buffers = tallying_buffers(1 if in_pairs else 10, 1 + negatives, words.width, dtype, contexts=10)
    kernel = skipgram.learn_pairs if in_pairs else skipgram.learn_block
    kernel(block, skipgram.SkipGramOperands(words.table, NegativeSamples(output.table, negatives)), buffers, 0.05)
    windows = windows_of(block)
    windows = naive.single_context_windows(windows, negatives) if in_pairs else windows
    loss, pairs = naive.skipgram(words.twin, output.twin, windows, 0.05, tile=UPDATE_TILE)
    words.check(BLOCK_TOLERANCE[dtype])
    output.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-4)


def test_the_loss_of_one_window_in_64_is_tallied():
    """The sampled loss is that of every 64th window of the twin, counting from `UNTIL_SAMPLE`."""
    block, words, output = block_and_tables(np.float64, 5)
    buffers = new_step_buffers(10, 6, words.width, dtype=np.float64)
    buffers.tally[UNTIL_SAMPLE] = 17
    skipgram.learn_block(block, skipgram.SkipGramOperands(words.table, NegativeSamples(output.table, 5)), buffers, 0.05)
    losses = [
        naive.skipgram(words.twin, output.twin, [window], 0.05, tile=UPDATE_TILE)
        for window in windows_of(block)
        if window[1]
    ]
    loss, pairs = np.sum(losses[17::64], axis=0)
    assert buffers.tally[EXAMPLES] == pairs > 10
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-10)


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_steps_are_gradient_steps(position, is_tied):
    """Also where a word is both a context and a negative sample of tied tables."""
    rng = np.random.default_rng(3)
    words = small_table(rng, SMALL_VOCABULARY)
    output = words if is_tied else small_table(rng, SMALL_VOCABULARY)
    block, _ = position_and_block(*position)
    windows = windows_of(block)
    check_gradients(
        skipgram.learn_block,
        block,
        skipgram.SkipGramOperands(words, NegativeSamples(output, block.noise.shape[1])),
        new_step_buffers(10, 5, words.shape[1], dtype=np.float64),
        lambda: naive.skipgram_loss(words, output, windows),
        (words,) if is_tied else (words, output),
    )


@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_tied_vectors_cannot_be_frozen(trainer):
    first = em.train(trainer, synonym_corpus(), dim=8, min_count=1, epochs=1, threads=1)
    with pytest.raises(SettingError, match="cannot freeze word vectors with these settings"):
        em.train(trainer, synonym_corpus(), dim=8, tie=True, init=em.InitFrom(first, freeze=True))


@pytest.mark.parametrize("position", [([3, 3], 0, 0, 2, [1, 3]), ([0, 4], 1, 0, 2, [8, 8]), ([2, 6], 0, 0, 2, [6, 2])])
def test_steps_of_pairs_are_gradient_steps(position):
    """A block of one pair: several would be several steps."""
    rng = np.random.default_rng(3)
    words, output = (small_table(rng, SMALL_VOCABULARY) for _ in range(2))
    block, _ = position_and_block(*position)
    windows = windows_of(block)
    check_gradients(
        skipgram.learn_pairs,
        block,
        skipgram.SkipGramOperands(words, NegativeSamples(output, 2)),
        new_step_buffers(1, 3, words.shape[1], contexts=2, dtype=np.float64),
        lambda: naive.skipgram_loss(words, output, windows),
        (words, output),
    )


@pytest.mark.parametrize(
    ("trainer", "settings"), [("skipgram", {}), ("skipgram", {"negative_sharing": "none"}), ("cbow", {})]
)
def test_a_tied_model_has_one_table(trainer, settings):
    settings = {"dim": 8, "min_count": 1, "epochs": 1, "threads": 1, "tie": True, **settings}
    model = em.train(trainer, synonym_corpus(), **settings)
    assert model.tables == {}
    assert model.predict_output_word(["before1"], top=3)
    continued = em.continue_training(model, synonym_corpus(), threads=1)
    assert continued.tables == {}
    with pytest.raises(SettingError, match="tie must be True, as in the model, got False"):
        em.continue_training(model, synonym_corpus(), tie=False)
