"""Reductions across lanes for every vector width, and the kernels on other CPUs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from embeddings.compilation.vector_emitter import fold_order, folds

CPUS = {
    "sse2": {"NUMBA_CPU_NAME": "nocona", "NUMBA_CPU_FEATURES": "+sse2"},
    "avx2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
}
VECTOR_BYTES = {"sse2": 16, "avx2": 32}


@pytest.mark.parametrize(("lanes", "group"), [(4, 4), (2, 2), (8, 4), (4, 2), (16, 4), (8, 2)])
def test_folds_sum_lanes_in_order(lanes, group):
    sums = np.random.default_rng(lanes).integers(0, 100, (lanes, lanes))
    slots = [sums[i] for i in fold_order(lanes, group)]
    for even, odd in folds(lanes, group):
        pairs = [np.concatenate(pair) for pair in zip(slots[::2], slots[1::2], strict=True)]
        slots = [pair[even] + pair[odd] for pair in pairs]
    assert len(slots) == 1
    np.testing.assert_array_equal(slots[0], sums.sum(axis=1))


@pytest.mark.parametrize(("cpu", "size"), [("x86-64-v4", 64), ("x86-64-v3", 32), ("nocona", 16)])
def test_the_vectors_of_a_named_cpu_without_features(cpu, size, python):
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64":
        pytest.skip("these are x86 CPUs")
    code = "from embeddings.compilation import vector_emitter; print(vector_emitter.VECTOR_BYTES)"
    assert int(python("-c", code, NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES="").stdout) == size


@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
def test_kernels_on_another_cpu(cpu, python):
    """Row operations, steps and gradients again, compiled for a CPU with shorter vectors."""
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64":
        pytest.skip("these are x86 CPUs")
    code = "from embeddings.compilation import vector_emitter; print(vector_emitter.VECTOR_BYTES)"
    assert int(python("-c", code, **CPUS[cpu]).stdout) == VECTOR_BYTES[cpu]
    names = ["test_row_operations.py", "test_gradient_steps.py", "test_logistic.py"]
    tests = [*(Path(__file__).parents[1] / "kernels" / name for name in names)]
    tests.append(Path(__file__).parents[1] / "plugins" / "test_window_models.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, tests)]
    finished = subprocess.run(command, env={**os.environ, **CPUS[cpu]}, capture_output=True, text=True, timeout=900)
    assert finished.returncode == 0, finished.stdout[-4000:]
