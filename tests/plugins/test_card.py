"""Training on a GPU, without one: in numba's simulator, as machine code, and in an emulation of all of its warps."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError, SettingError
from embeddings.plugins.cuda import device
from embeddings.training import Replicas

TESTS = Path(__file__).parents[1]
ALL_WARPS = 2112  # of a card of 132 processors
TEXT = ["a b c d e"] * 20
card = pytest.importorskip("embeddings.plugins.cuda.card", reason="numba has no CUDA", exc_type=ImportError)
MAX_NORM = card.MAX_NORM
slow = pytest.mark.slow


def simulate(*arguments):
    """What `simulated_gpu` prints, in a process of its own."""
    if find_spec("numba.cuda") is None or find_spec("numba.cuda.simulator") is None:
        pytest.skip("numba has no simulator")
    command = [sys.executable, "-W", "ignore", str(TESTS / "simulated_gpu.py"), *arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")])),
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("number", [0, 1, pytest.param(2, marks=slow), pytest.param(3, marks=slow)])
def test_the_kernel_equals_its_naive_twin(number):
    tables, counts, changes = simulate("kernel", str(number))[0]
    assert tables < 1e-6
    assert counts < 1e-5
    assert changes > 0.05


def test_runs_on_a_simulated_card():
    results = simulate("runs")
    assert results["run"] == {
        "words": 26, "device": "a card", "threads": 1, "shape": [5, 4], "changed": True, "finite": True, "losses": 2,
    }  # fmt: skip
    for name, words in {"norms": "diverged.*norm", "number": "cuda:7.*0 to 0", "memory": "GB free"}.items():
        assert re.search(words, results[name])
        assert "device=cpu" in results[name]
        assert "\n" not in results[name]


@pytest.mark.parametrize(
    ("trainer", "settings"),
    [
        ("skipgram", {"objective": "hierarchical-softmax"}), ("skipgram", {"tie": True}), ("skipgram", {"dim": 2000}),
        ("skipgram", {"negatives": 8}), ("skipgram", {"negative_sharing": "none"}), ("cbow", {"combine": "sum"}),
        ("cbow", {"context_gradient": "exact"}), ("skipgram", {"replicas": Replicas(2)}),
        ("skipgram", {"device": "cuda:x"}), ("skipgram", {"device": "tpu"}), ("glove", {}),
    ],
)  # fmt: skip
def test_what_a_gpu_cannot_do_is_refused_in_one_line(trainer, settings):
    with pytest.raises(EmbeddingsError) as error:
        em.train(trainer, TEXT, **{"device": "cuda", "min_count": 1, **settings})
    assert "\n" not in str(error.value)
    assert next(iter(settings), "device") in str(error.value)


def test_frozen_vectors_are_refused():
    options = SimpleNamespace(replicas=None, cluster=None, init=SimpleNamespace(freeze=True))
    with pytest.raises(SettingError, match="freeze"):
        device.CudaDevice("").check(em.SkipGram(device="cuda"), options)


def test_a_machine_without_numba_cuda_gets_one_line(monkeypatch):
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"pip install 'embeddings-toolkit\[cuda\]'; use device=cpu$"):
        em.train("skipgram", TEXT, device="cuda")


def shares(words, sample=1e-4):
    """The share of each word, most frequent first, in negative samples and in subsampled text."""
    f = 1 / (np.arange(words) + 2.7)
    f /= f.sum()
    kept = f * np.minimum(1, np.sqrt(sample / f) + sample / f)
    return f**0.75 / np.sum(f**0.75), kept / kept.sum()


def largest_norm(words, warps, windows, steps=40_000, dim=8, contexts=4, rate=0.025):
    """The largest norm of a row in a run whose warps learn in lockstep, each on its copies, as on a card."""
    draws, (noise, kept) = np.random.default_rng(0), shares(words)
    drawn = [np.cumsum(one) for one in (noise, kept)]
    topics, inputs = draws.integers(0, 10, words), (draws.random((words, dim)) - 0.5) / dim
    outputs, largest = np.zeros((words, dim)), 0.0
    for done in range(0, steps, warps * windows):
        r = rate * max(1 - done / steps, 0.05)
        negatives = np.searchsorted(drawn[0], draws.random((warps, 5))).clip(0, words - 1)
        own = outputs[negatives]
        before = own.copy()
        for _ in range(windows):
            centres, *others = np.searchsorted(drawn[1], draws.random((1 + contexts, warps))).clip(0, words - 1)
            centre = outputs[centres]
            old, used = centre.copy(), negatives != centres[:, None]
            for one in others:
                h = inputs[one]
                label = (topics[one] == topics[centres]).astype(float)  # so that words differ
                g = -r / (1 + np.exp(-np.einsum("wd,wnd->wn", h, own))) * used
                g_centre = r * (label - 1 / (1 + np.exp(-np.einsum("wd,wd->w", h, centre))))
                change = np.einsum("wn,wnd->wd", g, own) + g_centre[:, None] * centre
                own = own + g[..., None] * h[:, None]
                centre = centre + g_centre[:, None] * h
                np.add.at(inputs, one, change)
            np.add.at(outputs, centres, centre - old)
        np.add.at(outputs, negatives, own - before)
        largest = max(largest, *(np.linalg.norm(one[:1000], axis=1).max() for one in (inputs, outputs)))
    return largest


@pytest.mark.parametrize("words", [100, 1000, 10_000, 100_000, 1_000_000])
def test_rows_do_not_overshoot_with_as_many_warps_as_the_rule_allows(words):
    warps = min(card.most_warps(*shares(words), 4, 5), ALL_WARPS)
    steps = 40_000 if words < 100_000 else 100_000
    assert warps > 32
    assert largest_norm(words, warps, 4, steps) < 2 * largest_norm(words, 32, 4, steps)


@pytest.mark.parametrize("windows", [4, 16])
def test_rows_of_a_tiny_vocabulary_overshoot_without_the_rule(windows):
    with np.errstate(all="ignore"):
        assert largest_norm(100, ALL_WARPS, windows) > MAX_NORM
    assert largest_norm(100, card.most_warps(*shares(100), windows, 5), windows) < MAX_NORM / 5


@slow
@pytest.mark.parametrize(
    ("shape", "registers"),
    [
        ((100, 5, 5, 4, 1, 0, 1), 128), ((100, 5, 5, 4, 1, 1, 1), 128), ((100, 5, 5, 1, 1, 0, 1), 128),
        ((300, 5, 5, 4, 1, 0, 1), 255), ((100, 7, 5, 4, 1, 0, 0), 128),
    ],
)  # fmt: skip
def test_machine_code_keeps_rows_in_registers(shape, registers, tmp_path, monkeypatch):
    pytest.importorskip("numba_cuda")
    assembler = Path(find_spec("nvidia.cuda_nvcc").submodule_search_locations[0], "bin", "ptxas")
    from numba import cuda, types
    from numba.cuda import dispatcher

    from embeddings.plugins.cuda.window_kernel import window_kernel

    capability = (9, 0) if shape[-1] else (7, 5)
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=capability))
    ids, keep, noise = types.int32[::1], types.uint32[::1], types.uint64[::1]
    table = types.float32[::1]
    arguments = ids, types.int64, keep, noise, table, table, ids, table, types.float32, types.uint64
    code, _ = cuda.compile(
        window_kernel(*shape).py_func, arguments, device=False, abi="numba", cc=capability, fastmath=True, output="ptx"
    )
    assert ("red.relaxed.gpu.global.add.v4.f32" in code) == bool(shape[-1])
    assert "ld.global.cg.v4.f32" in code
    (tmp_path / "kernel.ptx").write_text(code)
    command = [assembler, "-v", f"-arch=sm_{capability[0]}{capability[1]}", "kernel.ptx", "-o", "kernel.cubin"]
    report = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in report
    assert int(re.search(r"Used (\d+) registers", report)[1]) <= registers
