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
from numbers import Integral, Real
from typing import Any, Literal, Self

from embeddings.errors import SettingError
from embeddings.setting_names import hint


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


@dataclass(frozen=True, kw_only=True)
class DocumentChoice(Settings):
    """What counts as a document."""

    documents: Literal["auto", "lines", "blocks"] = option(
        "auto",
        "Unit of text that gets a document vector. lines: each line; blocks: each table row, each item of an iterable "
        "and, in plain text, each run of lines between blank lines; auto: lines for plain text, otherwise blocks. "
        "Documents with the same tag share a vector.",
    )


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """Number of epochs and learning-rate schedule."""

    epochs: int = option(5, "Passes over the corpus.", ge=1, le=1_000_000)
    learning_rate: float = option(0.025, "Initial learning rate; it decays linearly over all epochs.", gt=0, le=100)
    min_learning_rate: float | None = option(
        None, "Lower limit of the learning rate.  [default: learning_rate/10,000]", ge=0
    )
    shuffle: bool = option(False, "Shuffle the sentences of each thread's share of the corpus in every epoch.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_learning_rate is not None and self.min_learning_rate > self.learning_rate:
            limit = f"at most learning_rate, {self.learning_rate}"
            raise SettingError(f"min_learning_rate must be {limit}, got {self.min_learning_rate}")

    @property
    def final_learning_rate(self) -> float:
        """The learning rate at the end of training."""
        return self.learning_rate / 10_000 if self.min_learning_rate is None else self.min_learning_rate

    def learning_rate_at(self, done: int, total: int) -> float:
        """The learning rate after `done` of `total` words, counted over all epochs and threads."""
        return max(self.learning_rate * (1 - done / total), self.final_learning_rate)
