"""The objective of distillation: a text has the direction of its teacher's vector. Compiled."""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.sparse_steps import StepRates
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.text_batch import TextBatch


class TeacherCosine(NamedTuple):
    """targets: float32 (all texts, width), the teacher's vector of each text, whose norm is the weight of the text."""

    targets: np.ndarray


@implements(TeacherCosine)
@inline
def learn_teacher_cosine(
    operand: TeacherCosine, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates
) -> float:
    """Loss |t| - u t for the unit vector u of a text and its target t: |t| times 1 - the cosine.

    The gradient of the mean loss with respect to u is -t / size.
    """
    loss = 0.0
    for k in range(size):
        target, unit, gradient = operand.targets[block.pairs[k]], batch.units[k], batch.unit_gradients[k]
        product, square = unit.dtype.type(0), unit.dtype.type(0)
        share = unit.dtype.type(1) / unit.dtype.type(size)
        for d in range(unit.shape[0]):
            product += unit[d] * target[d]
            square += target[d] * target[d]
            gradient[d] -= share * target[d]
        loss += np.sqrt(np.float64(square)) - np.float64(product)
    return loss
