"""Checks training on an NVIDIA GPU and measures it, in some three minutes: `python tools/gpu_check.py CORPUS TESTS`.

CORPUS is text of some 17 million words, a document on each line; TESTS is a folder with test sets of word pairs
(EN-*.txt) and analogies (questions-*.txt). A part that fails prints its traceback, and the next one begins.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numpy 2.5, with which numba-cuda 0.30 cannot be imported
    np.row_stack = np.vstack  # noqa: NPY201
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from naive_gpu import Shape, learn_chunk
from numba import cuda

import embeddings as em
from embeddings.kernels.block import BlockSource, keep_thresholds
from embeddings.kernels.random_numbers import alias_table
from embeddings.plugins.cuda import card
from embeddings.plugins.cuda.window_kernel import CHUNK, NEW_LINE, row_width, window_kernel
from embeddings.training.training_data import prepare

SETTINGS: dict[str, Any] = {"device": "cuda", "epochs": 3, "subsample": 1e-4, "progress": False}
SHAPES = (100, 5, 4, 0, 1), (100, 5, 4, 1, 1), (100, 5, 1, 0, 1), (300, 5, 4, 0, 1), (10, 7, 4, 0, 1), (100, 5, 4, 0, 0)


def show(name: str, *values: object) -> None:
    """Print a row of the table."""
    print(f"{name:40}", *values, flush=True)  # noqa: T201


def timed(work: Callable[..., Any], *args: Any, **settings: Any) -> tuple[Any, float]:
    """What `work` returns, and its seconds."""
    start, result = perf_counter(), work(*args, **settings)
    cuda.synchronize()
    return result, perf_counter() - start


def machine() -> None:
    """Versions, and what numba says of the card."""
    found, memory = cuda.get_current_device(), cuda.current_context().get_memory_info()
    names = "numba", "numba-cuda", "numpy", "cuda-bindings", "embeddings-toolkit"
    show("versions", ", ".join(f"{name} {version(name)}" for name in names), os.cpu_count(), "cores")
    show("card", found.name, found.compute_capability, found.MULTIPROCESSOR_COUNT, "processors", memory)


def correctness() -> None:
    """The kernel and its naive twin: one warp, and 128 at a rate so low that their order hardly counts."""
    draws, words, base, key = np.random.default_rng(0), 300, 12_345, 2**63 + 9
    ids, lines = draws.integers(0, words + 1, 4000).astype(np.int32), np.unique(draws.integers(1, 4000, 200))
    source = BlockSource(
        ids, lines, keep_thresholds(np.full(words, 0.7)), alias_table(np.arange(words, 0, -1)), 5, True, 8
    )
    marked = ids.copy()
    marked[lines] |= NEW_LINE
    for dim, negatives, share, cbow, vector in SHAPES:
        shape, errors = Shape(dim, negatives, 5, share, 1, cbow, vector), []
        for grid, size, rate in ((1, 32), CHUNK, 0.05), ((32, 128), len(ids), 1e-3):
            tables = np.zeros((2, words, row_width(dim)), np.float32)
            tables[..., :dim] = draws.normal(size=(2, words, dim)) * 0.2
            arrays = marked[:size], source.keep_thresholds, source.noise, *tables.reshape(2, -1)
            part, *rest = map(cuda.to_device, (*arrays, np.zeros(1, np.int32), np.zeros(3, np.float32)))
            window_kernel(*shape)[grid](part, base, *rest, np.float32(rate), np.uint64(key))
            expected, total = tables.astype(float), np.zeros(3)
            for at in range(0, size, CHUNK):
                chunk = ids[at : min(at + CHUNK, size)]
                total += learn_chunk(shape, chunk, lines - at, base + at, key, source, *expected, rate)
            learned = np.stack([one.copy_to_host().reshape(words, -1) for one in rest[2:4]])
            errors += [np.abs(learned - expected).max() / np.abs(expected - tables).max()]
            errors += [np.abs(rest[-1].copy_to_host() / total - 1).max()]
        kernel, errors = window_kernel(*shape), np.round(np.array(errors, float), 7)
        used = [list(one().values()) for one in (kernel.get_regs_per_thread, kernel.get_local_mem_per_thread)]
        show(str(tuple(shape)), "errors of tables and counts", errors, "registers, bytes of spilled rows", used)


def speed(corpus: Any) -> None:
    """Million words per second of an epoch: of the kernel alone, and with all that surrounds it."""
    for name, dim, words in (
        ("skipgram", 100, 1 << 21),
        ("skipgram", 100, 1 << 23),
        ("skipgram", 300, 1 << 21),
        ("cbow", 100, 1 << 21),
    ):
        trainer = (em.SkipGram if name == "skipgram" else em.CBOW)(dim=dim, subsample=1e-4, device="cuda")
        data = prepare(trainer, corpus)
        plan = trainer.plan(data)
        one, seconds, random = card.Card(data, plan, 0), np.zeros(4), np.array([1, 2], np.uint64)
        one.attach(plan.allocate(1)).part_words, stream = words, one.plan.stream
        block, chunk = stream.new_block(), next(stream.chunks(0, stream.units, None))
        stream.fill(block, stream.empty_chunk, random)
        one.learn(0.0)  # compiles the kernel
        stream.rewind(block, chunk)
        while (read := timed(stream.fill, block, chunk, random))[0]:
            rest = (
                cuda.to_device(np.zeros(1, np.int32)),
                cuda.to_device(np.zeros(3, np.float32)),
                np.float32(0.01),
                one.part[2],
            )
            alone = timed(one.kernel, cuda.to_device(one.part[0]), one.part[1], *one.sampling, *one.on_card, *rest)[1]
            seconds += read[0] / 1e6, read[1], alone, timed(one.learn, 0.01)[1]
        million, reading, alone, learning = seconds
        show(
            f"{name} d={dim}, parts of {words:,}",
            f"kernel {million / alone:.0f}, with copies {million / (reading + learning):.0f};",
            f"seconds: read {reading:.4f}, kernel {alone:.4f}, learn {learning:.4f}; {one.blocks} blocks",
        )


def outcome(name: str, trainer: str, corpus: Any, *, is_scored: bool = True, **settings: Any) -> None:
    """Train and evaluate a model."""
    try:
        made, seconds = timed(em.train, trainer, corpus, **{**SETTINGS, **settings})
    except em.EmbeddingsError as error:
        return show(name, type(error).__name__, error)
    pairs, questions = ([str(one) for one in sorted(TESTS.rglob(names))] for names in ("EN-*.txt", "questions-*.txt"))
    scores = em.evaluate(made, similarity=pairs, analogy=questions) if is_scored else []
    show(
        name,
        *(f"{one.set} {one.value:.3f}" for one in scores if one.section is None and one.measure != "pearson"),
        f"{made.record['words_per_second'] / 1e6:.1f} M words/s, {seconds:.1f} s; largest norms",
        *(f"{np.linalg.norm(one[:1000], axis=1).max():.2f}" for one in (made.vectors.matrix, *made.tables.values())),
        "loss",
        made.record["loss_by_epoch"],
    )


def quality(corpus: Any) -> None:
    """Models of the card and of the CPU."""
    for trainer, dim in ("skipgram", 100), ("cbow", 100), ("skipgram", 300):
        for device in ("cuda", "cpu"):
            outcome(f"{trainer} d={dim} {device}", trainer, corpus, dim=dim, device=device)


def cliff(corpus: Any) -> None:
    """Tiny vocabularies, and windows that share negative samples, with several limits of copies; 140 is the rule."""
    draws = np.random.default_rng(1)
    for words in (30, 100, 1000, 10_000):
        p = 1 / (np.arange(words // 10) + 2.7)
        drawn = draws.choice(words // 10, (20_000, 100), p=p / p.sum()) * 10 + draws.integers(0, 10, (20_000, 1))
        text = em.Corpus([" ".join(map("w{}".format, line)) for line in drawn.tolist()]).encode()
        for card.MAX_COPIES in (140, 10**9):
            outcome(f"{words} words, {card.MAX_COPIES} copies", "skipgram", text, subsample=1e-2, is_scored=False)
    for card.SHARED_WINDOWS in (16, 8, 4):
        for card.MAX_COPIES in (70, 140, 280, 10**9):
            outcome(f"{card.SHARED_WINDOWS} windows, {card.MAX_COPIES} copies", "skipgram", corpus)
    card.MAX_COPIES = 140


class Interrupt(em.Callback):
    """Interrupts a run."""

    def on_progress(self, progress: Any) -> None:
        """Interrupt."""
        if progress.share > 0.3:
            raise KeyboardInterrupt


def runs(corpus: Any) -> None:
    """An interrupt, a resumed, a continued and a shuffled run, and memory."""
    memory, run = cuda.current_context().get_memory_info, {**SETTINGS, "epochs": 20}
    before, share = memory().free, card.MEMORY_SHARE
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = em.Checkpoints(folder, every="50Mw")
        try:
            em.train("skipgram", corpus, checkpoints=checkpoints, callbacks=[Interrupt()], **run)
        except em.training.Interrupted as interrupted:
            show("interrupted", {name: interrupted.model.record[name] for name in ("words", "total_words", "device")})
        model = em.train("skipgram", corpus, checkpoints=checkpoints, resume=True, **run)
        show("resumed", {name: model.record[name] for name in ("words", "total_words", "seconds")})
    more = em.continue_training(model, ["a text about the city"] * 9, progress=False, min_count=1)
    show("continued", len(more.vectors), bool(np.isfinite(more.vectors.matrix).all()))
    outcome("shuffled", "cbow", corpus, shuffle=True)
    outcome("another card", "cbow", corpus, device="cuda:9")
    for card.MEMORY_SHARE in (1e-6, share):
        outcome(f"{card.MEMORY_SHARE} of the memory", "skipgram", corpus, is_scored=False)
    show("GB free before and after", round(before / 1e9, 3), round(memory().free / 1e9, 3))


def check(part: Callable[..., None], *args: Any) -> None:
    """Run a part of the check; whatever happens, the next one follows."""
    show(f"\n{part.__name__}:", part.__doc__)
    try:
        show("seconds", round(timed(part, *args)[1], 1))
    except (Exception, KeyboardInterrupt):
        traceback.print_exc(file=sys.stdout)


if __name__ == "__main__":
    CORPUS, TESTS = Path(sys.argv[1]), Path(sys.argv[2])
    check(machine)
    check(correctness)
    text, encoding = timed(lambda: em.Corpus(CORPUS).encode())
    show("encoded", f"{len(text.ids):,} words in {encoding:.1f} s")
    for part in (speed, quality, cliff, runs):
        check(part, text)
