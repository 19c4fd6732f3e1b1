"""Checks training on an NVIDIA GPU and measures it, in some three minutes: `python tools/gpu_check.py CORPUS`.

CORPUS is text of some 17 million words. A part that fails prints its traceback, and the next one begins.
"""

import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from naive_gpu import Shape, kernel_errors
from numba import cuda

import embeddings as em
from embeddings.plugins.cuda import card
from embeddings.plugins.cuda.window_kernel import CHUNK, window_kernel
from embeddings.training.training_data import prepare

SETTINGS: dict[str, Any] = {"device": "cuda", "epochs": 3, "subsample": 1e-4, "progress": False}
SETS = {"similarity": ["wordsim353", "simlex999"], "analogy": ["google-analogies"]}
SHAPES = (100, 5, 4, 0, 1), (100, 5, 4, 1, 1), (100, 5, 1, 0, 1), (300, 5, 4, 0, 1), (10, 7, 4, 0, 1), (100, 5, 4, 0, 0)


def show(name: str, *values: object) -> None:
    """Print a row of the table."""
    print(f"{name:40}", *values, flush=True)  # noqa: T201


def machine() -> None:
    """Versions, and what numba says of the card."""
    for name in ("numba", "numba-cuda", "numpy", "cuda-bindings", "embeddings-toolkit"):
        show(name, version(name))
    found = cuda.get_current_device()
    show("card", found.name, found.compute_capability, found.MULTIPROCESSOR_COUNT, "processors")
    show("memory", cuda.current_context().get_memory_info())


def correctness() -> None:
    """The kernel and its naive twin: one warp, and 128 at a rate so low that their order hardly counts."""
    draws, words = np.random.default_rng(0), 300
    ids, lines = draws.integers(0, words + 1, 4000).astype(np.int32), np.unique(draws.integers(1, 4000, 200))
    for dim, negatives, share, cbow, vector in SHAPES:
        shape = Shape(dim, negatives, 5, share, 1, cbow, vector)
        for grid, size, rate in ((1, 32), CHUNK, 0.05), ((32, 128), len(ids), 1e-3):
            tables, counts, changes = kernel_errors(
                window_kernel(*shape)[grid], shape, ids[:size], lines, words, rate, CHUNK
            )
            show(f"{tuple(shape)}, {size} words", f"tables {tables / changes:.1e} of a change, counts {counts:.1e}")


def speed(corpus: Any) -> None:
    """Million words per second of the kernel alone, in an epoch; those of training are below."""
    for kind, dim in (em.SkipGram, 100), (em.SkipGram, 300), (em.CBOW, 100):
        trainer = kind(dim=dim, subsample=1e-4, device="cuda")
        data = prepare(trainer, corpus)
        plan = trainer.plan(data)
        one, random = card.Card(data, plan, 0), np.array([1, 2], np.uint64)
        stream = one.attach(plan.allocate(1)).plan.stream
        block, chunk = stream.new_block(), next(stream.chunks(0, stream.units, None))
        stream.fill(block, stream.empty_chunk, random)
        one.learn(0.0)  # compiles the kernel
        stream.rewind(block, chunk)
        words, seconds = 0, 0.0
        while count := stream.fill(block, chunk, random):
            ids, base, key = one.part
            counts = cuda.to_device(np.zeros(1, np.int32)), cuda.to_device(np.zeros(3, np.float32))
            arrays = cuda.to_device(ids), base, *one.sampling, *one.on_card, *counts
            start = perf_counter()
            one.kernel(*arrays, np.float32(0.01), key)
            cuda.synchronize()
            words, seconds = words + count, seconds + perf_counter() - start
        show(f"{trainer.trainer_name} d={dim}", f"{words / seconds / 1e6:.0f} with {one.blocks} blocks")


def outcome(name: str, trainer: str, corpus: Any, *, is_scored: bool = True, **settings: Any) -> None:
    """Train and evaluate a model."""
    try:
        made = em.train(trainer, corpus, **{**SETTINGS, **settings})
    except em.EmbeddingsError as error:
        return show(name, type(error).__name__, error)
    scores = em.evaluate(made, **SETS) if is_scored else []
    show(
        name,
        *(f"{one.set} {one.value:.3f}" for one in scores if one.section is None and one.measure != "pearson"),
        f"{made.record['words_per_second'] / 1e6:.1f} million words/s; largest norms",
        *(f"{np.linalg.norm(one[:1000], axis=1).max():.2f}" for one in (made.vectors.matrix, *made.tables.values())),
    )


def quality(corpus: Any) -> None:
    """Models of the card and of the CPU, and of few words, whose rows have most copies."""
    for trainer, dim in ("skipgram", 100), ("cbow", 100), ("skipgram", 300):
        for device in ("cuda", "cpu"):
            outcome(f"{trainer} d={dim} {device}", trainer, corpus, dim=dim, device=device)
    for words in (30, 100, 1000, 10_000):
        outcome(f"{words} words", "skipgram", corpus, max_vocab=words, is_scored=False)


class Interrupt(em.Callback):
    """Interrupts a run."""

    def on_progress(self, progress: Any) -> None:
        """Interrupt."""
        if progress.share > 0.3:
            raise KeyboardInterrupt


def runs(corpus: Any) -> None:
    """An interrupted and resumed, a continued and a shuffled run, a card that is missing, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        run = {**SETTINGS, "epochs": 20, "checkpoints": em.Checkpoints(folder, every="50Mw")}
        try:
            em.train("skipgram", corpus, callbacks=[Interrupt()], **run)
        except em.training.Interrupted as interrupted:
            show("interrupted", {name: interrupted.model.record[name] for name in ("words", "total_words", "device")})
        model = em.train("skipgram", corpus, resume=True, **run)
        show("resumed", {name: model.record[name] for name in ("words", "total_words", "seconds")})
    more = em.continue_training(model, ["a text about the city"] * 9, progress=False, min_count=1)
    show("continued", len(more.vectors), bool(np.isfinite(more.vectors.matrix).all()))
    outcome("shuffled", "cbow", corpus, shuffle=True)
    outcome("another card", "cbow", corpus, device="cuda:9")
    show("memory", cuda.current_context().get_memory_info())


def check(part: Callable[..., None], *args: Any) -> None:
    """Run a part of the check; whatever happens, the next one follows."""
    show(f"\n{part.__name__}:", part.__doc__)
    try:
        part(*args)
    except (Exception, KeyboardInterrupt):
        traceback.print_exc(file=sys.stdout)


if __name__ == "__main__":
    check(machine)
    check(correctness)
    text = em.Corpus(sys.argv[1]).encode()
    for part in (speed, quality, runs):
        check(part, text)
