"""Models of windows of words: the trainer contract, blocks against twins, and steps against numerical gradients."""

from collections.abc import Callable
from typing import NamedTuple

import kernel_helpers as helpers
import naive
import numpy as np
import pytest
from kernel_helpers import BLOCK_TOLERANCE, DIM, POSITIONS, SMALL_VOCABULARY, VOCABULARY, positions_of, windows_of

import embeddings as em
from embeddings.errors import SettingError
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import cbow, continuous_window, skipgram, structured_skipgram
from embeddings.testing import check_trainer
from embeddings.testing.trainer_contract import synonym_corpus

SLOW_CONTRACTS = [
    (em.SkipGram, {"negatives": 1}),
    (em.SkipGram, {"negatives": 20}),
    (em.SkipGram, {"dim": 33}),
    (em.SkipGram, {"window": 9}),
    (em.CBOW, {"combine": "sum"}),
    (em.CBOW, {"shrink_window": False}),
    (em.CBOW, {"negatives": 20}),
]


@pytest.mark.parametrize(
    ("trainer", "settings"),
    [
        (em.SkipGram, {"negative_sharing": "none"}),
        (em.CBOW, {"context_gradient": "exact", "learning_rate": 0.15}),
        *(pytest.param(*contract, marks=pytest.mark.slow) for contract in SLOW_CONTRACTS),
    ],
    ids=str,
)
def test_contract(trainer, settings):
    check_trainer(trainer, **settings)


