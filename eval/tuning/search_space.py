"""The settings of a trainer that a search varies, and the values of a trial."""

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from embeddings.errors import SettingError
from embeddings.settings import SearchRange, check_value, field_types, split_optional
from embeddings.training.trainer import Trainer

Space = dict[str, SearchRange]
LOG_RATIO = 10  # between the ends of a range from which on its numbers are spread by their logarithm
EPOCHS = "epochs"


def search_space(trainer: Trainer, vary: Sequence[str] = (), fixed: Collection[str] = ()) -> Space:
    """The ranges to search.

    Arguments:
        vary: the settings to vary, such as "window", "dim=50..300" or "initializer=normal,xavier"; without a range, the
            one that the setting declares. By default all settings that declare one, except for those in `fixed`.

    Raises:
        SettingError: a setting is unknown, its range is empty, out of bounds or not declared; or no setting is left.
    """
    if vary:
        return dict(parse_range(trainer, text) for text in vary)
    space = {name: one for name, one in declared_ranges(trainer).items() if one is not None and name not in fixed}
    if not space:
        raise SettingError(f"no setting of {trainer.trainer_name} is left to tune: vary one, such as dim=50..300")
    return space


def declared_ranges(trainer: Trainer) -> dict[str, SearchRange | None]:
    """The range of each setting, None for one that declares none."""
    return {field.name: field.metadata.get("search") for field in dataclasses.fields(trainer)}


def parse_range(trainer: Trainer, text: str) -> tuple[str, SearchRange]:
    """A setting and its range, from `name`, `name=low..high` or `name=value,value`."""
    name, given, values = text.partition("=")
    name, ranges = name.strip().replace("-", "_"), declared_ranges(trainer)
    if name not in ranges:
        raise SettingError(f"{trainer.trainer_name} has no setting {name!r} to vary: choose from {', '.join(ranges)}")
    declared = ranges[name]
    if not given:
        if declared is None:
            raise SettingError(f"{name} declares no range to vary: give one, such as {name}=LOW..HIGH or {name}=A,B")
        return name, declared
    requires = None if declared is None else declared.requires
    low, is_interval, high = values.partition("..")
    if not is_interval:
        choices = tuple(convert(trainer, name, value) for value in values.split(","))
        return name, SearchRange(choices=choices, requires=requires)
    ends = [convert(trainer, name, end) for end in (low, high)]
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        raise SettingError(f"{name} has no numbers to vary between: give its values, as in {name}=A,B")
    if ends[0] >= ends[1]:
        raise SettingError(f"the range of {name} is empty: {values}")
    is_log = ends[0] > 0 and ends[1] >= LOG_RATIO * ends[0]
    return name, SearchRange(low=ends[0], high=ends[1], log=is_log, requires=requires)


def convert(trainer: Trainer, name: str, text: str) -> Any:
    """The value of a setting that a string means, checked."""
    kind, is_optional = split_optional(field_types(type(trainer))[name])
    text = text.strip()
    if is_optional and text == "none":
        return None
    value: Any = text
    try:
        if kind is bool:
            value = {"true": True, "false": False}[text.lower()]
        elif kind in (int, float):
            value = kind(text)
        elif get_origin(kind) is Literal:
            value = next((choice for choice in get_args(kind) if str(choice) == text), text)
    except (ValueError, KeyError):
        expected = {bool: "true or false", int: "an integer"}.get(kind, "a number")
        raise SettingError(f"{name} must be {expected}, got {text!r}") from None
    metadata = next(field.metadata for field in dataclasses.fields(trainer) if field.name == name)
    return check_value(name, value, kind, metadata)


def suggest(trial: Any, trainer: Trainer, space: Space, *, is_first: bool = False) -> dict[str, Any]:
    """The settings that an optuna trial tries; those that require another setting come last.

    The first trial has the trainer's own settings, also those that are outside of their ranges.
    """
    values: dict[str, Any] = {}
    own = {} if not is_first else {name: getattr(trainer, name) for name in space}
    for name in sorted(space, key=lambda name: space[name].requires is not None):
        one = space[name]
        if one.requires is not None and not values.get(one.requires, getattr(trainer, one.requires)):
            continue
        if is_first and not contains(one, own[name]):
            values[name] = own[name]
        elif one.choices:
            values[name] = trial.suggest_categorical(name, one.choices)
        elif is_integer(trainer, name):
            values[name] = trial.suggest_int(name, int(one.low), int(one.high), log=one.log)
        else:
            values[name] = round_to_digits(trial.suggest_float(name, one.low, one.high, log=one.log))
    return values


def distribution(trainer: Trainer, name: str, one: SearchRange) -> Any:
    """The distribution of optuna for a range, the one from which `suggest` draws."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if one.choices:
        return CategoricalDistribution(one.choices)
    if is_integer(trainer, name):
        return IntDistribution(int(one.low), int(one.high), log=one.log)
    return FloatDistribution(one.low, one.high, log=one.log)


def is_integer(trainer: Trainer, name: str) -> bool:
    """Whether a setting is a whole number."""
    return split_optional(field_types(type(trainer))[name])[0] is int


def round_to_digits(value: float) -> float:
    """A number with four significant digits, so that a command line repeats the trial."""
    return float(f"{value:.4g}")


def first_values(trainer: Trainer, space: Space) -> Mapping[str, Any]:
    """The trainer's own settings as far as they are within the ranges: the first trial."""
    values = {name: getattr(trainer, name) for name in space}
    return {name: value for name, value in values.items() if contains(space[name], value)}


def contains(one: SearchRange, value: Any) -> bool:
    """Whether a value is in a range."""
    return value in one.choices if one.choices else value is not None and one.low <= value <= one.high


def describe_space(space: Space) -> dict[str, str]:
    """The ranges as strings, for records."""
    return {
        name: ",".join(map(str, one.choices)) if one.choices else f"{one.low:g}..{one.high:g}"
        for name, one in space.items()
    }


def is_rung(epoch: int) -> bool:
    """Whether a trial may be ended after this epoch: 1, 2, 4, 8, ..."""
    return math.log2(epoch).is_integer()
