"""What stands between a trainer's settings and its kernel: the corpus read, and a run made ready."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.kernels.block import BLOCK_SIZE, BlockSource, keep_thresholds, new_block
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.model import Model
from embeddings.settings import (
    ContextWindow,
    Dimension,
    NegativeSampling,
    Schedule,
    VocabularyChoice,
    check_value,
)
from embeddings.support.logs import log
from embeddings.support.system import available_threads as available_threads
from embeddings.training.continued_training import extend_corpus
from embeddings.training.parameters import Arrays, unpad_all
from embeddings.training.progress import Report
from embeddings.training.result import Interrupted as Interrupted
from embeddings.training.result import TrainingError as TrainingError
from embeddings.training.run import Learner, Run
from embeddings.training.run_options import RunOptions
from embeddings.training.worker import LearnBlock, BlockStream

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus

MOST_THREADS = 1024


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
    run_options: RunOptions = field(default_factory=RunOptions)
    tags: Any = None

    def run(
        self,
        learn_block: LearnBlock,
        tables: Any,
        buffers: Callable[[], StepBuffers],
        *,
        reader: BlockStream | None = None,
        own: Callable[[], Any] | None = None,
        learned: Callable[[Any], Arrays] | None = None,
        composes: bool = True,
    ) -> Model:
        """Learn with all threads; `bundle` makes a thread's scratch.

        Arguments:
            learn_block: the model's kernel, called with a block, tables, a bundle and the rate.
            tables: a NamedTuple of all that is learned: its arrays of floats, and those of NamedTuples in it. They are
                (rows, padded dim) unless `learned` is given. Checkpoints hold these, and nothing else of a model.
            reader: what is read; `window_stream()` if not given.
            own: makes what one thread gets as tables, where that is not `tables`: with scratch of its own, from which
                nothing is carried from block to block.
            learned: gives, of such tables, the arrays that are kept, by name, with `dim` components: "vectors" are
                those of the words. It may use their memory. The arrays of `tables` if not given.
            composes: whether the model composes, if its trainer has a `composer`.

        Raises:
            TrainingError: a vector or the loss overflowed.
            Interrupted: the user interrupted; what was learned is in it.
            CheckpointError: the checkpoint to go on from is damaged, or that of another run.
            OutputError: there are checkpoints already, or none can be written.
        """
        learner = Learner(
            learn_block,
            tables,
            buffers,
            reader or self.window_stream(),
            own or (lambda: tables),
            learned or (lambda tables: unpad_all(tables, self.settings.dim)),
            composes,
        )
        return Run(self, learner).model()

    @property
    def corpus_words(self) -> int:
        """Words of the corpus that one epoch reads, known or not."""
        return len(self.encoded.ids)

    def window_stream(self, *, noise: int | None = None, size: int = BLOCK_SIZE) -> BlockStream:
        """Words in windows, `size` of them in a block, with `noise` words for each: the negatives if not given."""
        drawn = self.settings.negatives if noise is None else noise
        return BlockStream(self.source(), lambda: new_block(self.settings.window, drawn, size))

    def source(self) -> BlockSource:
        """What the threads read."""
        return source_of(
            self.settings, self.vocabulary, np.asarray(self.encoded.ids), np.asarray(self.encoded.sentences)
        )

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


def source_of(settings: WindowSettings, vocabulary: Vocabulary, ids: np.ndarray, lines: np.ndarray) -> BlockSource:
    """What is read of ids and borders of lines by these settings."""
    return BlockSource(
        ids=ids,
        lines=lines,
        keep=keep_thresholds(vocabulary.keep_probabilities(settings.sample)),
        noise=alias_table(vocabulary.noise_weights(settings.noise_exponent)),
        window=settings.window,
        shrink=settings.shrink_window,
        sharing=settings.together,
    )


def prepare(
    trainer: str,
    settings: WindowSettings,
    corpus: "Corpus",
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Report | None = None,
    run_options: RunOptions | None = None,
) -> Task:
    """A run that is ready to start: the corpus read and its vocabulary chosen.

    Raises:
        SettingError: threads or seed are out of range, or the trainer cannot do what is asked for.
        FormatError: what to start from cannot be read, or does not fit.
        CorpusError: the corpus is broken, or no word of it is frequent enough.
        OutputError: there are checkpoints already, or none can be written.
        CheckpointError: the checkpoint to go on from is damaged, or that of another run.
    """
    threads, seed = check_threads_and_seed(threads, seed)
    if report is not None and not callable(report):
        raise SettingError(f"report must be a function, such as print, not {report!r:.80}")
    run_options = run_options or RunOptions()
    run_options.check(trainer, settings)
    run_options.check_resumed(trainer, settings, threads, seed)
    run_options.check_corpus(corpus)
    encoded = corpus.encode()
    if run_options.continued is not None:
        encoded = extend_corpus(run_options.continued, encoded, settings)
    vocabulary = encoded.select(min_count=settings.min_count, max_vocab=settings.max_vocab)
    told = trainer, len(encoded.ids), settings.epochs, len(vocabulary), threads, seed
    log.info("training %s: %s words x %s epochs, vocabulary of %s, threads %s, seed %s", *told)
    return Task(trainer, settings, encoded, vocabulary, threads, seed, report, run_options)


def check_threads_and_seed(threads: int | None, seed: int) -> tuple[int, int]:
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
