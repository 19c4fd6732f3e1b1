"""Blocks in which each window stands for one random word of it."""

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block, BlockSource, fill_block
from embeddings.kernels.jit import as_helper, entry_point
from embeddings.kernels.random_numbers import random_bits, uniform_below

fill = as_helper(fill_block)


@entry_point
def fill_sampled_block(block: Block, source: BlockSource, rng: np.ndarray) -> int:
    """`fill_block`, after which `inputs[i]` is a random word of the window of centre i, itself included."""
    read = fill(block, source, rng)
    first, last = block.cursor[FIRST], block.cursor[LAST]
    for i in range(first, last):
        offset = uniform_below(random_bits(rng[0], rng[1] + np.uint64(i - first)), block.stop[i] - block.start[i])
        block.inputs[i] = block.words[block.start[i] + offset]
    rng[1] += np.uint64(last - first)
    return read
