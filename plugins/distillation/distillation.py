"""Distillation: static text vectors learned from the vectors of a teacher.

Words start in closed form. Their rows are X A: X are vectors of words times their SIF weights (Arora et al. 2017), and
A is the linear map that minimises the sum over texts of w |u A - y|^2 + l |A|^2. u is the direction of the sum of the
rows of X of a text, y the teacher's vector of the text in principal components and w its weight. l is `RIDGE` times the
mean eigenvalue of the Gram matrix of u.

Rows of character n-grams are learned so that their means reproduce the directions of given word vectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.corpora.reading.reader import is_table
from embeddings.corpora.reading.sources import File, Source, resolve_source
from embeddings.corpora.reading.text_vectors import join_teachers, read_text_vectors, split_weights
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import read_only
from embeddings.kernels.sparse_steps import AdaGradRows
from embeddings.kernels.text_pooling import sum_texts
from embeddings.models.loading import has_model, load
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer
from embeddings.models.table import VECTORS, Arrays, Table, uniform
from embeddings.plugins.text_pairs.learn_pairs import PairOperands, learn_text_pairs, new_subword_batch
from embeddings.plugins.text_pairs.pair_objectives import BatchShape, TeacherCosine
from embeddings.plugins.text_pairs.pair_stream import PairStream, PairTexts, corpus_pairs
from embeddings.plugins.text_pairs.pair_training import (
    NO_ROWS,
    WORDS,
    TextVectorSettings,
    max_batch_words,
    new_text_batch,
)
from embeddings.printable import format_names
from embeddings.settings import SearchRange, option
from embeddings.support.imports import import_library
from embeddings.support.logs import log
from embeddings.training.plan import Plan
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData, as_corpus
from embeddings.vectors.subwords import (
    MAX_NGRAM_LENGTH,
    SubwordVectors,
    Word,
    bucket_count,
    bucket_rows,
    ngram_hashes,
)

DIMS = 256, 512  # for one teacher, for several
MAX_GAP = 0.1  # of the words of the texts without a vector
RIDGE = 1e-3
BLOCK = 8192  # texts at a time
MAX_TEXTS = 1 << 17  # from which components are computed
NO_WEIGHTS = np.empty(0, np.float32)


def principal_components(vectors: NDArray[np.float16], order: NDArray[np.int64], dim: int) -> NDArray[np.float32]:
    """The leading eigenvectors of the Gram matrix of vectors that are not centred, (dim of vectors, dim).

    The largest entry of each has a positive sign. Of very many vectors a regular sample is read.
    """
    sample, gram = order[:: -(-len(order) // MAX_TEXTS)], np.zeros((vectors.shape[1],) * 2)
    with import_library("threadpoolctl").threadpool_limits(1):  # sums of several threads differ from run to run
        for first in range(0, len(sample), BLOCK):
            block = vectors[sample[first : first + BLOCK]].astype(np.float32)
            gram += block.T @ block
        _, eigenvectors = np.linalg.eigh(gram)
    components = eigenvectors[:, ::-1][:, :dim]
    # LAPACK leaves the sign open; a fixed one makes models comparable.
    signs = np.sign(components[np.abs(components).argmax(axis=0), np.arange(dim)])
    return np.ascontiguousarray(components * signs, np.float32)


def project(vectors: NDArray[np.float16], components: NDArray[np.float32]) -> NDArray[np.float32]:
    """The principal components of vectors, (vectors, padded dim); norms stay the same."""
    output = np.zeros((len(vectors), padded(components.shape[1])), np.float32)
    with import_library("threadpoolctl").threadpool_limits(1):
        for first in range(0, len(vectors), BLOCK):
            block = vectors[first : first + BLOCK].astype(np.float32)
            part = block @ components
            norms = np.linalg.norm(part, axis=1, keepdims=True)
            part *= np.linalg.norm(block, axis=1, keepdims=True) / np.where(norms > 0, norms, 1)
            output[first : first + BLOCK, : components.shape[1]] = part
    return output


def text_sums(
    rows: NDArray[np.float32], texts: PairTexts, order: NDArray[np.int64], targets: NDArray[np.float32]
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield the sums of the rows of the known words of texts, (texts, dim), and their targets, a block at a time."""
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        lengths = np.minimum(texts.starts[block + 1] - texts.starts[block], texts.limit)
        starts = np.append(0, np.cumsum(lengths))
        ids = texts.ids[np.repeat(texts.starts[block] - starts[:-1], lengths) + np.arange(starts[-1])].astype(np.int64)
        known = np.append(0, np.cumsum(ids < texts.words))
        sums = np.zeros((len(block), rows.shape[1]), np.float32)
        sum_texts(rows, ids[ids < texts.words], known[starts], NO_WEIGHTS, sums)
        yield sums, targets[block]


