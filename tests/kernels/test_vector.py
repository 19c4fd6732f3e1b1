"""Totals across lanes for every register that a machine may have; and the kernels on other machines."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from embeddings.kernels.vector_emitter import fold_order, folds

MACHINES = {
    "sse2": {"NUMBA_CPU_NAME": "nocona", "NUMBA_CPU_FEATURES": "+sse2"},
    "avx2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
}
BYTES = {"sse2": 16, "avx2": 32}


@pytest.mark.parametrize(("lanes", "group"), [(4, 4), (2, 2), (8, 4), (4, 2), (16, 4), (8, 2)])
def test_folding_gives_totals_in_order(lanes, group):
    sums = np.random.default_rng(lanes).integers(0, 100, (lanes, lanes))
    slots = [sums[i] for i in fold_order(lanes, group)]
    for even, odd in folds(lanes, group):
        pairs = [np.concatenate(pair) for pair in zip(slots[::2], slots[1::2], strict=True)]
        slots = [pair[even] + pair[odd] for pair in pairs]
    assert len(slots) == 1
    np.testing.assert_array_equal(slots[0], sums.sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_on_another_machine(machine, python):
    """The arithmetic and the gradients again, compiled for a processor with shorter registers."""
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64":
        pytest.skip("these are x86 processors")
    found = python("-c", "from embeddings.kernels import vector; print(vector.BYTES)", **MACHINES[machine])
    assert int(found.stdout) == BYTES[machine]
    here = Path(__file__).parent
    tests = [here / "test_rows.py", here / "test_gradient.py", here / "test_loss.py"]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, tests)],
        env={**os.environ, **MACHINES[machine]},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert finished.returncode == 0, finished.stdout[-4000:]
