"""What the tests of checkpoints share: corpora, trainers in all forms, and runs that halt where a test wants it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np

import embeddings as em
from embeddings.testing.trainer_contract import planted
from embeddings.training import hogwild

SMALL = {"dim": 8, "min_count": 1, "epochs": 2, "subsample": 0.01}
FORMS = [
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
    ("sembei", {"max_n": 3, "per_length": "all"}),
    ("sembei", {"max_n": 2, "per_length": "all", "compositional": True, "shuffle": True}),
    ("tensor-indexing", {"fewest": 0}),
]


def corpus(trainer: str) -> em.Corpus:
    """Lines of all lengths, some longer than a block."""
    rng = np.random.default_rng(5)
    lengths = [9000, 1, 30, 2, 12_000, 700, *rng.integers(0, 40, 60).tolist()]
    if trainer == "sembei":
        letters = np.array(list("abcdefgh"))
        return em.Corpus(["".join(letters[rng.integers(0, 8, n)]) for n in lengths], tokenizer="codepoints")
    return em.Corpus([[f"w{i}" for i in rng.integers(0, 50, n)] for n in lengths])


def arrays(model: em.Model) -> dict[str, bytes]:
    """All that was learned."""
    return {name: table.tobytes() for name, table in {"vectors": model.vectors.matrix, **model.tables}.items()}


class After:
    """An event that is set from the n-th look on."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def is_set(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@contextmanager
def interrupted_after(looks: int) -> Iterator[None]:
    """Runs whose threads, one after another, look so often whether they are to halt; then the user interrupts."""

    def run(work, threads, report) -> None:  # type: ignore[no-untyped-def]
        for thread in range(threads):
            work(thread, After(looks))
        report()
        raise KeyboardInterrupt

    with patch.object(hogwild, "run_threads", run):
        yield


def learn(trainer: str, text: em.Corpus, settings: dict, *, threads: int = 1, **more) -> em.Model:  # type: ignore[no-untyped-def,type-arg]
    """A model in this form."""
    return em.train(trainer, text, threads=threads, seed=3, **{**SMALL, **settings}, **more)


def broken_off(folder: Path, looks: int, trainer: str = "skipgram", **settings: object) -> em.Checkpoints:
    """The checkpoint of a small run that was interrupted."""
    checkpoints = em.Checkpoints(folder)
    with interrupted_after(looks):
        try:
            learn(trainer, planted(), settings, checkpoints=checkpoints)
        except em.Interrupted:
            return checkpoints
    raise AssertionError("it was not interrupted")
