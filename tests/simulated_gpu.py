"""Runs the plugin for a GPU in numba's simulator, whose warp and block are 32 threads; prints what a test compares.

It is a program, since numba simulates only if `NUMBA_ENABLE_CUDASIM` is set before it is imported.
"""

# ruff: noqa: E402
import json
import os
import sys
from types import SimpleNamespace
from unittest import mock

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
import simulated_warp

sys.modules["embeddings.plugins.cuda.warp"] = simulated_warp

from naive_gpu import Shape, learn_chunk
from numba import cuda

import embeddings as em
from embeddings.kernels.block import BlockSource, keep_thresholds
from embeddings.kernels.random_numbers import alias_table
from embeddings.plugins.cuda import card, device, window_kernel
from embeddings.plugins.cuda.window_kernel import NEW_LINE, row_width

window_kernel.CHUNK = card.CHUNK = 32  # as many words as threads: the simulator is slow
TEXT = ["a b c d e", "b c a", "d e a b c"]
SETTINGS = {"dim": 4, "min_count": 1, "subsample": 0, "epochs": 1, "window": 1, "negatives": 2, "progress": False}
SHAPES = [
    Shape(10, 5, 2, 4, 1, 0), Shape(140, 3, 1, 1, 0, 1), Shape(3, 7, 1, 4, 1, 1), Shape(3, 2, 1, 1, 1, 0)
]  # fmt: skip


def kernel_errors(shape):
    """The largest difference of tables and of counts to the naive twin, and the largest change."""
    draws, words, base, key = np.random.default_rng(0), 7, 61, 2**63 + 123456789
    ids, lines = draws.integers(0, words + 1, 14).astype(np.int32), np.array([6, 6, 9])
    noise = alias_table(np.arange(1, words + 1))
    source = BlockSource(ids, lines, keep_thresholds(np.full(words, 0.8)), noise, shape.window, True, 8)
    tables = np.zeros((2, words, row_width(shape.dim)), np.float32)
    tables[..., : shape.dim] = draws.normal(size=(2, words, shape.dim)) * 0.3
    expected, learned, counts = tables.astype(float), tables.copy(), np.zeros(3, np.float32)
    marked = ids.copy()
    marked[lines] |= NEW_LINE
    with np.errstate(over="ignore"):
        window_kernel.window_kernel(*shape)[1, 32](
            marked, base, source.keep_thresholds, source.noise, *learned.reshape(2, -1), np.zeros(1, np.int32), counts,
            np.float32(0.1), np.uint64(key),
        )  # fmt: skip
    total = learn_chunk(shape, ids, lines, base, key, source, *expected, 0.1)
    changes = learned - expected, counts - total, expected - tables
    return [float(np.abs(one).max()) for one in changes]


def simulated_card(name="a card", free=10**9, processors=1):
    """Makes numba's simulator say what the plugin asks of a card."""
    found = SimpleNamespace(name=name, compute_capability=(7, 5), MULTIPROCESSOR_COUNT=processors)
    context = SimpleNamespace(get_memory_info=lambda: SimpleNamespace(free=free))
    return mock.patch.multiple(
        cuda, create=True, get_current_device=lambda: found, current_context=lambda: context,
        select_device=lambda number: None,
    )  # fmt: skip


def outcome(trainer, **changes):
    """What a run on the simulated card gives: its record, or its error."""
    try:
        with np.errstate(over="ignore"):
            model = em.train(trainer, TEXT, **{"device": "cuda", **SETTINGS, **changes})
    except em.EmbeddingsError as error:
        return f"{type(error).__name__}: {error}"
    return {
        "words": model.record["words"], "device": model.record["device"], "threads": model.record["threads"],
        "shape": model.vectors.matrix.shape, "changed": bool(np.any(model.tables["output"])),
        "finite": bool(np.isfinite(model.vectors.matrix).all()), "losses": len(model.record["loss_by_epoch"]),
    }  # fmt: skip


def runs():
    """Runs and refusals on the simulated card."""
    results = {}
    with simulated_card(), mock.patch.multiple(card, THREADS=32, PART=7), mock.patch.object(device, "find_spec"):
        results["run"] = outcome("skipgram", epochs=2)
        with mock.patch.object(card, "MAX_NORM", 1e-6):
            results["norms"] = outcome("skipgram")
        results["number"] = outcome("cbow", device="cuda:7")
        with simulated_card(free=100):
            results["memory"] = outcome("skipgram")
    return results


if __name__ == "__main__":
    print(json.dumps([kernel_errors(SHAPES[int(sys.argv[2])])] if sys.argv[1] == "kernel" else runs()))  # noqa: T201
