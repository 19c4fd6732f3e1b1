"""Preparation of a run: turns settings and a corpus into `TrainingData`, for which a trainer declares its plan."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np

from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.document_counts import document_counts
from embeddings.corpora.documents import Documents
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.text_pairs import PairFormat
from embeddings.corpora.reading.text_vectors import VectorFormat
from embeddings.corpora.reading.word_contexts import ContextFormat
from embeddings.corpora.remapping import remap, remap_to_rows
from embeddings.corpora.vocabulary import Vocabulary, VocabularyRule
from embeddings.errors import CorpusError, S
from embeddings.kernels.block import BLOCK_SIZE, BlockSource, keep_thresholds, new_block
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.sentence_block import SentenceSource, fill_sentences, is_valid_sentences, new_sentence_block
from embeddings.settings import ObjectiveChoice, Schedule, check_value
from embeddings.support.logs import log
from embeddings.support.system import available_threads
from embeddings.training.devices import device_of
from embeddings.training.progress import Report
from embeddings.training.replicas import REPLICA_BLOCK_SIZE
from embeddings.training.run_options import RunOptions
from embeddings.training.stream import CorpusShare, TokenStream
from embeddings.training.trainer_declaration import TrainerDeclaration

MAX_THREADS = 1024


@dataclass(frozen=True)
class TrainingData:
    """The input of a training run: trainer, encoded corpus and vocabulary.

    Arguments:
        threads_per_replica: on a cluster, the threads that update the tables of each replica without locks.
    """

    trainer: TrainerDeclaration
    encoded: EncodedCorpus
    vocabulary: Vocabulary
    threads: int
    seed: int
    report: Report | None
    run_options: RunOptions = field(default_factory=RunOptions)
    compiled_before: float = field(default_factory=lambda: compile_time.seconds)  # seconds, before the run
    threads_per_replica: int = 1

    @property
    def trainer_name(self) -> str:
        """The name of the trainer."""
        return self.trainer.trainer_name

    @property
    def shares(self) -> int:
        """The number of shares of the corpus: one for each thread of each replica, else one for each kernel thread."""
        replicas = self.run_options.replicas
        if replicas is not None:
            return replicas.count * self.threads_per_replica
        return 1 if self.trainer.has_parallel_kernel else self.threads

    @property
    def has_replicas(self) -> bool:
        """Whether several replicas learn, each on tables of its own."""
        return self.run_options.replicas is not None and self.run_options.replicas.count > 1

    @property
    def schedule(self) -> Schedule:
        """The settings of epochs and learning rate, which a trainer with a plan has."""
        return cast(Schedule, self.trainer)

    def fingerprint(self) -> dict[str, Any]:
        """The fingerprint of the run: only a run with the same fingerprint can resume its checkpoints."""
        digest = hashlib.sha256(self.vocabulary.counts.tobytes())
        digest.update("\n".join(self.vocabulary.words).encode("utf-8", "surrogatepass"))
        fingerprint = self.run_options.fingerprint(self.trainer, self.threads, self.seed)
        if self.threads_per_replica > 1:  # with one, a cluster learns the same as one machine
            fingerprint["threads_per_replica"] = self.threads_per_replica
        return fingerprint | {"corpus": self.encoded.fingerprint, "vocabulary": digest.hexdigest()[:32]}

    def window_stream(
        self, noise_weights: np.ndarray, noise: int, *, size: int | None = None, documents: Documents | None = None,
        **changes: Any,
    ) -> TokenStream:  # fmt: skip
        """Context windows of words.

        Arguments:
            noise_weights: the distribution of random words, (vocabulary,).
            noise: random words drawn for each window.
            size: words in a block, by default 8,192, or 2,048 with replicas.
            documents: documents that windows must not cross; blocks then hold document rows.
            changes: other fields of the `BlockSource`, such as `shrink_window`.
        """
        if isinstance(self.encoded, CorpusShare):
            ids, lines = self.encoded.tokens, self.encoded.lines
        else:
            ids, lines = np.asarray(self.encoded.ids), np.asarray(self.encoded.sentences)
        if documents is not None:
            lines, changes = documents.borders, {"document_rows": documents.numbers, **changes}
        source = block_source(self.trainer, self.vocabulary, ids, lines, noise_weights)._replace(**changes)
        window, is_by_document = source.window, documents is not None
        words = size or (REPLICA_BLOCK_SIZE if self.has_replicas else BLOCK_SIZE)
        return TokenStream(source, lambda: new_block(window, noise, words, documents=is_by_document))

    def sentence_stream(self, noise_weights: np.ndarray, noise: int, *, max_length: int, size: int) -> TokenStream:
        """Whole sentences, in blocks of `embeddings.kernels.sentence_block.SentenceBlock`.

        Arguments:
            noise_weights: the distribution of random words, (vocabulary,).
            noise: random words drawn for each word to predict.
            max_length: words of a sentence; longer lines are cut into several.
            size: words in a block; it has room for `max_length` words at least.
        """
        keep = self.vocabulary.keep_probabilities(getattr(self.trainer, "subsample", 0.0))
        ids, lines = np.asarray(self.encoded.ids), np.asarray(self.encoded.sentences)
        source = SentenceSource(ids, lines, keep_thresholds(keep), alias_table(noise_weights), max_length)
        block_size = max(size, max_length)
        return TokenStream(source, lambda: new_sentence_block(block_size, noise), fill_sentences, is_valid_sentences)


def block_source(
    settings: Any, vocabulary: Vocabulary, ids: np.ndarray, lines: np.ndarray, noise_weights: np.ndarray
) -> BlockSource:
    """The source that threads read, made from ids and line offsets with the settings of a trainer."""
    return BlockSource(
        ids=ids,
        lines=lines,
        keep_thresholds=keep_thresholds(vocabulary.keep_probabilities(settings.subsample)),
        noise=alias_table(noise_weights),
        window=settings.window,
        shrink_window=settings.shrink_window,
        windows_per_draw=settings.windows_per_draw,
    )


def prepare(
    trainer: TrainerDeclaration,
    corpus: Corpus | EncodedCorpus | str | os.PathLike[str] | Iterable[Any],
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Report | None = None,
    run_options: RunOptions | None = None,
) -> TrainingData:
    """Check all arguments, encode the corpus and select its vocabulary.

    Arguments and errors are those of `Trainer.train`; an encoded corpus is used as it is.
    """
    compiled_before = compile_time.seconds
    reading_threads = threads
    threads, seed = check_threads_and_seed(threads, seed, trainer)
    run_options = run_options or RunOptions()
    run_options.check(trainer)
    threads = threads if device_of(trainer) is None else 1  # it feeds the device; `reading_threads` encode the text
    run_options.check_fingerprint(trainer, threads, seed)
    if isinstance(corpus, EncodedCorpus):
        encoded = corpus
    else:
        encoded = run_options.encode(as_corpus(corpus, trainer), reading_threads)
    check_form(trainer, encoded.meta["settings"])
    # Before words are selected: text that a callback holds out must not add to the vocabulary.
    for callback in run_options.callbacks:
        encoded = callback.on_corpus(encoded, trainer) or encoded
    if run_options.continued is not None:
        encoded = trainer.extend_corpus(run_options.continued, encoded)
    vocabulary = select_words(encoded, trainer, run_options.vocabulary_rule)
    if run_options.continued is None and (unknown_rows := getattr(trainer, "unknown_rows", 0)):
        encoded = with_vocabulary(encoded, vocabulary, unknown_rows)
        vocabulary = encoded.vocabulary
    elif getattr(trainer, "min_documents", 1) > 1 or run_options.vocabulary_rule is not None:
        encoded = with_vocabulary(encoded, vocabulary)  # ids change: the words need not be the most frequent
    if isinstance(trainer, ObjectiveChoice) and not trainer.target_in_sample:
        log.warning("without the target in the sample the loss has no lower bound, and training may diverge")
    epochs = getattr(trainer, "epochs", 1)
    numbers = trainer.trainer_name, len(encoded.ids), epochs, len(vocabulary), threads, seed
    log.info("training %s: %s words x %s epochs, vocabulary of %s, threads %s, seed %s", *numbers)
    return TrainingData(trainer, encoded, vocabulary, threads, seed, report, run_options, compiled_before)


FORMS = {  # of corpora, by what a trainer reads: the setting of `Corpus`, its class, and a field of this
    "reads_labels": ("labels", "LabelFormat", "prefix"),
    "reads_pairs": ("pairs", "PairFormat", "kinds"),
    "reads_contexts": ("pairs", "ContextFormat", "context"),
    "reads_vectors": ("vectors", "VectorFormat", "vector_column"),
}


def check_form(trainer: TrainerDeclaration, settings: dict[str, Any]) -> None:
    """Refuse a corpus without the labels, pairs, contexts or vectors that a trainer learns from."""
    for name, (setting, form, own) in FORMS.items():
        if getattr(trainer, name) and own not in settings.get(setting, ()):
            raise CorpusError(f"{trainer.trainer_name} requires a Corpus with {S[setting](f'em.corpora.{form}()')}")


def select_words(encoded: EncodedCorpus, settings: TrainerDeclaration, rule: VocabularyRule | None) -> Vocabulary:
    """The words of an encoded corpus that a trainer learns."""
    values = asdict(settings)
    min_documents = values.get("min_documents", 1)
    has_limit = min_documents > 1 and not encoded.meta["fixed_vocabulary"]
    return encoded.select(
        min_count=values.get("min_count", 1),
        max_vocab=values.get("max_vocab"),
        min_documents=min_documents,
        documents=document_counts(encoded, values.get("documents") or "auto") if has_limit else None,
        rule=rule,
    )


def with_vocabulary(encoded: EncodedCorpus, vocabulary: Vocabulary, unknown_rows: int = 0) -> EncodedCorpus:
    """Encode the corpus again with a vocabulary, in a temporary folder; other words share `unknown_rows` rows."""
    with new_folder(corpora_folder()) as folder:
        if unknown_rows:
            remap_to_rows(encoded, vocabulary, unknown_rows, folder)
        else:
            remap(encoded, vocabulary, folder)
    return EncodedCorpus(folder, temporary=True)


def as_corpus(corpus: Corpus | str | os.PathLike[str] | Iterable[Any], trainer: TrainerDeclaration) -> Corpus:
    """A `Corpus` unchanged, or a new one of any other input, with the tokenizer of the trainer."""
    if isinstance(corpus, Corpus):
        return corpus
    settings: dict[str, Any] = {"tokenizer": trainer.tokenizer, "case": trainer.case}
    if trainer.reads_labels:
        settings["labels"] = LabelFormat()
    return new_corpus(corpus, trainer, **settings)


def new_corpus(corpus: Any, trainer: TrainerDeclaration | type[TrainerDeclaration], **settings: Any) -> Corpus:
    """A corpus of texts, pairs or vectors, as the trainer reads, with settings of `Corpus`."""
    if getattr(trainer, "reads_vectors", False):
        return Corpus(corpus, vectors=VectorFormat(), **settings)
    if getattr(trainer, "reads_contexts", False):
        return Corpus(corpus, pairs=ContextFormat(), **settings)
    if getattr(trainer, "reads_pairs", False):
        return Corpus(corpus, pairs=PairFormat(), **settings)
    return Corpus(corpus, **settings)


def check_threads_and_seed(
    threads: int | None, seed: int, trainer: TrainerDeclaration | None = None
) -> tuple[int, int]:
    """The number of threads, by default all available cores that the trainer can use, and the seed."""
    limit = MAX_THREADS if trainer is None or trainer.max_threads is None else trainer.max_threads
    number = min(available_threads(), limit) if threads is None else threads
    threads = check_value("threads", number, int, {"ge": 1, "le": limit})
    seed = check_value("seed", seed, int, {"ge": 0, "le": 2**63 - 1})
    return threads, seed
