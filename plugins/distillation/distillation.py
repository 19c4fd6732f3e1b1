"""Distillation: static text vectors learned from the vectors of a teacher."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.reader import is_table
from embeddings.corpora.reading.sources import resolve_source
from embeddings.corpora.reading.text_vectors import read_text_vectors
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import read_only
from embeddings.kernels.sparse_steps import AdaGradRows
from embeddings.models.loading import has_model, load
from embeddings.models.model import Model
from embeddings.models.subwords import MAX_NGRAM_LENGTH, SubwordVectors, bucket_count, bucket_rows, ngram_hashes
from embeddings.models.table import INITIALIZERS, VECTORS, Arrays, Table
from embeddings.plugins.distillation.word_rows import (
    NGRAMS,
    fit_ngram_rows,
    mean_cosine,
    new_composer,
    principal_components,
    project,
    ridge_map,
)
from embeddings.plugins.text_pairs.learn_pairs import PairOperands, learn_text_pairs, new_subword_batch
from embeddings.plugins.text_pairs.pair_objectives import BatchShape, TeacherCosine
from embeddings.plugins.text_pairs.pair_stream import PairStream, corpus_pairs
from embeddings.plugins.text_pairs.pair_training import (
    NO_ROWS,
    SIF_A,
    WORDS,
    TextVectorSettings,
    max_batch_words,
    new_text_batch,
)
from embeddings.settings import SearchRange, option
from embeddings.support.logs import log
from embeddings.training.plan import Plan
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData

COMPONENTS = "teacher_components"
HELD_OUT_COSINE = "held_out_cosine"  # in the record of a model
EMPTY = AdaGradRows(NO_ROWS, NO_ROWS)
NO_NGRAMS = np.zeros(1, np.int64), np.empty(0, np.int32)


class TextStream(PairStream):
    """Texts, a batch at a time."""

    unit: ClassVar[str] = "texts"


@dataclass(frozen=True, kw_only=True)
class Distillation(Trainer, TextVectorSettings):
    """Text vectors from a teacher: means of word vectors that have the directions of the teacher's vectors of texts."""

    trainer_name = "distill"
    reads_vectors = True
    fixed_settings = ("dim", "min_n", "max_n")
    composer = staticmethod(new_composer)
    unsupported = frozenset({"freeze"})

    word_vectors: str | None = option(
        None,
        "The teacher's vectors of words, from which rows start: a table with a column of words and one of vectors, or "
        "any vector file. Words without a text are included. Use it with fewer than 50,000 texts.",
        common=True,
    )
    batch_size: int = option(512, "Texts in a batch.", ge=1, le=16384, search=SearchRange(128, 1024, log=True))
    held_out: float = option(
        0.01, "Share of texts that is not trained on; the record has its mean cosine.", gt=0, le=0.5
    )
    max_n: int = option(
        5,
        "Maximum length of n-grams, from which unknown words are composed; 0: unknown words have no vectors.",
        ge=0,
        le=MAX_NGRAM_LENGTH,
    )
    epochs: int = option(
        5, "Passes over the texts.", ge=1, le=1_000_000, search=SearchRange(1, 20, log=True), common=True
    )
    learning_rate: float = option(
        0.015,
        "Learning rate at the start, after the warm-up.",
        gt=0,
        le=100,
        search=SearchRange(0.005, 0.1, log=True),
        common=True,
    )

    def check_installation(self) -> None:
        """Raise an error before the corpus is read if the vectors of words cannot be read."""
        super().check_installation()
        if self.word_vectors is not None and not is_table(resolve_source(self.word_vectors)[0]):
            has_model(self.word_vectors)

    def plan(self, data: TrainingData) -> Plan:
        """A model of word vectors whose means are text vectors.

        Tables: "vectors" (vocabulary, dim), "teacher_components" (dim of the teacher, dim), the principal components,
        which are not learned, and with n-grams "character_ngrams" (buckets, dim), computed from the vectors at the end.
        """
        words = len(data.vocabulary)
        teacher = data.encoded.text_vectors
        if teacher is None:
            raise CorpusError("the corpus has no vectors of texts; set vectors=VectorFormat() of the Corpus")
        source, known, _ = corpus_pairs(data.encoded, words, self.max_words)
        shares = 1 + np.arange(len(known)) * self.held_out
        floors = [np.floor(np.round(one, 9)) for one in (shares, shares - self.held_out)]
        is_held_out = floors[0] > floors[1]  # the first text, and others at even distances
        order, held_out = known[~is_held_out], known[is_held_out]
        if not len(order):
            raise CorpusError(f"got {len(held_out)} texts with words; at least 2 are required, as one is held out")
        components = self.components(teacher, order, data.run_options.continued)
        targets = project(teacher, components)
        vocabulary, vectors = self.read_word_vectors(data)
        offsets, hashes = ngram_hashes(vocabulary.words if self.max_n else [], self.min_n, self.max_n)
        rows = bucket_count(self, data.run_options.continued, NGRAMS, hashes)
        buckets = bucket_rows(hashes, rows)

        def initialize(table: np.ndarray, dim: int, seed: int) -> None:
            INITIALIZERS[self.initializer](table, dim, seed)
            if vectors is not None:
                shares = vocabulary.counts / max(vocabulary.total, 1)
                start = vectors * (SIF_A / (SIF_A + shares)).astype(np.float32)[:, None]
                matrix = ridge_map(start, source, order, targets[:, :dim])
                has_vector: NDArray[np.bool_] = np.any(start, axis=1)
                table[has_vector, :dim] = start[has_vector] @ matrix
                if self.max_n and not has_vector.all():
                    known = np.where(has_vector[:, None], table[:, :dim], np.float32(0))
                    ngrams = fit_ngram_rows(known, offsets, buckets, rows, seed)
                    others = [word for word, has_one in zip(vocabulary.words, has_vector, strict=True) if not has_one]
                    table[~has_vector, :dim] = SubwordVectors(ngrams, self.min_n, self.max_n)(others)

        def copy_components(table: np.ndarray, dim: int, seed: int) -> None:
            table[:, :dim] = components

        shape = BatchShape(min(self.batch_size, len(order)), 1, padded(self.dim))
        capacity = max_batch_words(source, shape)

        def operands(arrays: Arrays) -> PairOperands:
            return PairOperands(
                source,
                new_text_batch(shape, capacity, words, has_map=False),
                AdaGradRows(arrays[WORDS], arrays[f"{WORDS}_moments"]),
                new_subword_batch(EMPTY, *NO_NGRAMS, capacity),
                EMPTY,
                EMPTY,
                np.array([self.dim]),
                TeacherCosine(read_only(targets)),
            )

        record: dict[str, Any] = {
            "texts": len(order), "held_out_texts": len(held_out), "teacher_dim": teacher.shape[1],
        }  # fmt: skip

        def export(saved: Arrays) -> Arrays:
            record[HELD_OUT_COSINE] = mean_cosine(saved[VECTORS], source, held_out, targets[:, : self.dim])
            if self.max_n:
                saved = {**saved, NGRAMS: fit_ngram_rows(saved[VECTORS], offsets, buckets, rows, data.seed)}
            return saved

        size = len(vocabulary)
        return Plan(
            tables={
                WORDS: Table(rows=size, dim=self.dim, axis="words", init=initialize, saved_as=VECTORS),
                f"{WORDS}_moments": Table(rows=size, dim=self.dim, axis="words", saved_as=None, on_merge="sum"),
                COMPONENTS: Table(
                    rows=teacher.shape[1], dim=self.dim, axis="other", init=copy_components, on_continue="copy"
                ),
            },
            stream=TextStream(order, shape.pairs, (source.ids, source.starts)),
            kernel=learn_text_pairs,
            operands=operands,
            export=export,
            vocabulary=vocabulary,
            composes=self.max_n > 0,
            record=record,
        )

    def components(
        self, teacher: NDArray[np.float16], order: NDArray[np.int64], continued: Model | None
    ) -> NDArray[np.float32]:
        """The principal components of the teacher's vectors, or of the vectors of the model to continue."""
        size = teacher.shape[1]
        if continued is not None:
            components = continued.tables[COMPONENTS]
            if len(components) != size:
                raise CorpusError(f"the model was distilled from vectors of {len(components)} numbers, got {size}")
            return components
        if min(size, len(order)) < self.dim:
            few = f"vectors of {size:,} numbers" if size < self.dim else f"{len(order):,} texts to train on"
            raise CorpusError(f"got {few}, fewer than {S.dim(self.dim)}: use a lower {S.dim}")
        return principal_components(teacher, order, self.dim)

    def read_word_vectors(self, data: TrainingData) -> tuple[Vocabulary, NDArray[np.float32] | None]:
        """The vocabulary with the words that have vectors but no text, and the vector of each word, zeros for none."""
        path, vocabulary = self.word_vectors, data.vocabulary
        if path is None:
            return vocabulary, None
        source = resolve_source(path)[0]
        if is_table(source):
            batches = list(read_text_vectors(source))
            words = [word for texts, _ in batches for word in texts]
            matrix = np.concatenate([vectors for _, vectors in batches] or [np.empty((0, 1), np.float32)])
        else:
            words, matrix = list((given := load(path)).words), given.matrix
        row_of = {word: row for row, word in reversed(list(enumerate(words)))}
        known = set(vocabulary.words)
        is_limited = data.encoded.meta["fixed_vocabulary"] or self.max_vocab is not None
        others = [] if is_limited else [word for word in row_of if word not in known and len(word.split()) == 1]
        all_words = [*vocabulary.words, *others]
        rows = np.array([row_of.get(word, -1) for word in all_words], np.int64)
        found = int(np.count_nonzero(rows[: len(vocabulary)] >= 0))
        if not found:
            raise CorpusError(f"none of the {len(words):,} words of {path} is a word of the texts")
        numbers = f"{found:,}", f"{len(vocabulary):,}", path, f"{len(others):,}"
        log.info("%s of %s words of the texts have vectors in %s; it has %s words without a text", *numbers)
        vectors = np.where((rows >= 0)[:, None], matrix[rows], np.float32(0)).astype(np.float32)
        counts = np.append(vocabulary.counts, np.zeros(len(others), np.int64))
        return Vocabulary(all_words, counts, total=vocabulary.total), vectors
