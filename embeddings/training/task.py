"""What stands between a trainer's settings and its kernel: the corpus read, the threads run, the model made."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from embeddings.cores import available_threads as available_threads
from embeddings.errors import EmbeddingsError
from embeddings.kernels.block import SIZE, Source, keep_thresholds, new_block
from embeddings.kernels.bundle import Bundle
from embeddings.kernels.noise import alias_table
from embeddings.logs import log
from embeddings.model import Model
from embeddings.settings import (
    ContextWindow,
    Dimension,
    NegativeSampling,
    Schedule,
    VocabularyChoice,
    check_value,
)
from embeddings.text_record import PHRASES, TEXT
from embeddings.training import hogwild
from embeddings.training.progress import Report, Tally
from embeddings.training.tables import VECTORS, Arrays, all_trimmed, finite
from embeddings.training.worker import LearnBlock, Reader, Worker
from embeddings.vectors import Vectors
from embeddings.vocabulary import Vocabulary

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus

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
    """One training run: settings, a corpus as ids, the words that get vectors, and how the run is carried out.

    `tags` are those of the rows of the table "documents", for models that have one: a pyarrow array of strings.
    """

    trainer: str
    settings: WindowSettings
    encoded: "EncodedCorpus"
    vocabulary: Vocabulary
    threads: int
    seed: int
    report: Report | None
    tags: Any = None

    def run(
        self,
        learn_block: LearnBlock,
        tables: Any,
        bundle: Callable[[], Bundle],
        *,
        reader: Reader | None = None,
        own: Callable[[], Any] | None = None,
        learned: Callable[[], Arrays] | None = None,
        composes: bool = True,
    ) -> Model:
        """Learn with all threads; `bundle` makes a thread's scratch.

        Arguments:
            learn_block: the model's kernel, called with a block, tables, a bundle and the rate.
            tables: a NamedTuple; its arrays are (rows, padded dim) unless `learned` is given.
            reader: what is read; `windows()` if not given.
            own: makes what one thread gets as tables, where that is more than `tables`.
            learned: gives the arrays that are kept, by name, with `dim` components: "vectors" are those of the
                words. The arrays of `tables` if not given.
            composes: whether the model composes, if its trainer has a `composer`.

        Raises:
            TrainingError: a vector or the loss overflowed.
            Interrupted: the user interrupted; what was learned is in it.
        """
        reader = reader or self.windows()
        shares = self.shares(reader.source.lines)
        own = own or (lambda: tables)
        learned = learned or (lambda: all_trimmed(tables, self.settings.dim))
        Worker(self, reader, Tally(1, self.settings, 1), 0, bundle()).compile(learn_block, own())
        tally = Tally(self.threads, self.settings, self.corpus_words)

        def work(thread: int, stop: Event) -> None:
            worker, mine = (
                Worker(self, reader, tally, thread, bundle()),
                own(),
            )
            for _ in range(self.settings.epochs):
                if stop.is_set():
                    break
                worker.read(shares[thread], shares[thread + 1], learn_block, mine, stop)

        def report() -> None:
            progress = tally.progress()
            if progress.loss is not None and not isfinite(progress.loss):
                raise overflow("loss", tally)
            if self.report:
                self.report(progress)

        try:
            hogwild.run(work, self.threads, report)
        except KeyboardInterrupt:
            raise Interrupted(self.model(learned(), tally, composes)) from None
        return self.model(learned(), tally, composes)

    @property
    def corpus_words(self) -> int:
        """Words of the corpus that one epoch reads, known or not."""
        return len(self.encoded.ids)

    def windows(self, *, noise: int | None = None, size: int = SIZE) -> Reader:
        """Words in windows, `size` of them in a block, with `noise` words for each: the negatives if not given."""
        drawn = self.settings.negatives if noise is None else noise
        return Reader(self.source(), lambda: new_block(self.settings.window, drawn, size))

    def source(self) -> Source:
        """What the threads read."""
        return source_of(
            self.settings, self.vocabulary, np.asarray(self.encoded.ids), np.asarray(self.encoded.sentences)
        )

    def text(self) -> dict[str, Any]:
        """How texts became words."""
        meta = self.encoded.meta
        return {**{name: meta["settings"].get(name) for name in TEXT}, PHRASES: meta.get(PHRASES)}

    def shares(self, lines: np.ndarray) -> list[int]:
        """Where each thread's share of the ids begins, and the end: at the nearest of these borders, if near."""
        words = self.corpus_words
        cuts = [words * thread // self.threads for thread in range(self.threads + 1)]
        near = words // (20 * self.threads)
        for k, cut in enumerate(cuts[1:-1], 1):
            right = int(np.searchsorted(lines, cut))
            border = min((int(lines[at]) for at in (right - 1, right)), key=lambda at: abs(at - cut))
            if abs(border - cut) <= near:
                cuts[k] = border
        return cuts

    def model(self, arrays: Arrays, tally: Tally, composes: bool = True) -> Model:
        """What was learned so far."""
        for name, array in arrays.items():
            if not finite(array):
                raise overflow(name, tally)
        progress = tally.progress()
        log.info("trained %s: %s of %s words, %.1f s", self.trainer, progress.words, progress.total, progress.seconds)
        record = {
            "seed": self.seed,
            "threads": self.threads,
            "corpus": self.encoded.fingerprint,
            "text": self.text(),
            "words": progress.words,
            "of_words": progress.total,
            "seconds": round(progress.seconds, 3),
            "words_per_second": round(progress.words_per_second),
            "bundles": int(tally.steps.sum()),
            "loss_by_epoch": tally.losses(),
        }
        tables = {name: array for name, array in arrays.items() if name != VECTORS}
        vectors = Vectors(list(self.vocabulary.words), arrays[VECTORS], counts=self.vocabulary.counts)
        return Model(
            self.trainer,
            vectors=vectors,
            vocabulary=self.vocabulary,
            settings=asdict(self.settings),
            tables=tables,
            record=record,
            composer=getattr(type(self.settings), "composer", None) if composes else None,
            tags=self.tags,
            phrases=self.encoded.phrases,
        )


def source_of(settings: WindowSettings, vocabulary: Vocabulary, ids: np.ndarray, lines: np.ndarray) -> Source:
    """What is read of ids and borders of lines by these settings."""
    return Source(
        ids=ids,
        lines=lines,
        keep=keep_thresholds(vocabulary.keep_probabilities(settings.sample)),
        noise=alias_table(vocabulary.noise_weights(settings.noise_exponent)),
        window=settings.window,
        shrink=settings.shrink_window,
        sharing=settings.together,
    )


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
    told = trainer, len(encoded.ids), settings.epochs, len(vocabulary), threads, seed
    log.info("training %s: %s words x %s epochs, vocabulary of %s, threads %s, seed %s", *told)
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


class Trainer(Protocol):
    """Learns vectors; its dataclass fields are its settings."""

    def train(
        self, corpus: "Corpus", *, threads: int | None = None, seed: int = 1, report: Report | None = None
    ) -> Model:
        """The model learned from the corpus."""
        ...
