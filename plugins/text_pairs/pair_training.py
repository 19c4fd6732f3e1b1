"""Static text vectors from pairs of texts: a text is the mean of its word vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.row_operations import PADDING, padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.sparse_steps import AdaGradRows, AdamRows
from embeddings.models.embed import embed, load_source
from embeddings.models.model import LEFT, RIGHT, SIDES, Model
from embeddings.models.subword_composer import composer
from embeddings.models.table import INITIALIZERS, VECTORS, Arrays, Table, word_vectors
from embeddings.models.text_settings import model_settings
from embeddings.plugins.text_pairs.learn_pairs import PairOperands, learn_text_pairs, new_subword_batch
from embeddings.plugins.text_pairs.pair_objectives import LOWEST_RATING, MIN_TEMPERATURE, BatchShape, PairObjective
from embeddings.plugins.text_pairs.pair_stream import PairStream, PairTexts, corpus_pairs, draw_rates
from embeddings.plugins.text_pairs.text_batch import Guide, TextBatch
from embeddings.settings import (
    Dimension,
    DocumentFrequency,
    InitialValues,
    Schedule,
    SearchRange,
    VocabularySize,
    option,
)
from embeddings.settings.objectives import ObjectiveDeclaration, Objectives
from embeddings.support.logs import log
from embeddings.training.continued_training import saved_table
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
from embeddings.vectors.vectors import Vectors

PAIR_OBJECTIVES = Objectives(
    ObjectiveDeclaration(
        "in-batch-negatives",
        "to find the right text among those of the other pairs of a batch",
        "embeddings.plugins.text_pairs.pair_objectives:InBatchNegatives",
        settings=("temperature", "guide"),
        defaults={"batch_size": 1024, "temperature": 0.03},
    ),
    ObjectiveDeclaration(
        "triplet-margin",
        "that the right text is nearer than a negative one",
        "embeddings.plugins.text_pairs.pair_objectives:TripletMargin",
        settings=("margin",),
        defaults={"batch_size": 256, "margin": 0.3},
    ),
    ObjectiveDeclaration(
        "cosent",
        "that cosines have the order of ratings",
        "embeddings.plugins.text_pairs.pair_objectives:CoSENT",
        settings=("temperature",),
        defaults={"batch_size": 32, "temperature": 0.2},
    ),
    ObjectiveDeclaration(
        "rating-distribution",
        "a network that predicts ratings from both vectors",
        "embeddings.plugins.text_pairs.pair_objectives:RatingDistribution",
        settings=("hidden_size",),
        defaults={"batch_size": 32},
    ),
)
if TYPE_CHECKING:
    PairObjectiveName = str
else:
    PairObjectiveName = PAIR_OBJECTIVES.choices
MAX_DIMS = 16
MIN_NGRAM_LENGTH = 3


@dataclass(frozen=True, kw_only=True)
class TextVectorSettings(DocumentFrequency, VocabularySize, Schedule, InitialValues, Dimension):
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
    guide: str | None = option(
        None,
        "A model or vectors, such as those of an earlier training: texts of two pairs that are nearer by them than the "
        "texts of one of these pairs are not negatives (GISTEmbed).",
    )
    margin: float | None = option(
        None,
        f"Difference of cosines that is enough.  [default: {PAIR_OBJECTIVES.defaults('margin')}]",
        gt=0,
        le=2,
    )
    hidden_size: int = option(50, "Hidden units of the network of rating-distribution.", ge=1, le=4096)
    dims: str | None = option(
        None,
        "Numbers of leading components that are trained as vectors of their own, such as 256,128,64, so that vectors "
        "can be truncated (Matryoshka).  [default: only --dim]",
    )
    optimizer: Literal["adam", "adagrad"] = option(
        "adagrad",
        "Steps of the rows of a batch. adagrad: AdaGrad, with less memory and time; adam: Adam, as PyTorch's "
        "SparseAdam, which requires a lower learning rate.",
    )
    token_weights: Literal["none", "ones", "sif"] = option(
        "none",
        "Learned weights of words. none: only the lengths of vectors weigh; ones: weights that start from 1; sif: that "
        "start from a / (a + p) for a word of relative frequency p, a = 0.001. Vectors are saved times their weights.",
    )
    linear_map: bool = option(
        False,
        "Learn a linear map of text vectors, which starts from the identity. Vectors are saved mapped.",
        flags="--linear-map/--no-linear-map",
    )
    sides: Literal["shared", "map", "tables"] = option(
        "shared",
        "Vectors of left and right texts, such as questions and answers. shared: the same; map: left texts go through "
        "a learned linear map; tables: each side has its own rows of words, which start from the same values.",
    )
    word_dropout: float = option(
        0.0, "Share of words that are dropped from texts at random, against overfitting.", ge=0, le=0.9
    )
    epochs: int = option(
        3, "Passes over the pairs.", ge=1, le=1_000_000, search=SearchRange(1, 20, log=True), common=True
    )
    learning_rate: float = option(
        0.05,
        "Learning rate at the start, after the warm-up. With adam, about 0.01 is better, and 0.004 for ratings.",
        gt=0,
        le=100,
        search=SearchRange(0.005, 0.2, log=True),
        common=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        PAIR_OBJECTIVES.check(self, self.objective)
        dims = [*self.dim_list, 0]
        if dims[0] != self.dim or any(a <= b for a, b in pairwise(dims)) or len(dims) > MAX_DIMS + 1:
            raise SettingError(
                f"{S.dims} must be at most {MAX_DIMS} decreasing integers that begin with {S.dim(self.dim)}, "
                f"got {self.dims!r}"
            )
        others = {"max_n": 0, "token_weights": "none"} if self.sides == "tables" else {}
        for name, default in ({"linear_map": False, **others} if self.sides != "shared" else {}).items():
            self.require("sides", getattr(self, name) == default, S[name](default))

    @property
    def pair_objective(self) -> type[PairObjective]:
        """The objective."""
        objective: type[PairObjective] = PAIR_OBJECTIVES[self.objective].implementation()
        return objective

    def value_of(self, name: str) -> Any:
        """A setting, or the default of the objective; None if it has no effect."""
        value = getattr(self, name)
        return PAIR_OBJECTIVES[self.objective].defaults.get(name) if value is None else value

    @property
    def dim_list(self) -> list[int]:
        """The numbers of components that are trained, from `dim` on; 0 for a part of `dims` that is no number."""
        parts = [str(self.dim)] if self.dims is None else self.dims.split(",")
        return [int(part) if part.strip().isdecimal() and len(part) < 10 else 0 for part in parts]


WORDS, NGRAMS, WEIGHTS, MAP = "words", "character_ngrams", "token_weights", "linear_map"
SIF_A = 1e-3
MAX_CLASSES = 100  # of ratings
NO_ROWS = np.zeros((0, PADDING), np.float32)


@dataclass(frozen=True)
class MappedSubwords(SubwordVectors):
    """Composes the vectors of unknown words from their n-grams, through a linear map, (dim, dim)."""

    map: np.ndarray

    def __call__(self, words: Sequence[str | bytes]) -> np.ndarray:
        """The vectors of words outside the vocabulary, (words, dim) float32; zeros for words without n-grams."""
        return np.asarray(super().__call__(words) @ self.map)


def new_composer(model: Model) -> SubwordVectors:
    """The composer of a text-pairs model."""
    parts = composer(model, NGRAMS)
    mapped = (parts.ngrams, parts.min_n, parts.max_n)
    return MappedSubwords(*mapped, model.tables[MAP]) if MAP in model.tables else parts


@dataclass(frozen=True, kw_only=True)
class DualEncoder(Trainer, PairSettings):
    """Text vectors from pairs of texts: means of word vectors that are near for the texts of a pair."""

    trainer_name = "text-pairs"
    reads_pairs = True
    fixed_settings = ("dim", "token_weights", "linear_map", "sides", "min_n", "max_n")
    precompile_settings: ClassVar[Mapping[str, Any]] = {"min_n": 1, "max_n": 2}
    composer = staticmethod(new_composer)

    @staticmethod
    def sides_of(model: Model) -> tuple[Model, Model]:
        """The models of left and of right texts of a model with two sides."""
        settings: DualEncoder = model_settings(DualEncoder, model)
        declared = settings.tables(model.vocabulary, {}, 1)
        words = saved_table(model, WORDS, declared[WORDS])
        shared = {name: model.tables[name] for name in (NGRAMS, WEIGHTS) if name in model.tables}

        def side(number: int) -> Model:
            is_mapped = settings.sides == "map" and number == 0
            own = replace(settings, sides="shared", linear_map=is_mapped)
            arrays = {WORDS: words if settings.sides == "map" else words[:, number], **shared}
            arrays |= {MAP: saved_table(model, MAP, declared[MAP])} if is_mapped else {}
            arrays = own.export(arrays, model.vocabulary) if own.has_products else {VECTORS: arrays[WORDS]}
            vectors = Vectors(model.vectors.word_list, arrays.pop(VECTORS), counts=model.vectors.counts)
            return Model(
                model.name,
                vectors=vectors,
                vocabulary=model.vocabulary,
                settings=asdict(own),
                tables=arrays,
                record={name: value for name, value in model.record.items() if name != SIDES},
                packages=model.packages,
                composer=model.composer,
                phrases=model.phrases,
            )

        return side(0), side(1)

    @property
    def can_freeze(self) -> bool:
        """Whether pretrained word vectors can be frozen: not if n-grams change them."""
        return super().can_freeze and self.max_n == 0

    def plan(self, data: TrainingData) -> Plan:
        """A model of word vectors whose means are text vectors.

        With weights or a linear map, the vectors are products with them, and there are the tables "words",
        "token_weights" (vocabulary, 1) and "linear_map" (dim, dim). With n-grams, the vectors are sums of "words" and
        the means of their rows in "character_ngrams" (buckets, dim), before weights and the map.
        """
        texts, order, all_ratings = corpus_pairs(
            data.encoded, len(data.vocabulary), self.max_words, self.word_dropout, self.n_tables
        )
        ratings = self.scaled_ratings(texts.sides, order, all_ratings)
        own_tables = self.pair_objective.tables(self, padded(self.dim), ratings)
        offsets, hashes = ngram_hashes(data.vocabulary.words if self.max_n else [], self.min_n, self.max_n)
        tables = self.tables(
            data.vocabulary, own_tables, bucket_count(self, data.run_options.continued, NGRAMS, hashes)
        )
        buckets, guide = bucket_rows(hashes, tables[NGRAMS].rows if self.max_n else 1), self.guide_rows(data.vocabulary)
        shape = BatchShape(min(self.value_of("batch_size"), len(order)), texts.sides, padded(self.dim))
        rates = draw_rates(data.encoded, order)
        capacity = max_batch_words(texts, shape, order, rates)

        def operands(arrays: Arrays) -> PairOperands:
            return PairOperands(
                texts,
                new_text_batch(shape, capacity, len(data.vocabulary) * self.n_tables, guide, has_map=self.has_map),
                self.optimizer_rows(arrays, WORDS),
                new_subword_batch(self.optimizer_rows(arrays, NGRAMS), offsets, buckets, capacity),
                self.optimizer_rows(arrays, WEIGHTS),
                self.optimizer_rows(arrays, MAP),
                np.array(self.dim_list),
                self.pair_objective.operand(
                    self, shape, ratings, *(self.optimizer_rows(arrays, name) for name in own_tables)
                ),
                maps_left=self.sides == "map",
            )

        def set_vectors(arrays: Arrays, rows: np.ndarray, vectors: np.ndarray) -> None:
            values = np.broadcast_to(vectors[:, None], (len(rows), self.n_tables, self.dim))
            tables[WORDS].set_rows(arrays[WORDS], rows, values)

        record: dict[str, Any] = {
            "pairs": len(order),
            "dropped_pairs": (len(texts.starts) - 1) // texts.sides - len(order),
        }
        if self.pair_objective.ratings_kind == "classes":
            record[LOWEST_RATING] = int(np.floor(all_ratings[order].min()))
        if self.sides != "shared":
            record[SIDES] = [LEFT, RIGHT]
        return Plan(
            tables=tables,
            stream=PairStream(order, shape.pairs, np.cumsum(rates), (texts.ids, texts.starts)),
            kernel=learn_text_pairs,
            operands=operands,
            set_vectors=set_vectors,
            export=(lambda arrays: self.export(arrays, data.vocabulary)) if self.has_products else None,
            composes=self.max_n > 0,
            record=record,
        )

    def check_installation(self) -> None:
        """Raise an error before the corpus is read if the guide cannot be used."""
        super().check_installation()
        source = None if self.guide is None else load_source(self.guide)
        if isinstance(source, Model) and source.has_sides:
            problem = "has different vectors for left and right texts"
            raise SettingError(f"{S.guide(self.guide)} {problem}: export those of one side, and use the exported file")

    def guide_rows(self, vocabulary: Vocabulary) -> np.ndarray:
        """The vectors of words by the guide, a row for each row of a word; empty without a guide.

        The direction of a text is that of the sum of its words, as with `embed`.
        """
        if self.guide is None:
            return NO_ROWS
        vectors = embed(self.guide, vocabulary.words, pool="sum", progress=False)
        if not (known := int(vectors.any(axis=1).sum())):
            raise CorpusError(f"{self.guide} has a vector of none of the {len(vocabulary):,} words of the texts")
        log.info("%s has vectors of %s of %s words", self.guide, f"{known:,}", f"{len(vocabulary):,}")
        padding = (0, 0), (0, padded(vectors.shape[1]) - vectors.shape[1])
        return np.repeat(np.pad(vectors, padding), self.n_tables, axis=0)

    @property
    def n_tables(self) -> int:
        """The number of rows of a word."""
        return 2 if self.sides == "tables" else 1

    @property
    def has_map(self) -> bool:
        """Whether there is a linear map, of all texts or of left ones."""
        return self.linear_map or self.sides == "map"

    @property
    def has_products(self) -> bool:
        """Whether the vectors of a model are products or parts of the rows that are learned."""
        return self.has_map or self.n_tables > 1 or self.token_weights != "none" or self.max_n > 0

    def tables(self, vocabulary: Vocabulary, own_tables: Mapping[str, Table], buckets: int) -> dict[str, Table]:
        """The tables of the model and of the objective, and the state of the optimizer."""
        size, dim = len(vocabulary), self.dim
        words = word_vectors(size, dim, self.initializer)
        tables = {WORDS: words}
        if self.has_products:
            tables[WORDS] = Table(rows=size, dim=dim, axis="words", init=words.init)
        if self.n_tables > 1:

            def initialize_sides(table: np.ndarray, dim: int, seed: int) -> None:
                INITIALIZERS[self.initializer](table[::2], dim, seed)
                table[1::2] = table[::2]

            tables[WORDS] = replace(tables[WORDS], slots=2, is_concatenated=True, init=initialize_sides)
        if self.max_n:
            tables[NGRAMS] = Table(rows=buckets, dim=dim, axis="subwords")
        if self.token_weights != "none":

            def initialize_weights(table: np.ndarray, dim: int, seed: int) -> None:
                shares = vocabulary.counts / vocabulary.counts.sum()
                table[:, 0] = 1 if self.token_weights == "ones" else SIF_A / (SIF_A + shares)

            tables[WEIGHTS] = Table(rows=size, dim=1, axis="words", init=initialize_weights)
        if self.has_map:

            def initialize_map(table: np.ndarray, dim: int, seed: int) -> None:
                table[:, :dim] = np.eye(dim)

            tables[MAP] = Table(rows=dim, dim=dim, axis="other", init=initialize_map, on_continue="copy")
        tables |= own_tables
        state = {}
        for name, table in tables.items():
            changes: dict[str, Any] = {"rows": table.rows, "axis": table.axis, "saved_as": None}
            slots, changes["on_merge"] = (2, "mean-changed") if self.optimizer == "adam" else (1, "sum")
            state[f"{name}_moments"] = Table(**changes, dim=table.dim, slots=slots * table.slots, is_concatenated=True)
        return tables | state

    def export(self, saved: Arrays, vocabulary: Vocabulary) -> Arrays:
        """The tables of a model, and its vectors, computed from them."""
        vectors = saved[WORDS] if saved[WORDS].ndim == 2 else saved[WORDS][:, 0]
        if self.max_n:
            vectors = vectors + SubwordVectors(saved[NGRAMS], self.min_n, self.max_n)(vocabulary.words)
        vectors = vectors * saved[WEIGHTS] if WEIGHTS in saved else vectors
        return {VECTORS: vectors @ saved[MAP] if MAP in saved else vectors, **saved}

    def optimizer_rows(self, arrays: Arrays, name: str) -> AdamRows | AdaGradRows:
        """A table with the state of its optimizer; empty if it is not learned."""
        kind = AdamRows if self.optimizer == "adam" else AdaGradRows
        if name not in arrays:
            return kind(NO_ROWS, NO_ROWS)
        rows = len(arrays[name]) * (self.n_tables if name == WORDS else 1)
        return kind(arrays[name].reshape(rows, -1), arrays[f"{name}_moments"].reshape(rows, -1))

    def scaled_ratings(self, sides: int, order: np.ndarray, ratings: np.ndarray) -> np.ndarray:
        """The ratings of all pairs from 0 to 1, as the objective needs them; empty if it does not."""
        kind, allowed = self.pair_objective.ratings_kind, self.pair_objective.sides
        if sides not in allowed:
            texts = f"{' or '.join(map(str, allowed))} texts, a left, a right and perhaps a negative one"
            raise CorpusError(f"{S.objective(self.objective)} requires pairs of {texts}, got {sides}: select columns")
        if not kind:
            return np.empty(0, np.float32)
        used = ratings[order] if len(ratings) else np.zeros(1)
        low, high = float(used.min()), float(used.max())
        if low == high:
            raise CorpusError(f"{S.objective(self.objective)} requires ratings that differ: select their column")
        if kind == "classes":
            if np.ceil(high) - np.floor(low) >= MAX_CLASSES:
                raise CorpusError(f"ratings from {low:g} to {high:g} have more than {MAX_CLASSES} classes: scale them")
            return np.asarray(ratings - np.float32(np.floor(low)))
        return np.asarray((ratings - np.float32(low)) / np.float32(high - low))


def max_batch_words(texts: PairTexts, shape: BatchShape, order: np.ndarray, rates: np.ndarray) -> int:
    """The largest number of words in a batch of pairs of `order`; an epoch draws each as often as its rate, if any."""
    lengths = np.minimum(np.diff(texts.starts), texts.limit)
    if len(rates):
        repeats = np.minimum(rates.astype(np.int64) + 1, shape.pairs)
        lengths = np.repeat(lengths.reshape(-1, texts.sides)[order], repeats, axis=0).reshape(-1)
    others = max(len(lengths) - shape.pairs * shape.sides, 0)
    return int(np.partition(lengths, others)[others:].sum())


def new_text_batch(
    shape: BatchShape, capacity: int, words: int, guide: np.ndarray = NO_ROWS, *, has_map: bool,
    dtype: type = np.float32,
) -> TextBatch:  # fmt: skip
    """Memory for a batch of this shape with up to `capacity` words, and the rows of a guide."""
    texts, width = shape.pairs * shape.sides, shape.width

    def matrix() -> np.ndarray:
        return separate_zeros((texts, width), dtype)

    sums, sum_gradients = matrix(), matrix()
    map_size, guide_width = width if has_map else 0, guide.shape[1]
    guided = shape._replace(pairs=shape.pairs if len(guide) else 0)
    guide_texts, candidates = guided.pairs * shape.sides, guided.candidates(np.dtype(dtype).itemsize)
    return TextBatch(
        rows=np.zeros(capacity, np.int32),
        starts=np.zeros(texts + 1, np.int64),
        hashes=np.zeros(texts, np.uint64),
        sums=sums,
        sum_gradients=sum_gradients,
        outputs=matrix() if has_map else sums,
        output_gradients=matrix() if has_map else sum_gradients,
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
        weight_gradient=np.zeros(PADDING, dtype),
        map_transposed=separate_zeros((map_size, width), dtype),
        map_gradient=separate_zeros((map_size, width), dtype),
        factor=np.ones(1, dtype),
        guide=Guide(
            guide.astype(dtype, copy=False),
            separate_zeros((guide_texts, guide_width), dtype),
            separate_zeros((guide_width, candidates), dtype),
            separate_zeros((guided.pairs, candidates), dtype),
        ),
    )
