"""Preparation of a run: turns settings and a corpus into a `Task`, on which a trainer runs its kernel."""

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.kernels.block import BLOCK_SIZE, BlockSource, keep_thresholds, new_block
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.model import Model
from embeddings.setting_names import hint
from embeddings.settings import (
    ContextWindow,
    Dimension,
    NegativeSampling,
    Schedule,
    Settings,
    VocabularyChoice,
    check_value,
)
from embeddings.support.logs import log
from embeddings.support.system import available_threads
from embeddings.training.continued_training import extend_corpus
from embeddings.training.parameters import Arrays, unpad_all
from embeddings.training.progress import Report
from embeddings.training.run import Run
from embeddings.training.run_options import RunOptions
from embeddings.training.worker import BlockStream, LearnBlock

MAX_THREADS = 1024


@dataclass(frozen=True, kw_only=True)
class Trainer(Settings):
    """Base of trainers. A subclass has settings, sets `trainer_name` and defines `train_task`."""

    trainer_name: ClassVar[str]

    def train(
        self,
        corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        run_options: RunOptions | None = None,
        **unknown: Any,
    ) -> Model:
        """Train a model; see `prepare` for arguments and errors, and `Task.run` for further errors."""
        for argument in unknown:
            advice = hint(argument, ("threads", "seed", "report", "run_options"))
            raise SettingError(
                f"train() has no argument {argument!r}: {advice or 'pass settings to the trainer itself'}"
            )
        name = self.trainer_name
        task = prepare(name, self, corpus, threads=threads, seed=seed, report=report, run_options=run_options)
        return self.train_task(task)

    def train_task(self, task: "Task") -> Model:
        """Train a model on a prepared run."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class WindowTrainer(Trainer, NegativeSampling, ContextWindow, VocabularyChoice, Schedule, Dimension):
    """Base of trainers of models that learn words from context windows by negative sampling."""


@dataclass(frozen=True)
class Task:
    """A prepared training run: settings, the corpus as ids, and the vocabulary.

    Arguments:
        tags: a pyarrow array of strings, one for each row of the table "documents", for models that have it.
    """

    trainer: str
    settings: WindowTrainer
    encoded: EncodedCorpus
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
        new_buffers: Callable[[], StepBuffers],
        *,
        stream: BlockStream | None = None,
        thread_tables: Callable[[], Any] | None = None,
        final_tables: Callable[[Any], Arrays] | None = None,
        composes: bool = True,
    ) -> Model:
        """Train with all threads.

        Arguments:
            learn_block: the model's kernel, called as `learn_block(block, tables, buffers, learning_rate)`.
            tables: a NamedTuple of all parameters: its float arrays and those of NamedTuples in it. They are
                (rows, padded dim) unless `final_tables` is given. Checkpoints save only these of a model.
            new_buffers: makes the step buffers of one thread.
            stream: what is read; `window_stream()` by default.
            thread_tables: makes the tables of one thread if it cannot use `tables`, for example to add scratch memory.
                The content of that memory must not matter to the next block.
            final_tables: returns the arrays to save, without padding, by name: "vectors" are those of the words. It
                may consume the tables. By default all arrays of `tables`, with "words" as "vectors".
            composes: whether the model composes vectors, if its trainer has a `composer`.

        Raises:
            TrainingError: a vector or the loss overflowed.
            Interrupted: the user interrupted; its `model` holds what was learned.
            CheckpointError: the checkpoint to resume is damaged or belongs to another run.
            OutputError: there are checkpoints already, or they cannot be written.
        """
        return Run(
            self,
            learn_block,
            tables,
            new_buffers,
            stream or self.window_stream(),
            thread_tables or (lambda: tables),
            final_tables or (lambda tables: unpad_all(tables, self.settings.dim)),
            composes,
        ).train()

    def fingerprint(self) -> dict[str, Any]:
        """What identifies the run: only a run with the same fingerprint can resume its checkpoints."""
        digest = hashlib.sha256(self.vocabulary.counts.tobytes())
        digest.update("\n".join(self.vocabulary.words).encode("utf-8", "surrogatepass"))
        settings = self.run_options.fingerprint(self.trainer, self.settings, self.threads, self.seed)
        return settings | {"corpus": self.encoded.fingerprint, "vocabulary": digest.hexdigest()[:32]}

    @property
    def corpus_words(self) -> int:
        """Words of the corpus that one epoch reads, in the vocabulary or not."""
        return len(self.encoded.ids)

    def window_stream(self, *, noise: int | None = None, size: int = BLOCK_SIZE) -> BlockStream:
        """Context windows, in blocks of `size` words, with `noise` negative samples each (`negatives` by default)."""
        samples = self.settings.negatives if noise is None else noise
        return BlockStream(self.source(), lambda: new_block(self.settings.window, samples, size))

    def source(self) -> BlockSource:
        """What the threads read."""
        ids, lines = np.asarray(self.encoded.ids), np.asarray(self.encoded.sentences)
        return block_source(self.settings, self.vocabulary, ids, lines)

    def share_bounds(self, lines: np.ndarray) -> list[int]:
        """Bounds of the threads' shares of the ids, (threads + 1); each at the nearest line, if one is near."""
        words = self.corpus_words
        bounds = [words * thread // self.threads for thread in range(self.threads + 1)]
        max_distance = words // (20 * self.threads)
        for k, bound in enumerate(bounds[1:-1], 1):
            right = int(np.searchsorted(lines, bound))
            nearest = min((int(lines[at]) for at in (right - 1, right)), key=lambda line: abs(line - bound))
            if abs(nearest - bound) <= max_distance:
                bounds[k] = nearest
        return bounds


def block_source(settings: WindowTrainer, vocabulary: Vocabulary, ids: np.ndarray, lines: np.ndarray) -> BlockSource:
    """The source that threads read, made from ids and line offsets with these settings."""
    return BlockSource(
        ids=ids,
        lines=lines,
        keep_thresholds=keep_thresholds(vocabulary.keep_probabilities(settings.subsample)),
        noise=alias_table(vocabulary.noise_weights(settings.noise_exponent)),
        window=settings.window,
        shrink_window=settings.shrink_window,
        windows_per_draw=settings.windows_per_draw,
    )


def prepare(
    trainer: str,
    settings: Any,
    corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Report | None = None,
    run_options: RunOptions | None = None,
) -> Task:
    """Check all arguments, encode the corpus and select its vocabulary.

    Arguments:
        corpus: a `Corpus`, or what one is made of: a path, a built-in name, an iterable of texts or token lists.
        threads: number of threads; all available cores if not given.
        report: called regularly with a `Progress`.

    Raises:
        SettingError: threads or seed are out of range, or the trainer does not support an option.
        FormatError: vectors to start from cannot be read, or do not fit.
        CorpusError: the corpus is broken, or no word is frequent enough.
        OutputError: there are checkpoints already, or they cannot be written.
        CheckpointError: the checkpoint to resume is damaged or belongs to another run.
    """
    threads, seed = check_threads_and_seed(threads, seed)
    if report is not None and not callable(report):
        raise SettingError(f"report must be a function, such as print, got {report!r:.80}")
    run_options = run_options or RunOptions()
    run_options.check(trainer, settings)
    run_options.check_fingerprint(trainer, settings, threads, seed)
    text = as_corpus(corpus, settings)
    run_options.check_corpus(text)
    encoded = text.encode()
    if run_options.continued is not None:
        encoded = extend_corpus(run_options.continued, encoded, settings)
    vocabulary = encoded.select(min_count=settings.min_count, max_vocab=settings.max_vocab)
    numbers = trainer, len(encoded.ids), settings.epochs, len(vocabulary), threads, seed
    log.info("training %s: %s words x %s epochs, vocabulary of %s, threads %s, seed %s", *numbers)
    return Task(trainer, settings, encoded, vocabulary, threads, seed, report, run_options)


def as_corpus(corpus: Corpus | str | os.PathLike[str] | Iterable[Any], trainer: Any) -> Corpus:
    """The corpus itself, or one of these texts, tokenized by the trainer's `tokenizer` if it has one."""
    return corpus if isinstance(corpus, Corpus) else Corpus(corpus, tokenizer=getattr(trainer, "tokenizer", "words"))


def check_threads_and_seed(threads: int | None, seed: int) -> tuple[int, int]:
    """The number of threads, by default all available cores, and the seed."""
    number = available_threads() if threads is None else threads
    threads = check_value("threads", number, int, {"ge": 1, "le": MAX_THREADS})
    seed = check_value("seed", seed, int, {"ge": 0, "le": 2**63 - 1})
    return threads, seed