class WindowModel(NamedTuple):
    """The kernel of a model, and its twin, a function of two tables, a block, the number of negatives and the rate."""

    kernel: Callable
    operands: Callable  # of the table of words and the objective
    twin: Callable
    slots: int = 1  # output rows of a word
    is_concatenated: bool = False
    windows_per_draw: int = 1
    draws: int = 1  # of all negative samples for a window

    def by_word(self, output):
        """The output rows as a table with a row for each word, if the kernel reads them so."""
        return output.reshape(len(output) // self.slots, -1) if self.is_concatenated else output

    def buffers(self, negatives, width, dtype):
        if self.is_concatenated:
            return new_window_buffers(self.windows_per_draw, negatives, width, slots=self.slots, dtype=dtype)
        return new_step_buffers(10, 1 + negatives, width, contexts=10, rows=2, dtype=dtype)

    def learn(self, block, words, output, buffers, rate):
        """Run the kernel with as many negative samples for a target as a window of the block has for each draw."""
        objective = NegativeSamples(self.by_word(output), block.noise.shape[1] // self.draws)
        self.kernel(block, self.operands(words, objective), buffers, rate)


def pairs_twin(words, output, block, negatives, rate):
    return naive.skipgram(words, output, naive.single_context_windows(windows_of(block), negatives), rate)


def cbow_model(mean, exact):
    return WindowModel(
        cbow.learn_block,
        lambda words, objective: cbow.CBOWOperands(words, objective, mean, exact),
        lambda words, output, block, _, rate: naive.cbow(
            words, output, windows_of(block), rate, mean=mean, exact=exact
        ),
    )


def slot_model(reach):
    """Structured and directional skip-gram: a slot for each range of offsets."""

    def twin(words, output, block, _, rate):
        by_slot = output.reshape(len(output) // len(reach), len(reach), -1)
        return naive.structured_skipgram(words, by_slot, positions_of(block), reach, rate)

    return WindowModel(
        structured_skipgram.learn_block,
        lambda words, objective: structured_skipgram.SlotOperands(words, objective, reach),
        twin,
        slots=len(reach),
    )


def continuous_model(windows_per_draw):
    def twin(words, output, block, _, rate):
        table, positions = output.reshape(len(output) // 10, -1), positions_of(block)
        return naive.continuous_window(words, table, positions, 5, rate, windows_per_draw=windows_per_draw)

    return WindowModel(
        continuous_window.learn_block,
        lambda words, objective: continuous_window.ContinuousWindowOperands(words, objective, 5, windows_per_draw),
        twin,
        slots=10,
        is_concatenated=True,
        windows_per_draw=windows_per_draw,
    )


MODELS = {
    "skipgram": WindowModel(
        skipgram.learn_block,
        skipgram.SkipGramOperands,
        lambda words, output, block, _, rate: naive.skipgram(words, output, windows_of(block), rate),
    ),
    "pairs": WindowModel(skipgram.learn_pairs, skipgram.SkipGramOperands, pairs_twin, draws=10),
    "cbow": cbow_model(True, False),
    "exact cbow": cbow_model(True, True),
    "cbow of sums": cbow_model(False, False),
    "exact cbow of sums": cbow_model(False, True),
    "structured": slot_model(np.array([[offset, offset] for offset in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)])),
    "directional": slot_model(np.array([[-5, -1], [1, 5]])),
    "continuous": continuous_model(1),
    "continuous in batches": continuous_model(8),
}


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_block_equals_the_twins(model, dtype, negatives):
    block, words, _ = helpers.block_and_tables(dtype, negatives * model.draws, windows_per_draw=model.windows_per_draw)
    output = helpers.rows(np.random.default_rng(1), VOCABULARY * model.slots, DIM, dtype, scale=0.4)
    buffers = model.buffers(negatives, words.width, dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    model.learn(block, words.table, output.table, buffers, 0.05)
    loss, pairs = model.twin(words.twin, output.twin, block, negatives, 0.05)
    words.check(BLOCK_TOLERANCE[dtype])
    output.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs > 100
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-4)


PAIR_POSITIONS = [([3, 3], 0, 0, 2, [1, 3]), ([0, 4], 1, 0, 2, [8, 8]), ([2, 6], 0, 0, 2, [6, 2])]
EXACT = ["skipgram", "exact cbow", "exact cbow of sums", "structured", "directional", "continuous"]


STEPS = [(name, position, False) for name in EXACT for position in POSITIONS.values()]
STEPS += [(name, position, True) for name in EXACT[:3] for position in POSITIONS.values()]
STEPS += [("pairs", position, False) for position in PAIR_POSITIONS]


@pytest.mark.parametrize(("name", "position", "is_tied"), STEPS)
def test_steps_are_gradient_steps(name, position, is_tied):
    """Also where a word is both a context and a negative sample of tied tables; a block of pairs is one pair."""
    model, rng = MODELS[name]._replace(draws=1), np.random.default_rng(3)
    words, output = (helpers.small_table(rng, SMALL_VOCABULARY * slots) for slots in (1, model.slots))
    output = words if is_tied else output
    block, _ = helpers.position_and_block(*position)
    negatives = block.noise.shape[1]
    helpers.check_gradients(
        lambda block, arguments, buffers, rate: model.learn(block, words, output, buffers, rate),
        block,
        None,
        model.buffers(negatives, words.shape[1], np.float64),
        lambda: model.twin(words, output, block, negatives, 0)[0],
        (words,) if is_tied else (words, output),
    )


def test_the_loss_of_one_window_in_64_is_tallied():
    """The sampled loss is that of every 64th window of the twin, counting from `UNTIL_SAMPLE`."""
    block, words, output = helpers.block_and_tables(np.float64, 5)
    buffers = new_step_buffers(10, 6, words.width, dtype=np.float64)
    buffers.tally[UNTIL_SAMPLE] = 17
    MODELS["skipgram"].learn(block, words.table, output.table, buffers, 0.05)
    windows = [window for window in windows_of(block) if window[1]]
    losses = [naive.skipgram(words.twin, output.twin, [window], 0.05) for window in windows]
    loss, pairs = np.sum(losses[17::64], axis=0)
    assert buffers.tally[EXAMPLES] == pairs > 10
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-10)


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("name", ["continuous", "continuous in batches"])
def test_the_tallied_loss_of_a_batch_covers_all_its_windows(name, first):
    """With zero output vectors each target costs log 2: the centre, and negative samples other than the centre."""
    model = MODELS[name]
    block, words, _ = helpers.block_and_tables(np.float64, 5, windows_per_draw=model.windows_per_draw)
    buffers = model.buffers(5, words.width, np.float64)
    buffers.tally[UNTIL_SAMPLE] = first
    model.learn(block, words.table, separate_zeros((VOCABULARY * 10, words.width), np.float64), buffers, 0.0)
    noise = np.mean([(row != word).sum() for row, word in zip(block.noise, block.words, strict=True)])
    assert buffers.tally[EXAMPLES] >= model.windows_per_draw
    assert buffers.tally[LOSS] / buffers.tally[EXAMPLES] == pytest.approx((1 + noise) * np.log(2), rel=0.2)


def test_pairs_with_their_own_negative_samples_limit_the_window():
    assert em.SkipGram(negative_sharing="none", window=1000).window == 1000
    assert em.SkipGram(window=1001).window == 1001
    with pytest.raises(SettingError, match=r"2 x window x negatives.*10000.*10010"):
        em.SkipGram(negative_sharing="none", window=1001)


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
    with pytest.raises(SettingError, match="cannot freeze word vectors with these settings"):
        em.train(trainer, synonym_corpus(), **settings, init=em.InitFrom(model, freeze=True))
