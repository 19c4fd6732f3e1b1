"""Declarations of objectives, which a model's predictions are compared with, and settings of word objectives.

A kind of target (words, labels of texts, pairs of texts) has one `Objectives`. The choices of the setting `objective`,
their help, the refusal of settings without effect, and defaults that depend on the objective follow from it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from embeddings.errors import S, SettingError
from embeddings.settings.setting_fields import Settings, option
from embeddings.settings.shared_settings import ContextWindow, WeightTying


@dataclass(frozen=True)
class ObjectiveDeclaration:
    """An objective that settings can choose.

    Arguments:
        name: the value of the setting `objective`.
        summary: a clause for the help.
        location: `module:class` of its implementation, which is imported when it is used.
        settings: the settings that it uses; objectives that do not name them refuse values other than the default.
        defaults: defaults of settings that depend on the objective.
        has_word_rows: whether each word has an output row as long as a hidden row.
        depends_on_counts: whether its tables depend on the counts of one text.
    """

    name: str
    summary: str
    location: str
    settings: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    has_word_rows: bool = True
    depends_on_counts: bool = False

    def implementation(self) -> Any:
        """The class that implements the objective."""
        module, _, name = self.location.partition(":")
        return getattr(import_module(module), name)


class Objectives(dict[str, ObjectiveDeclaration]):
    """The objectives of one kind of target, by name."""

    def __init__(self, *declarations: ObjectiveDeclaration) -> None:
        super().__init__({one.name: one for one in declarations})

    @property
    def choices(self) -> Any:
        """The type of the setting `objective`: a Literal of the names."""
        return Literal[tuple(self)]

    def help(self, question: str) -> str:
        """The help of the setting `objective`: a question, and the answer of each."""
        return f"{question} {'; '.join(f'{one.name}: {one.summary}' for one in self.values())}."

    def only(self, *names: str) -> "Objectives":
        """Some of the objectives."""
        return Objectives(*(self[name] for name in names))

    def users(self, setting: str) -> tuple[str, ...]:
        """The objectives that use a setting; none if it does not belong to objectives."""
        return tuple(one.name for one in self.values() if setting in one.settings)

    def defaults(self, setting: str) -> str:
        """The defaults of a setting by objective, for its help."""
        values: dict[Any, list[str]] = {}
        for one in self.values():
            if setting in one.defaults:
                values.setdefault(one.defaults[setting], []).append(one.name)
        return "; ".join(f"{value} with {', '.join(names)}" for value, names in values.items())

    def check(self, settings: Settings, objective: str) -> None:
        """Refuse settings of other objectives."""
        for one in dataclasses.fields(settings):
            value, users = getattr(settings, one.name), self.users(one.name)
            if users and objective not in users and value != one.default:
                reason = f"has no effect with {S.objective(objective)}: it requires {' or '.join(users)}"
                raise SettingError(f"{S[one.name](value)} {reason}")


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
        "embeddings.objectives.softmax_objectives:NCEObjective",
        settings=(*DRAWS, "nce_normalizer"),
    ),
    ObjectiveDeclaration(
        "sampled-softmax",
        "softmax over a sample",
        "embeddings.objectives.softmax_objectives:SampledSoftmaxObjective",
        settings=(*DRAWS, "proposals", "target_in_sample"),
    ),
    ObjectiveDeclaration(
        "hierarchical-softmax",
        "the branches of a Huffman tree, short for frequent words",
        "embeddings.objectives.huffman:HuffmanObjective",
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
        "embeddings.objectives.softmax_objectives:FullSoftmaxObjective",
    ),
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
    cutoffs: str | None = option(
        None,
        "Ranks at which the tails of --objective adaptive-softmax start, such as 2000,10000.  [default: after "
        "4 sqrt(vocabulary) words, then with the least expected cost]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        WORD_OBJECTIVES.check(self, self.objective)
        # Log-uniform proposals are drawn by rank, so an exponent of counts would have no effect.
        is_used = self.proposals == "unigram" or self.noise_exponent == NegativeSampling.noise_exponent
        self.require("noise_exponent", is_used, S.proposals("unigram"))
        if self.cutoffs is not None:
            parts = self.cutoffs.split(",")
            # Nine digits exceed any vocabulary; converting thousands of them would take long.
            ranks = [int(part) if part.strip().isdecimal() and len(part) < 10 else 0 for part in parts]
            if len(ranks) > MAX_CUTOFFS or ranks[0] < 1 or any(b <= a for a, b in pairwise(ranks)):
                form = f"up to {MAX_CUTOFFS} increasing integers such as 2000,10000"
                raise SettingError(f"{S.cutoffs} must be {form}, got {self.cutoffs!r}")
        if isinstance(self, WeightTying) and self.tie:
            self.check_output_rows(f"{S.tie(True)} requires one: remove {S.tie} or use another objective")

    @property
    def word_objective(self) -> ObjectiveDeclaration:
        """The declaration of the objective."""
        return WORD_OBJECTIVES[self.objective]

    def check_output_rows(self, reason: str) -> None:
        """Refuse objectives without an output row of full length for each word."""
        if not self.word_objective.has_word_rows:
            raise SettingError(f"{S.objective(self.objective)} has no output vector for each word, but {reason}")
