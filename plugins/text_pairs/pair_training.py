"""Static text vectors from pairs of texts: a text is the mean of its word vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.row_operations import PADDING, padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.sparse_steps import AdaGradRows
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer
from embeddings.models.table import VECTORS, Arrays, Table, word_vectors
from embeddings.plugins.text_pairs.learn_pairs import PairOperands, learn_text_pairs, new_subword_batch
from embeddings.plugins.text_pairs.pair_objectives import MIN_TEMPERATURE, BatchShape, PairObjective
from embeddings.plugins.text_pairs.pair_stream import PairStream, PairTexts, corpus_pairs
from embeddings.plugins.text_pairs.text_batch import TextBatch
from embeddings.settings import (
    Dimension,
    DocumentFrequency,
    Schedule,
    SearchRange,
    VocabularySize,
    option,
)
from embeddings.settings.objectives import ObjectiveDeclaration, Objectives
from embeddings.training.plan import Plan
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData
from embeddings.vectors.subwords import (
    BUCKETS_HELP,
    MAX_BUCKETS,
    MAX_NGRAM_LENGTH,
    SubwordVectors,
    bucket_count,
    bucket_rows,
    check_ngrams,
    ngram_hashes,
)

PAIR_OBJECTIVES = Objectives(
    ObjectiveDeclaration(
        "in-batch-negatives",
        "to find the right text among those of the other pairs of a batch",
        "embeddings.plugins.text_pairs.pair_objectives:InBatchNegatives",
        settings=("temperature",),
        defaults={"batch_size": 1024, "temperature": 0.03},
    ),
    ObjectiveDeclaration(
        "cosent",
        "that cosines have the order of ratings",
        "embeddings.plugins.text_pairs.pair_objectives:CoSENT",
        settings=("temperature",),
        defaults={"batch_size": 32, "temperature": 0.2},
    ),
)
if TYPE_CHECKING:
    PairObjectiveName = str
else:
    PairObjectiveName = PAIR_OBJECTIVES.choices
MIN_NGRAM_LENGTH = 3


@dataclass(frozen=True, kw_only=True)
class TextVectorSettings(DocumentFrequency, VocabularySize, Schedule, Dimension):
    """Settings of trainers of text vectors."""

    text_pool: ClassVar[str] = "mean"

    dim: int = option(
        256, "Dimension of the vectors.", ge=1, le=65536, search=SearchRange(64, 512, log=True), common=True
    )
    min_count: int = option(1, "Drop words that occur less often.", ge=1, common=True)
    min_n: int = option(
        MIN_NGRAM_LENGTH,
        "Minimum length in characters of n-grams, counting the word boundaries < and >. Requires --max-n.",
        ge=0,
        le=MAX_NGRAM_LENGTH,
    )
    max_n: int = option(
        0,
        "Maximum length of n-grams: a word is its own row plus the mean of those of its character n-grams, and unknown "
        "words have vectors; 0: no n-grams.",
        ge=0,
        le=MAX_NGRAM_LENGTH,
        common=True,
    )
    buckets: int | None = option(None, BUCKETS_HELP, ge=1, le=MAX_BUCKETS)
    max_words: int | None = option(
        None, "Read only the first words of each text, up to this number.  [default: all]", ge=1, le=1_000_000_000
    )
    warm_up: float | None = option(
        0.05, "Share of training, 0 to 0.9, in which the learning rate first rises linearly.", ge=0, le=0.9
    )
    shuffle: bool = option(
        True,
        "Read each thread's share of the texts in a new random order in every epoch. Consecutive texts are often of "
        "one document; pairs of them make bad negatives.",
        flags="--shuffle/--no-shuffle",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("min_n", self.max_n > 0 or self.min_n == MIN_NGRAM_LENGTH, f"n-grams: set {S.max_n}")
        check_ngrams(self.min_n, self.max_n, self.buckets)


@dataclass(frozen=True, kw_only=True)
class PairSettings(TextVectorSettings):
    """Settings of trainers of text vectors from pairs."""

    objective: PairObjectiveName = option("in-batch-negatives", PAIR_OBJECTIVES.help("What is learned from pairs."))
    batch_size: int | None = option(
        None,
        f"Pairs in a batch.  [default: {PAIR_OBJECTIVES.defaults('batch_size')}]",
        ge=2,
        le=16384,
        search=SearchRange(256, 2048, log=True),
        common=True,
    )
    temperature: float | None = option(
        None,
        "Divisor of cosines: a lower one gives more weight to the hardest negatives.  [default: "
        f"{PAIR_OBJECTIVES.defaults('temperature')}]",
        ge=MIN_TEMPERATURE,
        le=100,
        search=SearchRange(0.03, 0.1, log=True),
    )
    word_dropout: float = option(
        0.0, "Share of words that are dropped from texts at random, against overfitting.", ge=0, le=0.9
    )
    epochs: int = option(
        3, "Passes over the pairs.", ge=1, le=1_000_000, search=SearchRange(1, 20, log=True), common=True
    )
    learning_rate: float = option(
        0.05,
        "Learning rate at the start, after the warm-up.",
        gt=0,
        le=100,
        search=SearchRange(0.005, 0.2, log=True),
        common=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        PAIR_OBJECTIVES.check(self, self.objective)

    @property
    def pair_objective(self) -> type[PairObjective]:
        """The objective."""
        objective: type[PairObjective] = PAIR_OBJECTIVES[self.objective].implementation()
        return objective

    def value_of(self, name: str) -> Any:
        """A setting, or the default of the objective; None if it has no effect."""
        value = getattr(self, name)
        return PAIR_OBJECTIVES[self.objective].defaults.get(name) if value is None else value


WORDS, NGRAMS = "words", "character_ngrams"
NO_ROWS = np.zeros((0, PADDING), np.float32)


def new_composer(model: Model) -> SubwordVectors:
    """The composer of a text-pairs model."""
    return composer(model, NGRAMS)


@dataclass(frozen=True, kw_only=True)
class DualEncoder(Trainer, PairSettings):
    """Text vectors from pairs of texts: means of word vectors that are near for the texts of a pair."""

    trainer_name = "text-pairs"
    reads_pairs = True
    fixed_settings = ("dim", "min_n", "max_n")
    precompile_settings: ClassVar[Mapping[str, Any]] = {"min_n": 1, "max_n": 2}
    composer = staticmethod(new_composer)

    @property
    def can_freeze(self) -> bool:
        """Whether pretrained word vectors can be frozen: not if n-grams change them."""
        return super().can_freeze and self.max_n == 0

    def plan(self, data: TrainingData) -> Plan:
        """A model of word vectors whose means are text vectors.

        With n-grams, the vectors are sums of "words" and the means of their rows in "character_ngrams" (buckets, dim).
        """
        words, continued = len(data.vocabulary), data.run_options.continued
        if continued is not None and self.max_n and "token_weights" in continued.tables:
            raise SettingError("cannot continue training a model with weights of words, which are no longer learned")
        texts, order, all_ratings = corpus_pairs(data.encoded, words, self.max_words, self.word_dropout)
        ratings = self.scaled_ratings(texts.sides, order, all_ratings)
        # hashed once for all words: a batch then reads the buckets of a word as it reads its row
        offsets, hashes = ngram_hashes(data.vocabulary.words if self.max_n else [], self.min_n, self.max_n)
        tables = self.tables(data.vocabulary, bucket_count(self, continued, NGRAMS, hashes))
        buckets = bucket_rows(hashes, tables[NGRAMS].rows if self.max_n else 1)
        shape = BatchShape(min(self.value_of("batch_size"), len(order)), texts.sides, padded(self.dim))
        capacity = max_batch_words(texts, shape)

        def operands(arrays: Arrays) -> PairOperands:
            return PairOperands(
                texts,
                new_text_batch(shape, capacity, words),
                self.optimizer_rows(arrays, WORDS),
                new_subword_batch(self.optimizer_rows(arrays, NGRAMS), offsets, buckets, capacity),
                self.dim,
                self.pair_objective.operand(self, shape, ratings),
            )

        dropped = (len(texts.starts) - 1) // texts.sides - len(order)
        return Plan(
            tables=tables,
            stream=PairStream(order, shape.pairs, (texts.ids, texts.starts)),
            kernel=learn_text_pairs,
            operands=operands,
            export=(lambda arrays: self.export(arrays, data.vocabulary)) if self.max_n else None,
            composes=self.max_n > 0,
            record={"pairs": len(order), "dropped_pairs": dropped},
        )

    def tables(self, vocabulary: Vocabulary, buckets: int) -> dict[str, Table]:
        """The tables of the model, and the state of the optimizer."""
        size, dim = len(vocabulary), self.dim
        tables = {WORDS: word_vectors(size, dim)}
        if self.max_n:
            tables[WORDS] = replace(tables[WORDS], saved_as=WORDS)
            tables[NGRAMS] = Table(rows=buckets, dim=dim, axis="subwords")
        state = {}
        for name, table in tables.items():
            changes: dict[str, Any] = {"rows": table.rows, "axis": table.axis, "saved_as": None}
            state[f"{name}_moments"] = Table(**changes, dim=table.dim, on_merge="sum")
        return tables | state

    def export(self, saved: Arrays, vocabulary: Vocabulary) -> Arrays:
        """The tables of a model, and its vectors, computed from them."""
        composed = SubwordVectors(saved[NGRAMS], self.min_n, self.max_n)(vocabulary.words)
        return {VECTORS: saved[WORDS] + composed, **saved}

    def optimizer_rows(self, arrays: Arrays, name: str) -> AdaGradRows:
        """A table with the state of its optimizer; empty if it is not learned."""
        empty = AdaGradRows(NO_ROWS, NO_ROWS)
        return AdaGradRows(arrays[name], arrays[f"{name}_moments"]) if name in arrays else empty

    def scaled_ratings(self, sides: int, order: np.ndarray, ratings: np.ndarray) -> np.ndarray:
        """The ratings of all pairs from 0 to 1, as the objective needs them; empty if it does not."""
        allowed = self.pair_objective.sides
        if sides not in allowed:
            texts = f"{' or '.join(map(str, allowed))} texts, a left, a right and perhaps a negative one"
            raise CorpusError(f"{S.objective(self.objective)} requires pairs of {texts}, got {sides}: select columns")
        if not self.pair_objective.reads_ratings:
            return np.empty(0, np.float32)
        used = ratings[order] if len(ratings) else np.zeros(1)
        low, high = float(used.min()), float(used.max())
        if low == high:
            raise CorpusError(f"{S.objective(self.objective)} requires ratings that differ: select their column")
        return np.asarray((ratings - np.float32(low)) / np.float32(high - low))


def max_batch_words(texts: PairTexts, shape: BatchShape) -> int:
    """The largest number of words in a batch of pairs."""
    lengths = np.minimum(np.diff(texts.starts), texts.limit)
    # The longest texts may meet in one batch, in whatever order an epoch reads them.
    others = max(len(lengths) - shape.pairs * shape.sides, 0)
    return int(np.partition(lengths, others)[others:].sum())


def new_text_batch(shape: BatchShape, capacity: int, words: int, dtype: type = np.float32) -> TextBatch:
    """Memory for a batch of this shape with up to `capacity` words of a vocabulary of `words`."""
    texts, width = shape.pairs * shape.sides, shape.width

    def matrix() -> np.ndarray:
        return separate_zeros((texts, width), dtype)

    return TextBatch(
        rows=np.zeros(capacity, np.int32),
        starts=np.zeros(texts + 1, np.int64),
        hashes=np.zeros(texts, np.uint64),
        sums=matrix(),
        sum_gradients=matrix(),
        units=matrix(),
        unit_gradients=matrix(),
        norms=np.zeros(texts, dtype),
        addresses=np.zeros(capacity, np.int64),
        counts=np.zeros(words, np.int32),
        touched=np.zeros(capacity, np.int32),
        begins=np.zeros(capacity + 1, np.int64),
        numbers=np.arange(texts),
        weights=np.ones(shape.pairs, dtype),
        gradient=separate_zeros((1, width), dtype),
        factor=np.ones(1, dtype),
    )
