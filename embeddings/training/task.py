"""What stands between a trainer's settings and its kernel: the corpus read, the threads run, the model made."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from embeddings.errors import EmbeddingsError
from embeddings.kernels.block import FIRST, LAST, Block, Source, fill, keep_thresholds, new_block, rewind
from embeddings.kernels.bundle import LOSS, NEXT, PAIRS, SAMPLED, STEPS, Bundle
from embeddings.kernels.noise import alias_table
from embeddings.kernels.random import keys
from embeddings.kernels.rows import padded
from embeddings.model import Model
from embeddings.settings import (
    ContextWindow,
    Dimension,
    NegativeSampling,
    Schedule,
    VocabularyChoice,
    check_value,
)
from embeddings.training import hogwild
from embeddings.training.order import Piece, shuffled
from embeddings.training.progress import Report, Tally
from embeddings.vectors import Vectors
from embeddings.vocabulary import Vocabulary

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus

LearnBlock = Callable[[Block, Any, Bundle, float], None]
MOST_THREADS = 1024


class TrainingError(EmbeddingsError):
    """Training went wrong."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a training run; `model` holds what was learned until then."""

    def __init__(self, model: Model) -> None:
        super().__init__("training was interrupted; what was learned until then is in `.model` of this exception")
        self.model = model


@dataclass(frozen=True, kw_only=True)
class WindowSettings(NegativeSampling, ContextWindow, VocabularyChoice, Schedule, Dimension):
    """The settings of every model that learns words from windows against noise."""


