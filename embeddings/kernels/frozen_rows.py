"""Frozen rows of a table: steps update a sink row in place of them."""

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import inline, noinline
from embeddings.kernels.separate_arrays import separate_zeros

TABLE_ADDRESS, ROW_BYTES, SINK_ADDRESS = range(3)  # of `StepBuffers.frozen_sink`
SINK_START = 8  # int64 items before the sink row: a cache line
NO_ROW_FROZEN = np.zeros(0, np.bool_)


def sink_of(table: np.ndarray) -> np.ndarray:
    """The `frozen_sink` of a table."""
    words = table.shape[1] * table.itemsize // 8
    sink = separate_zeros((1, SINK_START + words), np.int64).reshape(-1)
    sink[TABLE_ADDRESS], sink[ROW_BYTES] = table.ctypes.data, table.strides[0]
    sink[SINK_ADDRESS] = sink.ctypes.data + SINK_START * 8
    register_rows(sink[SINK_START:].reshape(1, -1), sink)
    return sink


@inline
def mask_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Prevent updates of the frozen rows among m rows."""
    if frozen.shape[0] > 0:
        redirect_frozen(frozen, sink, rows, m)


@noinline
def redirect_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Replace the addresses of frozen rows by the address of the sink row."""
    for j in range(m):
        row = (rows[j] - sink[TABLE_ADDRESS]) // sink[ROW_BYTES]
        if 0 <= row < frozen.shape[0] and frozen[row]:
            rows[j] = sink[SINK_ADDRESS]
