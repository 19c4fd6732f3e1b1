"""Arrays of threads share no cache line."""

import numpy as np
import pytest

from embeddings.kernels.block import new_block
from embeddings.kernels.step_buffers import new_step_buffers, with_row_caches

LINE = 64  # bytes
TABLE = np.zeros((5, 16), np.float32)


def lines_of(array):
    """The cache lines of an array."""
    start = array.ctypes.data
    return set(range(start // LINE, -(-(start + array.nbytes) // LINE)))


def written_arrays(kind):
    """The arrays that a thread writes to in every step."""
    if kind == "buffers":
        buffers = new_step_buffers(3, 20, 16, contexts=2, rows=2)
        return [array for array in buffers if isinstance(array, np.ndarray) and array.nbytes]
    if kind == "caches":
        buffers = with_row_caches(new_step_buffers(1, 2, 16), TABLE, TABLE)
        return [*buffers.input_cache, *buffers.output_cache]
    return [new_block(5, 2, 100).cursor]


@pytest.mark.parametrize("kind", ["buffers", "caches", "cursor"])
def test_threads_write_to_different_cache_lines(kind):
    threads = [written_arrays(kind) for _ in range(9)]
    lines = [set().union(*map(lines_of, arrays)) for arrays in threads]
    assert all(lines)
    assert sum(map(len, lines)) == len(set().union(*lines))
