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

from naive_gpu import Shape, kernel_errors
from numba import cuda

import embeddings as em
from embeddings.plugins.cuda import card, device, window_kernel

window_kernel.CHUNK = card.CHUNK = 32  # as many words as threads: the simulator is slow
TEXT = ["a b c d e", "b c a", "d e a b c"]
SETTINGS = {"dim": 4, "min_count": 1, "subsample": 0, "epochs": 1, "window": 1, "negatives": 2, "progress": False}
SHAPES = [
    Shape(10, 5, 2, 4, 1, 0), Shape(140, 3, 1, 1, 0, 1), Shape(3, 7, 1, 4, 1, 1), Shape(3, 2, 1, 1, 1, 0)
]  # fmt: skip


def compare(shape):
    """The errors of the kernel on a few words."""
    ids = np.random.default_rng(0).integers(0, 8, 14).astype(np.int32)
    return kernel_errors(window_kernel.window_kernel(*shape)[1, 32], shape, ids, np.array([6, 6, 9]), 7, 0.1, 32)


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
    print(json.dumps([compare(SHAPES[int(sys.argv[2])])] if sys.argv[1] == "kernel" else runs()))  # noqa: T201
