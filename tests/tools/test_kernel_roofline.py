"""The measurement of kernels on a small text, and its parts against the kernels themselves."""

import numpy as np
import pytest
from studies import kernel_roofline
from studies.grid import read_rows
from study import main

import embeddings as em
from embeddings import registry
from embeddings.kernels.block import FIRST, LAST, fill_block
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.training.training_data import prepare

LIMITS = {"flops": 100.0, "L1 cache": 90.0, "L2 cache": 50.0, "L3 cache": 20.0, "memory": 10.0}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    words = np.random.default_rng(1).integers(0, 30, 4000)
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(" ".join(f"w{word}" for word in line) for line in words.reshape(-1, 40)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_all_stages_together_are_the_kernel(text, trainer):
    settings = registry.create("trainer", trainer, {"dim": 16})
    plan = settings.plan(prepare(settings, em.Corpus(text), threads=1))
    random, block, tables = np.array([1, 0], np.uint64), plan.stream.new_block(), [plan.allocate(1), plan.allocate(1)]
    kernel_roofline.rewind(block, plan.stream.source, 0, 4000)
    fill_block(block, plan.stream.source, random)
    for arrays, is_whole in zip(tables, (True, False), strict=True):
        samples = NegativeSamples(arrays["output"], settings.negatives)
        operands = arrays["words"], samples, plan.buffers(), trainer == "cbow"
        before = {name: array.copy() for name, array in arrays.items()}
        kernel_roofline.run_stages(block, *operands, kernel_roofline.STEPS)
        assert all((arrays[name] == array).all() for name, array in before.items())  # rows are only read
        if is_whole:
            plan.kernel(block, plan.operands(arrays), plan.buffers(), kernel_roofline.RATE)
        else:
            kernel_roofline.run_stages(block, *operands, kernel_roofline.GRADIENTS)
    for name, array in tables[0].items():
        np.testing.assert_allclose(array, tables[1][name], rtol=0, atol=1e-6)


def test_work_is_counted_by_hand(text):
    encoded = em.Corpus(text, tokenizer="whitespace").encode()
    for trainer in ("skipgram", "cbow"):
        settings = registry.create("trainer", trainer, {"dim": 100})
        stream = settings.plan(prepare(settings, encoded, threads=1)).stream
        block = stream.new_block()
        kernel_roofline.next_block(block, stream.source, np.array([1, 0], np.uint64))
        flops = size = 0
        for i in range(block.cursor[FIRST], block.cursor[LAST]):
            m = block.stop[i] - block.start[i] - 1
            if m > 0:
                flops += 600 * 6 * m if trainer == "skipgram" else 600 * 6 + 200 * m
                size += 800 * (m + 6)
        assert flops > 0
        assert kernel_roofline.count_work(block, trainer, 100) == (flops, size)


def test_roofs():
    assert kernel_roofline.roof(LIMITS, 1.0, "L2 cache") == 50
    assert kernel_roofline.roof(LIMITS, 4.0, "L2 cache") == 100


def test_results_are_kept_and_written(text, tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_roofline, "measure_limits", lambda rounds: LIMITS)
    arguments = ["kernels", "--text", str(text), "--blocks", "1", "--rounds", "1", "--out", str(tmp_path / "roofline")]
    arguments += ["--shape", "limits", "skipgram 16 5", "cbow 16 5"]
    main(arguments)
    first = (tmp_path / "roofline.tsv").read_text()
    shapes = dict.fromkeys(row["shape"] for row in read_rows(tmp_path / "roofline.tsv"))
    assert list(shapes) == ["limits", "skipgram 16 5", "cbow 16 5"]
    lines = (tmp_path / "roofline.md").read_text().splitlines()
    assert {line.count("|") for line in lines[4:]} == {len(kernel_roofline.HEADS) + 1}
    assert (tmp_path / "roofline.png").stat().st_size > 1000
    main(arguments)
    assert (tmp_path / "roofline.tsv").read_text() == first  # nothing is measured again


def test_limits_are_measured(monkeypatch):
    monkeypatch.setattr(kernel_roofline, "LEVELS", {"L1 cache": 24})
    limits = kernel_roofline.measure_limits(20_000)
    assert set(limits) == {"flops", "L1 cache"}
    assert min(limits.values()) > 0
