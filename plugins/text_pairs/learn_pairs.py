"""The kernel: the texts of a batch are sums of the rows of words; an objective over their directions moves the rows."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.sparse_steps import StepRates, prefetch_row, step_rates, step_row
from embeddings.kernels.step_buffers import EXAMPLES, LOSS, STEPS, StepBuffers
from embeddings.plugins.text_pairs.pair_objective import learn_units
from embeddings.plugins.text_pairs.pair_stream import FILLED, PairBlock
from embeddings.plugins.text_pairs.subword_batch import (
    SubwordBatch,
    compose_words,
    keep_word_gradient,
    step_ngrams,
)
from embeddings.plugins.text_pairs.text_batch import (
    PairTexts,
    TextBatch,
    backprop_norms,
    gather_words,
    group_texts_by_word,
    map_sums,
    normalize_outputs,
    step_map,
    step_weight,
    sum_word_gradients,
    sum_words,
)

PREFETCH_DISTANCE = 3  # rows


class Operands(NamedTuple):
    """What one thread works on.

    words, weights, map: `AdamRows` or `AdaGradRows` of the rows of words, their weights, and the linear map; the latter
    two are empty if there are none.
    subwords: the n-grams of words, if they have any.
    dims: int64 (n,), the numbers of leading components that are trained as vectors of their own.
    objective: the operand of a `PairObjective`.
    """

    texts: PairTexts
    batch: TextBatch
    words: Any
    subwords: SubwordBatch
    weights: Any
    map: Any
    dims: np.ndarray
    objective: Any


@entry_point
def learn_pairs(block: PairBlock, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """One step for a batch of pairs; its loss is the mean of that of all dims (Kusupati et al. 2022)."""
    size, batch, sides = block.cursor[FILLED], operands.batch, operands.texts.sides
    if size == 0:
        return
    texts, loss = size * sides, 0.0
    rates = step_rates(rate, buffers.tally[STEPS] + 1)
    gather_words(batch, operands.texts, block, size)
    rows = operands.words.values
    if operands.subwords.is_composed.shape[0] > 0:
        compose_words(operands.subwords, batch, operands.words.values, texts)
        rows = operands.subwords.composed
    sum_words(batch, rows, operands.weights.values, texts)
    map_sums(batch, operands.map.values, texts)
    batch.output_gradients[:texts] = 0
    share = 1 / operands.dims.shape[0]
    for n in range(operands.dims.shape[0]):
        normalize_outputs(batch, texts, operands.dims[n])
        batch.unit_gradients[:texts] = 0
        loss += share * learn_units(operands.objective, batch, block, size, sides, rates)
        backprop_norms(batch, texts, operands.dims[n], share)
    step_map(batch, operands.map, texts, rates)
    step_words(operands, rows, buffers.frozen, texts, rates)
    buffers.tally[LOSS] += loss
    buffers.tally[EXAMPLES] += size
    buffers.tally[STEPS] += 1


@inline
def step_words(operands: Operands, rows: np.ndarray, frozen: np.ndarray, texts: int, rates: StepRates) -> None:
    """One step of the row of each word of the batch, of its weight if there are weights, and of its n-grams.

    rows: those that texts are sums of.
    """
    batch, words, subwords = operands.batch, operands.words, operands.subwords
    n, has_weights = group_texts_by_word(batch, texts), operands.weights.values.shape[0] > 0
    for i in range(n):
        if i + PREFETCH_DISTANCE < n:
            prefetch_row(words, batch.touched[i + PREFETCH_DISTANCE])
        row = batch.touched[i]
        sum_word_gradients(batch, i, words.values.shape[1])
        if has_weights:
            step_weight(batch, rows, operands.weights, row, rates)
        keep_word_gradient(subwords, i, row, batch.gradient[0])
        if frozen.shape[0] == 0 or not frozen[row]:
            step_row(words, row, batch.gradient[0], rates)
    step_ngrams(subwords, batch, n, rates)
