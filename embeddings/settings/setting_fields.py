"""Trainer settings: dataclass fields that define Python arguments, command-line options and the saved record.

A trainer is a frozen, keyword-only dataclass of `option` fields. Settings that several models share are written once,
in the small classes of this package, and inherited.
"""

import dataclasses
import inspect
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from numbers import Integral, Real
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

from embeddings.errors import S, SettingError, check_names
from embeddings.setting_names import AdvisesOnNames


class Range(NamedTuple):
    """The numbers that a parameter accepts, in its annotation: `Annotated[int, Range(ge=1, le=100)]`.

    Arguments:
        ge: the smallest number.
        le: the largest number.
        gt: in place of `ge`, a bound that numbers must exceed.
    """

    ge: float | None = None
    le: float | None = None
    gt: float | None = None


Positive = Annotated[int, Range(ge=1)]


@dataclass(frozen=True)
class SearchRange:
    """Values of a setting that a search for the best settings tries.

    Arguments:
        low, high: the smallest and the largest number.
        log: whether numbers are spread by their logarithm.
        choices: in place of numbers, the values.
        requires: a setting that must not be 0 or None for this one to be searched.
    """

    low: float = 0
    high: float = 0
    log: bool = False
    choices: tuple[Any, ...] = ()
    requires: str | None = None


def option(
    default: Any,
    help: str,  # shadows the builtin: the name that click and dataclass users expect
    *,
    ge: float | None = None,
    le: float | None = None,
    gt: float | None = None,
    flags: str | None = None,
    search: SearchRange | None = None,
    common: bool = False,
) -> Any:
    """A trainer's dataclass field.

    Arguments:
        default: the default value.
        help: one sentence for `--help` and the documentation.
        ge: smallest allowed value.
        le: largest allowed value.
        gt: exclusive lower bound.
        flags: names of a yes/no option on the command line, such as `--shrink-window/--fixed-window`.
        search: the values that a search for the best settings tries; None if it leaves the setting as it is.
        common: whether short help lists the option; `--help-all` lists all.
    """
    metadata = {"help": help, "ge": ge, "le": le, "gt": gt, "flags": flags, "search": search, "common": common}
    return dataclasses.field(default=default, metadata=metadata)


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


def split_range(kind: Any) -> tuple[Any, Range]:
    """A type without the range that its annotation declares, and the range."""
    if typing.get_origin(kind) is Annotated:
        kind, declared = typing.get_args(kind)
        return kind, declared
    return kind, Range()


def flag(name: str) -> str:
    """The command-line option of a field: `min_count` -> `--min-count`."""
    return "--" + name.replace("_", "-")


def check_value(name: str, value: Any, kind: Any, bounds: Mapping[str, Any]) -> Any:
    """`value` converted to the type `kind`, if it has that type and is in `bounds`: `ge`, `le` and `gt`.

    The range of an annotated type takes the place of `bounds`.
    """
    kind, optional = split_optional(kind)
    kind, declared = split_range(kind)
    bounds = bounds or declared._asdict()
    if value is None and optional:
        return None
    if typing.get_origin(kind) is tuple:  # of strings
        values = (value or ()) if value is None or isinstance(value, list | tuple) else [value]
        return tuple(check_value(name, one, str, {}) for one in values)
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            raise SettingError(f"{S[name]} must be one of {', '.join(map(str, choices))}, got {value!r}")
        return value
    accepted = {int: Integral, float: Real}.get(kind, kind)  # numpy numbers too
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        expected = {int: "an integer", float: "a number", bool: "true or false", str: "a string"}
        raise SettingError(f"{S[name]} must be {expected.get(kind, kind.__name__)}, got {value!r}")
    if kind not in (int, float):
        return value
    check_bounds(name, value, bounds)
    if isinstance(value, Integral) and int(value).bit_length() > 63:
        raise SettingError(f"{S[name]} is too large, got {shown_number(value)}")
    return kind(value)


def check_arguments(function: Callable[..., Any], **values: Any) -> None:
    """Refuse values outside the types and ranges that a function declares for its parameters."""
    for name, value in values.items():
        check_value(name, value, parameter_types(function)[name], {})


def check_list(name: str, values: Any, items: str = "texts", *, ordered: bool = True) -> list[Any]:
    """The items of an iterable in its order, those of an Arrow array as Python values.

    Refuses a string, whose items would be its characters, a mapping or data frame, whose items would be names, and a
    set if results follow the order.
    """
    has_names = isinstance(values, Mapping) or hasattr(values, "columns")
    if isinstance(values, str | bytes) or has_names or not isinstance(values, Iterable):
        example = f", such as [{values!r:.80}]" if isinstance(values, str) else ""
        raise SettingError(f"{S[name]} must be a list of {items}{example}, got {values!r:.80}")
    if ordered and isinstance(values, set | frozenset):
        raise SettingError(f"{S[name]} must be a list of {items}, got a set, which has no order: {values!r:.80}")
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


@cache
def parameter_types(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function's parameters."""
    return {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}


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
    raise SettingError(f"{S[name]} must be {allowed}, got {shown_number(value)}")


def shown_number(value: Any) -> str:
    """A number for a message; Python refuses to write an integer of thousands of digits."""
    is_long = isinstance(value, int) and value.bit_length() > 1000
    return f"an integer of {value.bit_length()} bits" if is_long else str(value)


@dataclass(frozen=True, kw_only=True)
class Settings(AdvisesOnNames):
    """Base of all settings: checked on construction."""

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Refuse unknown settings, and say what to write; `__init__` finds other errors."""
        check_names(cls.__name__, [field.name for field in dataclasses.fields(cls)], settings)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check the type and bounds of every field; numpy numbers become Python numbers."""
        hints = field_types(type(self))
        for field in dataclasses.fields(self):
            value = check_value(field.name, getattr(self, field.name), hints[field.name], field.metadata)
            object.__setattr__(self, field.name, value)

    def require(self, name: str, is_met: bool, requirement: str) -> None:
        """Refuse the value of a setting that has no effect, or makes no sense, because a requirement is not met."""
        if not is_met:
            raise SettingError(f"{S[name](getattr(self, name))} requires {requirement}")


Method = TypeVar("Method", bound=Callable[..., Any])


def refuse_unknown(method: Method) -> Method:
    """Decorate `Trainer.train`, or a constructor, so that an unknown keyword argument raises a SettingError."""
    code = method.__code__
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    @wraps(method)
    def call(self: Any, *args: Any, **arguments: Any) -> Any:
        owner = type(self).__name__ if method.__name__ == "__init__" else f"{method.__name__}()"
        check_names(owner, known, arguments, "argument")
        return method(self, *args, **arguments)

    return call  # type: ignore[return-value]  # the same signature
