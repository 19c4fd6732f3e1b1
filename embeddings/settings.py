"""Trainer settings: dataclass fields that define Python arguments, command-line options and the saved record.

A trainer is a frozen, keyword-only dataclass of `option` fields. Settings that several models share are written once,
in the small classes below, and inherited.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Literal, Self

from embeddings import learning_rates
from embeddings.errors import SettingError
from embeddings.setting_names import hint

LEARNING_RATE = "Learning rate at the start, after any warm-up; --schedule sets how it falls."


def option(
    default: Any,
    help: str,  # shadows the builtin: the name that click and dataclass users expect
    *,
    ge: float | None = None,
    le: float | None = None,
    gt: float | None = None,
    flags: str | None = None,
) -> Any:
    """A trainer's dataclass field.

    Arguments:
        default: the default value.
        help: one sentence for `--help` and the documentation.
        ge: smallest allowed value.
        le: largest allowed value.
        gt: exclusive lower bound.
        flags: names of a yes/no option on the command line, such as `--shrink-window/--fixed-window`.
    """
    return dataclasses.field(default=default, metadata={"help": help, "ge": ge, "le": le, "gt": gt, "flags": flags})


def field_types(trainer: type) -> dict[str, Any]:
    """The resolved type of each field."""
    hints = typing.get_type_hints(trainer)
    return {field.name: hints[field.name] for field in dataclasses.fields(trainer)}


def with_optional_fields(name: str, settings: type, default_note: str) -> Any:
    """A settings class with the same fields, all defaulting to None; help texts show `default_note` as the default."""
    fields, hints = [], field_types(settings)
    for field in dataclasses.fields(settings):
        metadata = {**field.metadata, "help": f"{field.metadata['help']}  [default: {default_note}]"}
        fields.append((field.name, hints[field.name] | None, dataclasses.field(default=None, metadata=metadata)))
    return dataclasses.make_dataclass(name, fields, bases=(Settings,), frozen=True, kw_only=True)


def split_optional(kind: Any) -> tuple[Any, bool]:
    """A type without None, and whether None was allowed."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        rest = [part for part in typing.get_args(kind) if part is not type(None)]
        return rest[0], len(rest) < len(typing.get_args(kind))
    return kind, False


def flag(name: str) -> str:
    """The command-line option of a field: `min_count` -> `--min-count`."""
    return "--" + name.replace("_", "-")


def check_value(name: str, value: Any, kind: Any, bounds: Mapping[str, Any]) -> Any:
    """`value` converted to the type `kind`, if it has that type and is in `bounds`: `ge`, `le` and `gt`."""
    kind, optional = split_optional(kind)
    if value is None and optional:
        return None
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            raise SettingError(f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}")
        return value
    accepted = {int: Integral, float: Real}.get(kind, kind)  # numpy numbers too
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        expected = {int: "an integer", float: "a number", bool: "true or false", str: "a string"}
        raise SettingError(f"{name} must be {expected.get(kind, kind.__name__)}, got {value!r}")
    if kind not in (int, float):
        return value
    check_bounds(name, value, bounds)
    return kind(value)


