"""Settings of trainers: dataclass fields that are the Python API, the command line and the saved record at once.

A trainer is a frozen, keyword-only dataclass of `option` fields. Settings that several models share are the small
classes below, inherited by whoever has them, each written once.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

from embeddings.errors import SettingError


def option(
    default: Any,
    help: str,  # the name that click and dataclass users know
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    flags: str | None = None,
) -> Any:
    """A field of a trainer: its default, what it does, its bounds, and its names on the command line if not its own.

    `least` and `most` may be reached, `above` may not.
    """
    return dataclasses.field(
        default=default, metadata={"help": help, "least": least, "most": most, "above": above, "flags": flags}
    )


def kinds(trainer: type) -> dict[str, Any]:
    """The type of each field, annotations resolved."""
    hints = typing.get_type_hints(trainer)
    return {field.name: hints[field.name] for field in dataclasses.fields(trainer)}


def left_open(name: str, settings: type, told: str) -> Any:
    """A class of settings with the same fields, each None until it is set; `told` is the default that help names."""
    fields = []
    for field in dataclasses.fields(settings):
        metadata = {**field.metadata, "help": f"{field.metadata['help']}  [default: {told}]"}
        hint = kinds(settings)[field.name]
        fields.append((field.name, hint | None, dataclasses.field(default=None, metadata=metadata)))
    return dataclasses.make_dataclass(name, fields, bases=(Settings,), frozen=True, kw_only=True)


def without_none(kind: Any) -> tuple[Any, bool]:
    """The type itself and whether None is allowed beside it."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        rest = [part for part in typing.get_args(kind) if part is not type(None)]
        return rest[0], len(rest) < len(typing.get_args(kind))
    return kind, False


def flag(name: str) -> str:
    """How a field is written on the command line."""
    return "--" + name.replace("_", "-")


def check(settings: Any) -> None:
    """Refuse what is out of range; numbers of numpy become Python's own.

    Raises:
        SettingError: a value has another type than its field or lies outside its bounds.
    """
    hints = kinds(type(settings))
    for field in dataclasses.fields(settings):
        value = check_value(field.name, getattr(settings, field.name), hints[field.name], field.metadata)
        object.__setattr__(settings, field.name, value)


def check_value(name: str, value: Any, kind: Any, bounds: Mapping[str, Any]) -> Any:
    """The value as its field's type.

    Raises:
        SettingError: the field does not allow it.
    """
    kind, optional = without_none(kind)
    if value is None and optional:
        return None
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            raise SettingError(f"{name} must be one of {', '.join(map(str, choices))}, not {value!r}")
        return value
    accepted = {int: Integral, float: Real}.get(kind, kind)  # numpy's numbers too
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise SettingError(f"{name} must be {word_for(kind)}, not {value!r}")
    if kind not in (int, float):
        return value
    check_bounds(name, value, bounds)
    return kind(value)


def word_for(kind: type) -> str:
    """A type as users say it."""
    return {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}.get(kind, kind.__name__)


def check_bounds(name: str, value: Any, bounds: Mapping[str, Any]) -> None:
    """Refuse a number outside its bounds; NaN and infinities are outside of any."""
    least, most, above = (bounds.get(key) for key in ("least", "most", "above"))
    wrong = (
        (not isinstance(value, Integral) and not math.isfinite(value))
        or (least is not None and value < least)
        or (most is not None and value > most)
        or (above is not None and value <= above)
    )
    if wrong:
        allowed = [f"at least {least}"] * (least is not None) + [f"above {above}"] * (above is not None)
        allowed += [f"at most {most}"] * (most is not None)
        raise SettingError(f"{name} must be {' and '.join(allowed) or 'a finite number'}, not {value}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every trainer's settings are: checked when they are made."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, kw_only=True)
class Dimension(Settings):
    """How long vectors are."""

    dim: int = option(100, "Components of a vector.", least=1, most=65536)


@dataclass(frozen=True, kw_only=True)
class VocabularyChoice(Settings):
    """Which words get vectors."""

    min_count: int = option(5, "Words that occur less often are left out.", least=1)
    max_vocab: int | None = option(None, "Keep only so many words, the most frequent.", least=1)
    sample: float = option(
        1e-3,
        "Words whose share of the corpus is above this are read less often: one of share f stays with chance "
        "sqrt(sample/f) + sample/f. 0 reads all.",
        least=0,
        most=1,
    )


@dataclass(frozen=True, kw_only=True)
class ContextWindow(Settings):
    """Which words are a word's contexts."""

    window: int = option(5, "Furthest context word on either side.", least=1, most=10000)
    shrink_window: bool = option(
        True,
        "Draw the reach of each window from 1 to --window, so that near words count more, or always take it whole.",
        flags="--shrink-window/--fixed-window",
    )


@dataclass(frozen=True, kw_only=True)
class WholeWindow(ContextWindow):
    """The same for models of the places in a window, which take it whole."""

    shrink_window: bool = option(
        False,
        "Always take the window whole, as the paper does, or draw its reach from 1 to --window, so that near words "
        "count more.",
        flags="--shrink-window/--fixed-window",
    )


DISTANT = 8  # windows that share noise words when those of distant windows do


@dataclass(frozen=True, kw_only=True)
class NegativeSampling(Settings):
    """What a positive is told apart from."""

    negatives: int = option(5, "Noise words for each positive.", least=1, most=1000)
    noise_exponent: float = option(
        0.75,
        "Noise words are drawn in proportion to count to this power: 1 as in the corpus, 0 all alike.",
        most=10,
        least=-10,
    )
    negative_sharing: Literal["distant", "window"] = option(
        "distant",
        "All contexts of a window share its noise words. Draw them once for 8 windows that lie apart and have no word "
        "in common, which is fast, or anew for each window.",
    )

    @property
    def together(self) -> int:
        """How many windows share a draw of noise words."""
        return DISTANT if self.negative_sharing == "distant" else 1


@dataclass(frozen=True, kw_only=True)
class DocumentChoice(Settings):
    """What gets a vector of its own beside words."""

    documents: Literal["auto", "lines", "blocks"] = option(
        "auto",
        "What a document is: blocks are rows of a table, items of an iterable and, in plain text, the lines between "
        "blank ones; lines are each line. auto takes lines where all is plain text, else blocks. Documents of one tag "
        "share a vector.",
    )


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """How long, and in steps of what size."""

    epochs: int = option(5, "Passes over the corpus.", least=1, most=1_000_000)
    rate: float = option(0.025, "Learning rate at the start; it falls linearly over all epochs.", above=0, most=100)
    min_rate: float | None = option(None, "Learning rate that it never falls below.  [default: rate/10,000]", least=0)
    shuffle: bool = option(False, "Read the sentences of each thread's share in another random order in every epoch.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_rate is not None and self.min_rate > self.rate:
            raise SettingError(f"min_rate must be at most rate, {self.rate}, not {self.min_rate}")

    @property
    def floor(self) -> float:
        """The rate at the end."""
        return self.rate / 10_000 if self.min_rate is None else self.min_rate

    def rate_at(self, done: int, total: int) -> float:
        """The rate when `done` of `total` words are read, counted over all epochs and threads."""
        return max(self.rate * (1 - done / total), self.floor)
