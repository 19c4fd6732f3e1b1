"""Settings of objectives: how words are predicted."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from embeddings.errors import S, SettingError
from embeddings.settings.objectives import ObjectiveDeclaration, Objectives
from embeddings.settings.setting_fields import Settings, option
from embeddings.settings.shared_settings import ContextWindow, WeightTying

MAX_CUTOFFS = 8  # tails of adaptive softmax
BATCH_WINDOWS = 8  # windows that share negative samples with negative_sharing="batch"
MAX_PAIR_NOISE = 10_000  # negative samples per centre with negative_sharing="none": they are drawn a block ahead


@dataclass(frozen=True, kw_only=True)
class NegativeSampling(Settings):
    """Negative samples: how many, from which distribution, and how they are shared."""

    negatives: int = option(5, "Negative samples per positive.", ge=1, le=1000, common=True)
    noise_exponent: float = option(
        0.75,
        "Negative samples are drawn in proportion to count^exponent: 1 follows word frequency, 0 is uniform.",
        le=10,
        ge=-10,
    )
    negative_sharing: Literal["batch", "window"] = option(
        "batch",
        "Which positives share one set of negative samples. batch: all of 8 windows without common words, which "
        "is faster; window: all of one window.",
    )

    @property
    def windows_per_draw(self) -> int:
        """How many windows share one set of negative samples."""
        return BATCH_WINDOWS if self.negative_sharing == "batch" else 1


@dataclass(frozen=True, kw_only=True)
class PairSampling(NegativeSampling, ContextWindow):
    """Negative samples of models that predict pair by pair: pairs can draw their own."""

    negative_sharing: Literal["batch", "window", "none"] = option(  # type: ignore[assignment]  # wider, but frozen
        "batch",
        "Which positives share one set of negative samples. batch: all of 8 windows without common words, which "
        "is fastest; window: all of one window; none: each draws its own, as in word2vec, which is several times "
        "slower without better vectors.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        noise = 2 * self.window * self.negatives
        if self.negative_sharing == "none" and noise > MAX_PAIR_NOISE:
            limit = f"2 x {S.window} x {S.negatives} must be at most {MAX_PAIR_NOISE}"
            raise SettingError(f"with {S.negative_sharing('none')} {limit}, got {noise}")


DRAWS = ("negatives", "noise_exponent", "negative_sharing")  # settings of objectives that draw random words
WORD_OBJECTIVES = Objectives(
    ObjectiveDeclaration(
        "negative-sampling",
        "tell the word from random ones",
        "embeddings.objectives.negative_sampling:NegativeSamplingObjective",
        settings=DRAWS,
    ),
    ObjectiveDeclaration(
        "nce",
        "the same, with scores that become probabilities",
        "embeddings.objectives.nce:NCEObjective",
        settings=(*DRAWS, "nce_normalizer"),
    ),
    ObjectiveDeclaration(
        "sampled-softmax",
        "softmax over a sample",
        "embeddings.objectives.sampled_softmax:SampledSoftmaxObjective",
        settings=(*DRAWS, "proposals", "target_in_sample"),
    ),
    ObjectiveDeclaration(
        "hierarchical-softmax",
        "a path in a tree",
        "embeddings.objectives.huffman:HuffmanObjective",
        settings=("tree",),
        has_word_rows=False,
        depends_on_counts=True,
    ),
    ObjectiveDeclaration(
        "adaptive-softmax",
        "softmax with fewer dimensions for rare words",
        "embeddings.objectives.adaptive_softmax:AdaptiveSoftmaxObjective",
        settings=("cutoffs",),
        has_word_rows=False,
        depends_on_counts=True,
    ),
    ObjectiveDeclaration(
        "full-softmax",
        "over all words, which is slow",
        "embeddings.objectives.full_softmax:FullSoftmaxObjective",
    ),
)
CLUSTERS = ObjectiveDeclaration(  # hierarchical-softmax with tree=clusters
    "clusters", "", "embeddings.objectives.frequency_clusters:FrequencyClustersObjective", depends_on_counts=True
)
if TYPE_CHECKING:
    WordObjective = str
else:
    WordObjective = WORD_OBJECTIVES.choices


@dataclass(frozen=True, kw_only=True)
class ObjectiveChoice(NegativeSampling):
    """The objective, and the settings of each."""

    negatives: int = option(
        5,
        "Random words per positive: negative samples, noise of nce, or proposals of sampled-softmax.",
        ge=1,
        le=1000,
        common=True,
    )
    objective: WordObjective = option("negative-sampling", WORD_OBJECTIVES.help("How words are predicted."))
    nce_normalizer: Literal["one", "trained"] = option(
        "one", "Normaliser of probabilities with --objective nce: fixed to 1, or a trained number."
    )
    proposals: Literal["unigram", "log-uniform"] = option(
        "unigram",
        "Distribution of the sample with --objective sampled-softmax. unigram: by count, as --noise-exponent says; "
        "log-uniform: by frequency rank only.",
    )
    target_in_sample: bool = option(
        True,
        "Include the word to predict in the sample of --objective sampled-softmax. Without it the loss has no lower "
        "bound, and training may diverge.",
        flags="--target-in-sample/--target-outside-sample",
    )
    tree: Literal["huffman", "clusters"] = option(
        "huffman",
        "Tree of --objective hierarchical-softmax. huffman: binary, with short paths for frequent words; clusters: two "
        "levels, with words of similar frequency in a cluster, which is slower.",
    )
    cutoffs: str | None = option(
        None,
        "Ranks at which the tails of --objective adaptive-softmax start, such as 2000,10000.  [default: after "
        "4 sqrt(vocabulary) words, then with the least expected cost]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        WORD_OBJECTIVES.check(self, self.objective)
        if self.proposals == "log-uniform" and self.noise_exponent != NegativeSampling.noise_exponent:
            raise SettingError(
                f"{S.noise_exponent(self.noise_exponent)} has no effect with {S.proposals('log-uniform')}"
            )
        if self.cutoffs is not None:
            check_cutoffs(self.cutoffs)
        if isinstance(self, WeightTying) and self.tie:
            self.check_output_rows(f"{S.tie(True)} requires one: remove {S.tie} or use another objective")

    @property
    def word_objective(self) -> ObjectiveDeclaration:
        """The declaration of the objective."""
        return CLUSTERS if self.tree == "clusters" else WORD_OBJECTIVES[self.objective]

    def check_output_rows(self, reason: str) -> None:
        """Refuse objectives without an output row of full length for each word."""
        if not self.word_objective.has_word_rows:
            raise SettingError(f"{S.objective(self.objective)} has no output vector for each word, but {reason}")


def check_cutoffs(text: str) -> None:
    """Refuse cutoffs that are not increasing integers of at least 1, separated by commas."""
    parts = text.split(",")
    cutoffs = [int(part) if part.strip().isdecimal() and len(part) < 10 else 0 for part in parts]
    if len(cutoffs) > MAX_CUTOFFS or cutoffs[0] < 1 or any(b <= a for a, b in pairwise(cutoffs)):
        raise SettingError(
            f"{S.cutoffs} must be up to {MAX_CUTOFFS} increasing integers such as 2000,10000, got {text!r}"
        )