def check_bounds(name: str, value: Any, bounds: Mapping[str, Any]) -> None:
    """Refuse a number out of bounds; NaN and infinities are always refused."""
    ge, le, gt = (bounds.get(key) for key in ("ge", "le", "gt"))
    finite = isinstance(value, Integral) or math.isfinite(value)
    if finite and (ge is None or value >= ge) and (le is None or value <= le) and (gt is None or value > gt):
        return
    low = f"[{ge}" if ge is not None else f"({gt}"
    if le is not None and (ge is not None or gt is not None):
        allowed = f"in {low}, {le}]"
    elif le is not None:
        allowed = f"at most {le}"
    elif ge is not None:
        allowed = f"at least {ge}"
    else:
        allowed = "a finite number" if gt is None else f"greater than {gt}"
    raise SettingError(f"{name} must be {allowed}, got {value}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings: checked on construction."""

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Refuse an unknown setting and suggest a similar one; the constructor reports other errors."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in settings:
            if name not in known and (advice := hint(name, known)):
                raise SettingError(f"{cls.__name__} has no setting {name!r}: {advice}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check the type and bounds of every field; numpy numbers become Python numbers."""
        hints = field_types(type(self))
        for field in dataclasses.fields(self):
            value = check_value(field.name, getattr(self, field.name), hints[field.name], field.metadata)
            object.__setattr__(self, field.name, value)


@dataclass(frozen=True, kw_only=True)
class Dimension(Settings):
    """The dimension of the vectors."""

    dim: int = option(100, "Dimension of the vectors.", ge=1, le=65536)


@dataclass(frozen=True, kw_only=True)
class InitialValues(Settings):
    """The initial values of input vectors."""

    initializer: Literal["uniform", "normal", "xavier", "orthogonal"] = option(
        "uniform",
        "Initial values of the vectors of n words, subwords or documents. uniform: between -1/dim and 1/dim; normal: "
        "with standard deviation 1/dim; xavier: uniform up to sqrt(6/(n + dim)); orthogonal: orthonormal columns.",
    )


@dataclass(frozen=True, kw_only=True)
class WeightTying(Settings):
    """One table for input and output vectors."""

    tie: bool = option(
        False, "Use one table as input and output vectors, which halves the size of the model but changes its vectors."
    )


@dataclass(frozen=True, kw_only=True)
class VocabularyChoice(Settings):
    """Which words get vectors, and how often frequent ones are read."""

    min_count: int = option(5, "Drop words that occur less often.", ge=1)
    max_vocab: int | None = option(None, "Keep only this many of the most frequent words.", ge=1)
    subsample: float = option(
        1e-3,
        "Subsampling threshold t for frequent words: an occurrence of a word with relative frequency f is kept with "
        "probability sqrt(t/f) + t/f. 0 keeps all.",
        ge=0,
        le=1,
    )


@dataclass(frozen=True, kw_only=True)
class ContextWindow(Settings):
    """The context window."""

    window: int = option(5, "Maximum distance between a word and its context words.", ge=1, le=10000)
    shrink_window: bool = option(
        True,
        "Draw each window's size uniformly from 1 to --window, which gives near words more weight, or always use the "
        "full window.",
        flags="--shrink-window/--fixed-window",
    )


@dataclass(frozen=True, kw_only=True)
class FixedWindow(ContextWindow):
    """The context window of models that model word position: not shrunk by default."""

    shrink_window: bool = option(
        False,
        "Always use the full window, as in the paper, or draw each window's size uniformly from 1 to --window, which "
        "gives near words more weight.",
        flags="--shrink-window/--fixed-window",
    )


MAX_CUTOFFS = 8  # tails of adaptive softmax
BATCH_WINDOWS = 8  # windows that share negative samples with negative_sharing="batch"


@dataclass(frozen=True, kw_only=True)
class NegativeSampling(Settings):
    """Negative samples: how many, from which distribution, and how they are shared."""

    negatives: int = option(5, "Negative samples per positive.", ge=1, le=1000)
    noise_exponent: float = option(
        0.75,
        "Negative samples are drawn in proportion to count^exponent: 1 follows word frequency, 0 is uniform.",
        le=10,
        ge=-10,
    )
    negative_sharing: Literal["batch", "window"] = option(
        "batch",
        "Which positives share one set of negative samples. batch: those of 8 windows without common words, which "
        "is faster; window: those of one window.",
    )

    @property
    def windows_per_draw(self) -> int:
        """How many windows share one set of negative samples."""
        return BATCH_WINDOWS if self.negative_sharing == "batch" else 1


DRAWING = ("negative-sampling", "nce", "sampled-softmax")  # objectives that draw random words
OBJECTIVE_SETTINGS = {  # the objectives that use a setting; others refuse it
    "negatives": DRAWING,
    "noise_exponent": DRAWING,
    "negative_sharing": DRAWING,
    "nce_normalizer": ("nce",),
    "proposals": ("sampled-softmax",),
    "target_in_sample": ("sampled-softmax",),
    "tree": ("hierarchical-softmax",),
    "cutoffs": ("adaptive-softmax",),
}


@dataclass(frozen=True, kw_only=True)
class ObjectiveChoice(NegativeSampling):
    """The objective, and the settings of each."""

    negatives: int = option(
        5,
        "Random words per positive: negative samples, noise of nce, or proposals of sampled-softmax.",
        ge=1,
        le=1000,
    )
    objective: Literal[
        "negative-sampling", "nce", "sampled-softmax", "hierarchical-softmax", "adaptive-softmax", "full-softmax"
    ] = option(
        "negative-sampling",
        "How words are predicted. negative-sampling: tell the word from random ones; nce: the same, with scores that "
        "become probabilities; sampled-softmax: softmax over a sample; hierarchical-softmax: a path in a tree; "
        "adaptive-softmax: softmax with fewer dimensions for rare words; full-softmax: over all words, which is slow.",
    )
    nce_normalizer: Literal["one", "trained"] = option(
        "one", "Normaliser of probabilities with --objective nce: fixed to 1, or a trained number."
    )
    proposals: Literal["unigram", "log-uniform"] = option(
        "unigram",
        "Distribution of the sample with --objective sampled-softmax. unigram: count^noise_exponent; log-uniform: by "
        "frequency rank only.",
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
        "80 % of the text, then with the fewest multiplications]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in dataclasses.fields(self):
            self.check_use(field.name, getattr(self, field.name), field.default)
        if self.proposals == "log-uniform" and self.noise_exponent != NegativeSampling.noise_exponent:
            raise SettingError(f"noise_exponent={self.noise_exponent} has no effect with proposals=log-uniform")
        if self.cutoffs is not None:
            check_cutoffs(self.cutoffs)
        if isinstance(self, WeightTying) and self.tie:
            self.check_output_rows("tie=True requires one: remove tie or use another objective")

    @property
    def uses_huffman_tree(self) -> bool:
        """Whether words are predicted by a path in a Huffman tree."""
        return self.objective == "hierarchical-softmax" and self.tree == "huffman"

    @property
    def depends_on_counts(self) -> bool:
        """Whether tables of the objective depend on the word counts of one text."""
        return self.objective in ("hierarchical-softmax", "adaptive-softmax")

    def check_output_rows(self, reason: str) -> None:
        """Refuse objectives without an output row of full length for each word."""
        if self.objective == "adaptive-softmax" or self.uses_huffman_tree:
            raise SettingError(f"objective={self.objective} has no output vector for each word, but {reason}")

    def check_use(self, name: str, value: Any, default: Any) -> None:
        """Refuse a setting that the objective does not use."""
        users = OBJECTIVE_SETTINGS.get(name, (self.objective,))
        if value != default and self.objective not in users:
            raise SettingError(
                f"{name}={value} has no effect with objective={self.objective}: it requires {' or '.join(users)}"
            )


def check_cutoffs(text: str) -> None:
    """Refuse cutoffs that are not increasing integers of at least 1, separated by commas."""
    parts = text.split(",")
    cutoffs = [int(part) if part.strip().isdecimal() and len(part) < 10 else 0 for part in parts]
    if len(cutoffs) > MAX_CUTOFFS or cutoffs[0] < 1 or any(b <= a for a, b in pairwise(cutoffs)):
        raise SettingError(f"cutoffs must be up to {MAX_CUTOFFS} increasing integers such as 2000,10000, got {text!r}")


@dataclass(frozen=True, kw_only=True)
class DocumentChoice(Settings):
    """What counts as a document."""

    documents: Literal["auto", "lines", "blocks"] = option(
        "auto",
        "Unit of text that gets a document vector. lines: each line; blocks: each table row, each item of an iterable "
        "and, in plain text, each run of lines between blank lines; auto: lines for plain text, otherwise blocks. "
        "Documents with the same tag share a vector.",
    )


ScheduleName = Literal[
    "linear", "constant", "exponential", "inverse-time", "inverse-square-root", "step", "cosine", "slanted-triangular"
]
SCHEDULE = (
    "How the learning rate falls from --learning-rate to --min-learning-rate over all epochs; slanted-triangular rises "
    "first, over --warm-up."
)


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """Number of epochs and learning-rate schedule."""

    epochs: int = option(5, "Passes over the corpus.", ge=1, le=1_000_000)
    learning_rate: float = option(0.025, LEARNING_RATE, gt=0, le=100)
    min_learning_rate: float | None = option(
        None,
        "Learning rate at the end of training.  [default: learning_rate/10,000 with linear and cosine, /100 with "
        "exponential, /10 with inverse-time and inverse-square-root, /16 with step, /32 with slanted-triangular]",
        ge=0,
    )
    schedule: ScheduleName = option(learning_rates.LINEAR, SCHEDULE)  # noqa: RUF009  # a Literal
    warm_up: float | None = option(
        None,
        "Share of training, 0 to 0.9, in which the learning rate first rises linearly; use it if training diverges at "
        "the start.  [default: 0; 0.1 with slanted-triangular]",
        ge=0,
        le=0.9,
    )
    stages: int | None = option(
        None, "Number of equal parts of training with a constant rate, with --schedule step.  [default: 5]", ge=2
    )
    average_last: float | None = option(
        None,
        "Return the mean of the model at 20 points of this last share of training, such as 0.2; with early stopping, "
        "the better of it and the best epoch.",
        gt=0,
        le=1,
    )
    shuffle: bool = option(False, "Shuffle the sentences of each thread's share of the corpus in every epoch.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_learning_rate is not None:
            self.check_min_learning_rate(self.min_learning_rate)
        if self.stages is not None and self.schedule != learning_rates.STEP:
            raise SettingError(f"stages requires the schedule {learning_rates.STEP!r}, got {self.schedule!r}")

    def check_min_learning_rate(self, value: float) -> None:
        """Refuse a minimum that the schedule does not have or cannot reach."""
        if self.schedule == learning_rates.CONSTANT:
            raise SettingError(f"min_learning_rate has no effect with the schedule {self.schedule!r}; leave it out")
        if value > self.learning_rate:
            raise SettingError(f"min_learning_rate must be at most learning_rate, {self.learning_rate}, got {value}")
        if value == 0 and self.schedule in learning_rates.NONZERO_MINIMUM:
            raise SettingError(f"min_learning_rate must be greater than 0 with the schedule {self.schedule!r}, got 0.0")

    @property
    def final_learning_rate(self) -> float:
        """The learning rate at the end of training."""
        return self.final_learning_rate_of(self.schedule)

    def final_learning_rate_of(self, schedule: str) -> float:
        """The learning rate at the end of training with a schedule."""
        default = self.learning_rate / learning_rates.DEFAULT_RATIOS[schedule]
        return default if self.min_learning_rate is None else self.min_learning_rate

    def learning_rate_at(self, done: int, total: int) -> float:
        """The learning rate after `done` of `total` words, counted over all epochs and threads."""
        default = learning_rates.SLANTED_WARM_UP if self.schedule == learning_rates.SLANTED_TRIANGULAR else 0.0
        return learning_rates.learning_rate(
            self.schedule,
            done / total,
            self.learning_rate,
            self.final_learning_rate,
            warm_up=default if self.warm_up is None else self.warm_up,
            stages=self.stages,
        )
