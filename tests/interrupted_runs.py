"""Helpers for tests of checkpoints: corpora, trainers with all kinds of settings, and runs interrupted at any block."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np

import embeddings as em
from embeddings.testing.trainer_contract import synonym_corpus

SMALL = {"dim": 8, "min_count": 1, "epochs": 2, "subsample": 0.01}
CONFIGURATIONS = [
    ("skipgram", {}),
    ("skipgram", {"shuffle": True}),
    ("skipgram", {"negative_sharing": "none"}),
    ("cbow", {"negatives": 20}),
    ("structured-skipgram", {}),
    ("directional-skipgram", {"shuffle": True}),
    ("continuous-window", {}),
    ("fasttext", {"buckets": 500}),
    ("fasttext", {"architecture": "cbow", "position_weights": True, "buckets": 500, "shuffle": True}),
    ("paragraph-dbow", {}),
    ("paragraph-dbow", {"train_words": True, "shuffle": True}),
    ("paragraph-dm", {}),
    ("paragraph-dm", {"combine": "concat"}),
    ("paragraph-dm", {"combine": "concat", "context": "past"}),
    ("paragraph-dbow", {"sampling": "window"}),
    ("sembei", {"max_n": 3, "per_length": "all"}),
    ("sembei", {"max_n": 2, "per_length": "all", "compositional": True, "shuffle": True}),
    ("tensor-indexing", {"min_phrases": 0}),
]


def corpus(trainer: str) -> em.Corpus:
    """Lines of all lengths, some longer than a block."""
    rng = np.random.default_rng(5)
    lengths = [9000, 1, 30, 2, 12_000, 700, *rng.integers(0, 40, 60).tolist()]
    if trainer == "sembei":
        letters = np.array(list("abcdefgh"))
        return em.Corpus(["".join(letters[rng.integers(0, 8, n)]) for n in lengths], tokenizer="codepoints")
    return em.Corpus([[f"w{i}" for i in rng.integers(0, 50, n)] for n in lengths])


def never_read() -> Iterator[list[str]]:
    """Lines of a corpus that must not be read."""
    raise AssertionError("the corpus was read")
    yield ["a"]


def table_bytes(model: em.Model) -> dict[str, bytes]:
    """The bytes of all tables of a model, by name."""
    return {name: table.tobytes() for name, table in {"vectors": model.vectors.matrix, **model.tables}.items()}


class SetAfter:
    """An event that is set after a number of checks."""

    def __init__(self, checks: int) -> None:
        self.checks = checks

    def is_set(self) -> bool:
        self.checks -= 1
        return self.checks < 0


@contextmanager
def interrupted_after(checks: int) -> Iterator[None]:
    """Runs whose threads, one after another, check `halt` this often; then the user interrupts."""

    def run(work, threads, report) -> None:  # type: ignore[no-untyped-def]
        for thread in range(threads):
            work(thread, SetAfter(checks))
        report()
        raise KeyboardInterrupt

    with patch("embeddings.training.executor.run_threads", run):
        yield


@contextmanager
def interrupted_at_check(checks: int) -> Iterator[None]:
    """A run of one thread that the user interrupts when `halt` is checked for this time, in any segment."""
    event = SetAfter(checks)

    def run(work, threads, report) -> None:  # type: ignore[no-untyped-def]
        work(0, event)
        report()
        if event.checks < 0:
            raise KeyboardInterrupt

    with patch("embeddings.training.executor.run_threads", run):
        yield


def learn(trainer: str, text: em.Corpus, settings: dict, *, threads: int = 1, **more) -> em.Model:  # type: ignore[no-untyped-def,type-arg]
    """Train a small model."""
    return em.train(trainer, text, threads=threads, seed=3, **{**SMALL, **settings}, **more)


def interrupted_checkpoints(folder: Path, checks: int, trainer: str = "skipgram", **settings: object) -> em.Checkpoints:
    """The checkpoints of a small run that was interrupted."""
    checkpoints = em.Checkpoints(folder)
    with interrupted_after(checks):
        try:
            learn(trainer, synonym_corpus(), settings, checkpoints=checkpoints)
        except em.training.Interrupted:
            return checkpoints
    raise AssertionError("the run was not interrupted")
