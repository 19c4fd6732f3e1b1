"""The kernel: the texts of a batch are sums of the rows of words; an objective over their directions moves the rows."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point
from embeddings.kernels.sparse_steps import step_rates
from embeddings.kernels.step_buffers import EXAMPLES, LOSS, STEPS, StepBuffers
from embeddings.plugins.text_pairs.pair_objective import learn_units
from embeddings.plugins.text_pairs.pair_stream import FILLED, PairBlock
from embeddings.plugins.text_pairs.text_batch import (
    PairTexts,
    TextBatch,
    backprop_norms,
    gather_words,
    map_sums,
    normalize_outputs,
    step_map,
    step_words,
    sum_words,
)


class Operands(NamedTuple):
    """What one thread works on.

    words, weights, map: `AdamRows` or `AdaGradRows` of the rows of words, their weights, and the linear map; the latter
    two are empty if there are none.
    dims: int64 (n,), the numbers of leading components that are trained as vectors of their own.
    objective: the operand of a `PairObjective`.
    """

    texts: PairTexts
    batch: TextBatch
    words: Any
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
    sum_words(batch, operands.words.values, operands.weights.values, texts)
    map_sums(batch, operands.map.values, texts)
    batch.output_gradients[:texts] = 0
    share = 1 / operands.dims.shape[0]
    for n in range(operands.dims.shape[0]):
        normalize_outputs(batch, texts, operands.dims[n])
        batch.unit_gradients[:texts] = 0
        loss += share * learn_units(operands.objective, batch, block, size, sides, rates)
        backprop_norms(batch, texts, operands.dims[n], share)
    step_map(batch, operands.map, texts, rates)
    step_words(batch, operands.words, operands.weights, buffers.frozen, texts, rates)
    buffers.tally[LOSS] += loss
    buffers.tally[EXAMPLES] += size
    buffers.tally[STEPS] += 1
