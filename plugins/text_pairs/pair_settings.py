"""The settings of the trainer of text vectors."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from embeddings.errors import SettingError
from embeddings.models.subwords import BUCKETS_HELP, MAX_BUCKETS, MAX_NGRAM_LENGTH, check_ngrams
from embeddings.plugins.text_pairs.contrastive import CONTRASTIVE
from embeddings.plugins.text_pairs.cosent import COSENT
from embeddings.plugins.text_pairs.cosine_regression import COSINE_REGRESSION
from embeddings.plugins.text_pairs.in_batch_negatives import IN_BATCH, MIN_TEMPERATURE
from embeddings.plugins.text_pairs.pair_objective import PairObjective
from embeddings.plugins.text_pairs.rating_distribution import RATING_DISTRIBUTION
from embeddings.plugins.text_pairs.triplet_margin import TRIPLET_MARGIN
from embeddings.settings import (
    Dimension,
    DocumentFrequency,
    InitialValues,
    Schedule,
    SearchRange,
    VocabularySize,
    option,
)

OBJECTIVES: dict[str, PairObjective] = {
    "in-batch-negatives": IN_BATCH,
    "triplet-margin": TRIPLET_MARGIN,
    "cosine-regression": COSINE_REGRESSION,
    "cosent": COSENT,
    "rating-distribution": RATING_DISTRIBUTION,
    "contrastive": CONTRASTIVE,
}
MAX_DIMS = 16
MIN_NGRAM_LENGTH = 3


@dataclass(frozen=True, kw_only=True)
class PairSettings(DocumentFrequency, VocabularySize, Schedule, InitialValues, Dimension):
    """What a trainer of text vectors learns from pairs, and how."""

    dim: int = option(256, "Dimension of the vectors.", ge=1, le=65536, search=SearchRange(64, 512, log=True))
    min_count: int = option(1, "Drop words that occur less often.", ge=1)
    objective: Literal[
        "in-batch-negatives", "triplet-margin", "cosine-regression", "cosent", "rating-distribution", "contrastive"
    ] = option(
        "in-batch-negatives",
        "What is learned from pairs. in-batch-negatives: to find the right text among those of the other pairs of a "
        "batch; triplet-margin: that the right text is nearer than a negative one; cosine-regression: that cosines are "
        "ratings; cosent: that cosines have the order of ratings; rating-distribution: a network that predicts ratings "
        "from both vectors; contrastive: that pairs with label 1 are near, those "
        "with label 0 are not.",
    )
    batch_size: int | None = option(
        None,
        "Pairs in a batch.  [default: 1024 with in-batch-negatives, 256 with triplet-margin, 64 with contrastive, 32 "
        "with ratings]",
        ge=2,
        le=16384,
        search=SearchRange(256, 2048, log=True),
    )
    temperature: float | None = option(
        None,
        "Divisor of cosines: a lower one gives more weight to the hardest negatives. For in-batch-negatives and "
        "cosent.  [default: 0.03; 0.2 with cosent]",
        ge=MIN_TEMPERATURE,
        le=100,
        search=SearchRange(0.03, 0.1, log=True),
    )
    margin: float | None = option(
        None,
        "Difference of cosines that is enough. For triplet-margin and contrastive.  [default: 0.3; 0.5 with "
        "contrastive]",
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
    )
    buckets: int | None = option(None, BUCKETS_HELP, ge=1, le=MAX_BUCKETS)
    max_words: int | None = option(
        None, "Read only the first words of each text, up to this number.  [default: all]", ge=1, le=1_000_000_000
    )
    word_dropout: float = option(
        0.0, "Share of words that are dropped from texts at random, against overfitting.", ge=0, le=0.9
    )
    epochs: int = option(3, "Passes over the pairs.", ge=1, le=1_000_000, search=SearchRange(1, 20, log=True))
    learning_rate: float = option(
        0.05,
        "Learning rate at the start, after the warm-up. With adam, about 0.01 is better, and 0.004 for ratings.",
        gt=0,
        le=100,
        search=SearchRange(0.005, 0.2, log=True),
    )
    warm_up: float | None = option(
        0.05, "Share of training, 0 to 0.9, in which the learning rate first rises linearly.", ge=0, le=0.9
    )
    shuffle: bool = option(
        True,
        "Read each thread's share of the pairs in a new random order in every epoch. Consecutive pairs are often of "
        "one document, and make bad negatives.",
        flags="--shuffle/--no-shuffle",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("temperature", "margin"):
            if getattr(self, name) is not None and getattr(self.pair_objective, name) is None:
                users = [user for user, one in OBJECTIVES.items() if getattr(one, name) is not None]
                value = f"{name}={getattr(self, name)} has no effect with objective={self.objective}"
                raise SettingError(f"{value}: it requires {' or '.join(users)}")
        if self.hidden_size != type(self).hidden_size and self.objective != "rating-distribution":
            raise SettingError(f"hidden_size={self.hidden_size} requires objective=rating-distribution")
        self.check_dims()
        self.check_ngrams()

    def check_ngrams(self) -> None:
        """Refuse settings of n-grams that have no effect or are out of range."""
        if self.max_n == 0 and (self.buckets is not None or self.min_n != MIN_NGRAM_LENGTH):
            name = "min_n" if self.buckets is None else "buckets"
            raise SettingError(f"{name}={getattr(self, name)} requires n-grams: set max_n")
        check_ngrams(self.min_n, self.max_n, self.buckets or 1)

    def check_dims(self) -> None:
        """Refuse dims that are not decreasing integers from dim on."""
        parts = [] if self.dims is None else self.dims.split(",")
        dims = [int(part) if part.strip().isdecimal() and len(part) < 10 else 0 for part in parts]
        is_decreasing = all(a > b for a, b in pairwise(dims)) and dims[-1:] != [0]
        if parts and (not is_decreasing or dims[0] != self.dim or len(dims) > MAX_DIMS):
            raise SettingError(
                f"dims must be at most {MAX_DIMS} decreasing integers that begin with dim={self.dim}, got {self.dims!r}"
            )

    @property
    def pair_objective(self) -> PairObjective:
        """The objective."""
        return OBJECTIVES[self.objective]

    @property
    def temperature_value(self) -> float:
        """The temperature, or its default."""
        return float(self.value_of("temperature"))

    @property
    def margin_value(self) -> float:
        """The margin, or its default."""
        return float(self.value_of("margin"))

    @property
    def batch_pairs(self) -> int:
        """The batch size, or its default."""
        return int(self.value_of("batch_size"))

    def value_of(self, name: str) -> Any:
        """A setting, or the default of the objective."""
        value = getattr(self, name)
        return getattr(self.pair_objective, name) if value is None else value

    @property
    def dim_list(self) -> list[int]:
        """The numbers of components that are trained, from `dim` on."""
        return [self.dim] if self.dims is None else [int(part) for part in self.dims.split(",")]