def ridge_map(
    rows: NDArray[np.float32], texts: PairTexts, order: NDArray[np.int64], targets: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The linear map A of sums of rows to targets, (dim of rows, dim); targets are weights times unit vectors."""
    size = rows.shape[1]
    gram, products = np.zeros((size, size)), np.zeros((size, targets.shape[1]))
    with import_library("threadpoolctl").threadpool_limits(1):
        for sums, target in text_sums(rows, texts, order, targets):
            sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(np.float32).tiny)
            gram += sums.T @ (sums * np.linalg.norm(target, axis=1, keepdims=True))
            products += sums.T @ target
        if not gram.any():
            raise CorpusError(f"no text to train on has a word with a vector: {S.word_vectors} has none of its words")
        # In units of the mean eigenvalue, so that it does not depend on the number of texts.
        penalty = RIDGE * float(np.trace(gram)) / size
        return np.linalg.solve(gram + penalty * np.eye(size), products).astype(np.float32)


def mean_cosine(
    rows: NDArray[np.float32], texts: PairTexts, order: NDArray[np.int64], targets: NDArray[np.float32]
) -> float:
    """The mean cosine of the sums of rows of texts and their targets."""
    total = 0.0
    for sums, target in text_sums(rows, texts, order, targets):
        norms = np.linalg.norm(sums, axis=1) * np.linalg.norm(target, axis=1)
        total += float((np.einsum("ij,ij->i", sums, target) / np.where(norms > 0, norms, 1)).sum(dtype=np.float64))
    return total / len(order)


def word_table(source: Source, path: str) -> tuple[dict[str, int], NDArray[np.float32]]:
    """The first row of each word, and the vectors, (rows, dim), of a table or a vector file."""
    if has_columns(source):
        batches = list(read_text_vectors(source))
        words = [word for texts, _ in batches for word in texts]
        matrix = np.concatenate([vectors for _, vectors in batches] or [np.empty((0, 1), np.float32)])
    else:
        words, matrix = list((given := load(path)).words), given.matrix
    return dict(zip(reversed(words), reversed(range(len(words))), strict=True)), matrix


def has_columns(source: Source) -> bool:
    """Whether word vectors are a table; a pipe must be one."""
    # A pipe is read once: what would be read to recognise its type would be missing afterwards.
    is_pipe = isinstance(source, File) and not source.is_regular
    return is_pipe or is_table(source)


EPOCHS = 5
RATE = 0.5
NGRAMS = "character_ngrams"
WEIGHT = 1.25  # of unknown words: their norm, divided by that of rare words


@entry_point
def learn_ngram_rows(
    targets: np.ndarray, order: np.ndarray, offsets: np.ndarray, buckets: np.ndarray, ngrams: np.ndarray,
    error: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """For each word move its n-gram rows by rate (v - m): v is its target, m the mean of its n-gram rows (Kaczmarz)."""
    for word in order:
        begin, end = offsets[word], offsets[word + 1]
        if begin == end:
            continue
        share, target = error.dtype.type(1) / error.dtype.type(end - begin), targets[word]
        for d in range(error.shape[0]):
            error[d] = 0
        for at in range(begin, end):
            row = ngrams[buckets[at]]
            for d in range(error.shape[0]):
                error[d] += row[d]
        step = error.dtype.type(rate)
        for d in range(error.shape[0]):
            error[d] = step * (target[d] - share * error[d])
        for at in range(begin, end):
            row = ngrams[buckets[at]]
            for d in range(error.shape[0]):
                row[d] += error[d]


def fit_ngram_rows(
    vectors: NDArray[np.float32], offsets: NDArray[np.int64], buckets: NDArray[np.int32], rows: int, seed: int
) -> NDArray[np.float32]:
    """N-gram rows, (rows, dim), whose means have about the directions of the vectors of words; zeros are left out.

    All words have the same norm, the median norm of the rarer half: an unknown word weighs as much as a rare one.

    Arguments:
        vectors: (words, dim), most frequent first.
        offsets, buckets: as those of `embeddings.vectors.subwords.subwords`.
    """
    norms, dim = np.linalg.norm(vectors, axis=1), vectors.shape[1]
    given, norm = np.flatnonzero(norms), rare_norm(norms)
    targets = np.zeros((len(vectors), padded(dim)), np.float32)
    np.divide(vectors * norm, norms[:, None], out=targets[:, :dim], where=norms[:, None] > 0)
    ngrams, error = np.zeros((rows, targets.shape[1]), np.float32), np.zeros(targets.shape[1], np.float32)
    random = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        learn_ngram_rows(targets, random.permutation(given), offsets, buckets, ngrams, error, rate)
    return np.ascontiguousarray(ngrams[:, :dim])


def rare_norm(norms: NDArray[np.float32]) -> np.float32:
    """The median norm of the rarer half of the words that have vectors, most frequent first."""
    given = norms[norms > 0]
    return np.float32(np.median(given[len(given) // 2 :]))


@dataclass(frozen=True)
class DirectionComposer(SubwordVectors):
    """Composes word vectors of one norm from n-gram rows; the means of rows that are not fitted are too short."""

    norm: np.float32

    def __call__(self, words: Sequence[Word]) -> NDArray[np.float32]:
        """The vectors of words outside the vocabulary, (words, dim) float32; zeros for words without n-grams."""
        vectors = super().__call__(words)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors *= np.divide(self.norm, norms, out=np.zeros_like(norms), where=norms > 0)
        return vectors


def new_composer(model: Model) -> DirectionComposer:
    """The composer of a distilled model."""
    subwords, norms = composer(model, NGRAMS), np.linalg.norm(model.vectors.matrix, axis=1)
    return DirectionComposer(subwords.ngrams, subwords.min_n, subwords.max_n, np.float32(WEIGHT) * rare_norm(norms))


COMPONENTS = "teacher_components"
HELD_OUT_COSINE = "held_out_cosine"  # in the record of a model
SIF_A = 1e-3
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

    dim: int = option(
        0,
        "Dimension of the vectors; 0: 256, or 512 for several teachers.",
        ge=0,
        le=65536,
        search=SearchRange(64, 512, log=True),
        common=True,
    )
    word_vectors: tuple[str, ...] = option(
        (),
        "The teacher's vectors of words, from which rows start: a table with a column of words and one of vectors, or "
        "any vector file. Words without a text are included. Use it with fewer than 50,000 texts. Repeatable, such as "
        "for several languages: a word of several tables gets the mean of its vectors.",
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
        for path in split_weights(self.word_vectors)[0]:
            if not has_columns(resolve_source(path)[0]):
                has_model(path)

    def run(self, corpus: Any, **others: Any) -> Model:
        """Train a model; the default dimension depends on the number of teachers of the corpus."""
        corpus = as_corpus(corpus, self)
        trainer = self if self.dim else replace(self, dim=DIMS[len(corpus.teachers) > 1])
        return super(Distillation, trainer).run(corpus, **others)

    def plan(self, data: TrainingData) -> Plan:
        """A model of word vectors whose means are text vectors.

        Tables: "vectors" (vocabulary, dim), "teacher_components" (dim of the teacher, dim), the principal components,
        which are not learned, and with n-grams "character_ngrams" (buckets, dim), computed from the vectors at the end.
        """
        words = len(data.vocabulary)
        teacher = data.encoded.text_vectors
        assert teacher is not None
        source, known, _ = corpus_pairs(data.encoded, words, self.max_words)
        counts = np.floor(np.round(1 + np.arange(len(known)) * self.held_out, 9))
        is_held_out = np.diff(counts, prepend=0) > 0  # the first text, and others at even distances
        order, held_out = known[~is_held_out], known[is_held_out]
        teachers = data.encoded.meta["settings"]["vectors"].get("teachers", {})
        components = self.components(teacher, order, data.run_options.continued, teachers)
        targets = project(teacher, components)
        vocabulary, vectors = self.read_word_vectors(data)
        offsets, hashes = ngram_hashes(vocabulary.words if self.max_n else [], self.min_n, self.max_n)
        rows = bucket_count(self, data.run_options.continued, NGRAMS, hashes)
        buckets = bucket_rows(hashes, rows)

        def initialize(table: np.ndarray, dim: int, seed: int) -> None:
            uniform(table, dim, seed)
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
                new_text_batch(shape, capacity, words),
                AdaGradRows(arrays[WORDS], arrays[f"{WORDS}_moments"]),
                new_subword_batch(AdaGradRows(NO_ROWS, NO_ROWS), *NO_NGRAMS, capacity),
                self.dim,
                TeacherCosine(read_only(targets)),
            )

        record: dict[str, Any] = {
            "texts": len(order), "held_out_texts": len(held_out), "teacher_dim": teacher.shape[1],
            **({"teachers": teachers} if teachers else {}),
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
        self,
        teacher: NDArray[np.float16],
        order: NDArray[np.int64],
        continued: Model | None,
        teachers: Mapping[str, float],
    ) -> NDArray[np.float32]:
        """The principal components of the teacher's vectors, or of the vectors of the model to continue."""
        size, required = teacher.shape[1], self.dim if continued is None else 1
        if min(size, len(order)) < required:
            few = f"vectors of {size:,} numbers" if size < required else f"{len(order):,} texts besides those held out"
            raise CorpusError(f"got {few}; {S.dim(self.dim)} requires at least {required}")
        if continued is not None:
            components, known = continued.tables[COMPONENTS], continued.record.get("teachers")
            # the components belong to the places of the teachers
            is_swapped = isinstance(known, dict) and {*known} == {*teachers} and [*known] != [*teachers]
            if is_swapped or len(components) != size:
                origin = f"vectors of {len(components)} numbers, got {size}"
                origin = f"teachers in the order {format_names([*(known or ())])}" if is_swapped else origin
                raise CorpusError(f"the model was distilled from {origin}")
            return components
        return principal_components(teacher, order, self.dim)

    def read_word_vectors(self, data: TrainingData) -> tuple[Vocabulary, NDArray[np.float32] | None]:
        """The vocabulary with the words that have vectors but no text, and the vector of each word, zeros for none."""
        vocabulary = data.vocabulary
        if not self.word_vectors:
            return vocabulary, None
        paths, weights = split_weights(self.word_vectors)
        sources, weights, _ = join_teachers([resolve_source(path)[0] for path in paths], weights)
        if any(weight != 1 for weight in weights):  # of tables that are not joined
            raise SettingError(f"weights of {S.word_vectors} require tables of different teachers")
        tables = [word_table(*one) for one in zip(sources, paths, strict=False)]  # fewer sources if they are joined
        is_limited = data.encoded.meta["fixed_vocabulary"] or self.max_vocab is not None
        others = [] if is_limited else [word for row_of, _ in tables for word in row_of if len(word.split()) == 1]
        all_words = list(dict.fromkeys([*vocabulary.words, *others]))
        vectors = np.zeros((len(all_words), tables[0][1].shape[1]), np.float32)
        numbers = np.zeros(len(all_words), np.int64)
        for source, (row_of, matrix) in zip(sources, tables, strict=True):
            rows = np.array([row_of.get(word, -1) for word in all_words], np.int64)
            count = int(np.count_nonzero(rows[: len(vocabulary)] >= 0))
            log.info("%s of %s words of the texts have vectors in %s", count, len(vocabulary), source.name)
            if not count or matrix.shape[1] != vectors.shape[1]:
                sizes = f"expected vectors of {vectors.shape[1]} numbers as in {sources[0].name}, got {matrix.shape[1]}"
                problem = f"{sizes} in" if count else "no text to train on has a word of"
                raise CorpusError(f"{problem} {S.word_vectors(source.name)}")
            vectors[rows >= 0] += matrix[rows[rows >= 0]]
            numbers += rows >= 0
        vectors /= np.maximum(numbers, 1).astype(np.float32)[:, None]
        has_none = numbers[: len(vocabulary)] == 0
        share = vocabulary.counts[has_none].sum() / max(vocabulary.tokens, 1)
        if share > MAX_GAP:  # such as those of a language without a table
            examples = format_names([str(vocabulary.words[row]) for row in np.flatnonzero(has_none)[:3]])
            problem = f"{share:.0%} of the words of the texts have no vector in the tables of words, such as {examples}"
            log.warning("%s: embed the vocabulary of all texts, in each language", problem)
        counts = np.append(vocabulary.counts, np.zeros(len(all_words) - len(vocabulary), np.int64))
        return Vocabulary(all_words, counts, total=vocabulary.total), vectors