@dataclass(frozen=True)
class Task:
    """One training run: settings, a corpus as ids, the words that get vectors, and how the run is carried out."""

    trainer: str
    settings: WindowSettings
    encoded: "EncodedCorpus"
    vocabulary: Vocabulary
    threads: int
    seed: int
    report: Report | None

    def run(
        self, learn_block: LearnBlock, tables: Any, bundle: Callable[[], Bundle], *, noise: int | None = None
    ) -> Model:
        """Learn the rows of `tables.words` with all threads; `bundle` makes a thread's scratch.

        `tables` is a NamedTuple of arrays (vocabulary, padded dim) whose field `words` becomes the vectors; the
        others are kept in the model. `noise` words are drawn for a centre, as many as there are negatives if not given.

        Raises:
            TrainingError: a vector or the loss overflowed.
            Interrupted: the user interrupted; what was learned is in it.
        """
        source, shares = self.source(), self.shares()
        noise = self.settings.negatives if noise is None else noise
        Worker(self, source, Tally(1, self.settings, 1), 0, bundle(), noise).compile(learn_block, tables)
        tally = Tally(self.threads, self.settings, self.corpus_words)

        def work(thread: int, stop: Event) -> None:
            worker = Worker(self, source, tally, thread, bundle(), noise)
            for _ in range(self.settings.epochs):
                if stop.is_set():
                    break
                worker.read(shares[thread], shares[thread + 1], learn_block, tables, stop)

        def report() -> None:
            progress = tally.progress()
            if progress.loss is not None and not isfinite(progress.loss):
                raise overflow("loss", tally)
            if self.report:
                self.report(progress)

        try:
            hogwild.run(work, self.threads, report)
        except KeyboardInterrupt:
            raise Interrupted(self.model(tables, tally)) from None
        return self.model(tables, tally)

    @property
    def corpus_words(self) -> int:
        """Words of the corpus that one epoch reads, known or not."""
        return len(self.encoded.ids)

    def source(self) -> Source:
        """What the threads read."""
        settings, vocabulary = self.settings, self.vocabulary
        return Source(
            ids=np.asarray(self.encoded.ids),
            lines=np.asarray(self.encoded.sentences),
            keep=keep_thresholds(vocabulary.keep_probabilities(settings.sample)),
            noise=alias_table(vocabulary.noise_weights(settings.noise_exponent)),
            window=settings.window,
            shrink=settings.shrink_window,
        )

    def shares(self) -> list[int]:
        """Where each thread's share of the ids begins, and the end: at the nearest border of a sentence, if near."""
        words, lines = self.corpus_words, np.asarray(self.encoded.sentences)
        cuts = [words * thread // self.threads for thread in range(self.threads + 1)]
        near = words // (20 * self.threads)
        for k, cut in enumerate(cuts[1:-1], 1):
            right = int(np.searchsorted(lines, cut))
            border = min((int(lines[at]) for at in (right - 1, right)), key=lambda at: abs(at - cut))
            if abs(border - cut) <= near:
                cuts[k] = border
        return cuts

    def model(self, tables: Any, tally: Tally) -> Model:
        """What was learned so far."""
        dim, arrays = self.settings.dim, {k: v for k, v in tables._asdict().items() if isinstance(v, np.ndarray)}
        if any(array.ndim != 2 or array.shape[1] != padded(dim) for array in arrays.values()):
            raise ValueError(f"tables must be (rows, {padded(dim)}): {[array.shape for array in arrays.values()]}")
        trimmed = {name: np.ascontiguousarray(array[:, :dim]) for name, array in arrays.items()}
        for name, array in trimmed.items():
            if not np.isfinite(array).all():
                raise overflow(name, tally)
        progress = tally.progress()
        record = {
            "seed": self.seed,
            "threads": self.threads,
            "corpus": self.encoded.fingerprint,
            "words": progress.words,
            "of_words": progress.total,
            "seconds": round(progress.seconds, 3),
            "words_per_second": round(progress.words_per_second),
            "bundles": int(tally.steps.sum()),
            "loss_by_epoch": tally.losses(),
        }
        vectors = Vectors(list(self.vocabulary.words), trimmed.pop("words"), counts=self.vocabulary.counts)
        return Model(
            self.trainer,
            vectors=vectors,
            vocabulary=self.vocabulary,
            settings=asdict(self.settings),
            tables=trimmed,
            record=record,
            composer=getattr(type(self.settings), "composer", None),
        )


class Worker:
    """What one thread has to itself: its random numbers, its block and its bundle."""

    def __init__(self, task: Task, source: Source, tally: Tally, thread: int, bundle: Bundle, noise: int) -> None:
        settings = task.settings
        self.source, self.tally, self.thread, self.bundle = source, tally, thread, bundle
        self.block = new_block(settings.window, noise)
        key = keys(task.seed, task.threads)[thread]
        self.random = np.array([key, 0], np.uint64)
        self.order = np.random.default_rng(key) if settings.shuffle else None
        bundle.tally[NEXT] = float(key % SAMPLED)  # windows are tallied from a random one on

    def compile(self, learn_block: LearnBlock, tables: Any) -> None:
        """Learn from nothing, so that compiling the kernels is over before the clock starts."""
        rewind(self.block, self.source, 0, 0)
        fill(self.block, self.source, self.random)
        learn_block(self.block, tables, self.bundle, 0.0)

    def read(self, begin: int, end: int, learn_block: LearnBlock, tables: Any, stop: Event) -> None:
        """Learn from `ids[begin:end]` once, in a random order if the settings say so, unless told to stop."""
        self.tally.begin_epoch(self.thread)
        whole = Piece(self.source, begin, end)
        for piece in [whole] if self.order is None else shuffled(*whole, self.order):
            self.read_piece(piece, learn_block, tables, stop)

    def read_piece(self, piece: Piece, learn_block: LearnBlock, tables: Any, stop: Event) -> None:
        """Learn from a piece once, unless told to stop."""
        block, bundle, tally = self.block, self.bundle, self.tally
        rewind(block, *piece)
        while not stop.is_set():
            read = fill(block, piece.source, self.random)
            if read == 0 and block.place[FIRST] == block.place[LAST]:
                return
            rate = tally.rate
            tally.words[self.thread] += read
            learn_block(block, tables, bundle, rate)
            tally.add(self.thread, bundle.tally[LOSS], bundle.tally[PAIRS])
            tally.steps[self.thread] = bundle.tally[STEPS]
            bundle.tally[LOSS] = bundle.tally[PAIRS] = 0


def overflow(what: str, tally: Tally) -> TrainingError:
    """The error for numbers that grew beyond all bounds."""
    return TrainingError(f"the {what} overflowed after {tally.done:,} words; a lower rate will help")


def prepare(
    trainer: str,
    settings: WindowSettings,
    corpus: "Corpus",
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Report | None = None,
) -> Task:
    """A run that is ready to start: the corpus read and its vocabulary chosen.

    Raises:
        SettingError: threads or seed are out of range.
        CorpusError: the corpus is broken, or no word of it is frequent enough.
    """
    threads, seed = run_settings(threads, seed)
    encoded = corpus.encode()
    vocabulary = encoded.select(min_count=settings.min_count, max_vocab=settings.max_vocab)
    return Task(trainer, settings, encoded, vocabulary, threads, seed, report)


def run_settings(threads: int | None, seed: int) -> tuple[int, int]:
    """How many threads, all cores unless given, and the seed.

    Raises:
        SettingError: one is out of range.
    """
    chosen = available_threads() if threads is None else threads
    threads = check_value("threads", chosen, int, {"least": 1, "most": MOST_THREADS})
    seed = check_value("seed", seed, int, {"least": 0, "most": 2**63 - 1})
    return threads, seed


def available_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Trainer(Protocol):
    """Learns vectors; its dataclass fields are its settings."""

    def train(
        self, corpus: "Corpus", *, threads: int | None = None, seed: int = 1, report: Report | None = None
    ) -> Model:
        """The model learned from the corpus."""
        ...
