"""The settings of a trainer that a search varies, and the values of a trial."""

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from embeddings.errors import SettingError
from embeddings.settings import SearchRange, field_types, split_optional
from embeddings.training.trainer import Trainer

Space = dict[str, SearchRange]


def search_space(trainer: Trainer, fixed: Collection[str] = ()) -> Space:
    """The ranges that a trainer's settings declare, except for those named in `fixed`.

    Raises:
        SettingError: no setting is left to vary.
    """
    ranges = {field.name: field.metadata.get("search") for field in dataclasses.fields(trainer)}
    space = {name: range for name, range in ranges.items() if range is not None and name not in fixed}
    if not space:
        raise SettingError(f"no setting of {trainer.trainer_name} is left to tune")
    return space


def suggest(trial: Any, trainer: Trainer, space: Space) -> dict[str, Any]:
    """The settings that an optuna trial tries; those that require another setting come last."""
    kinds = field_types(type(trainer))
    values: dict[str, Any] = {}
    for name in sorted(space, key=lambda name: space[name].requires is not None):
        one = space[name]
        if one.requires is not None and not values.get(one.requires, getattr(trainer, one.requires)):
            continue
        if one.choices:
            values[name] = trial.suggest_categorical(name, one.choices)
        elif split_optional(kinds[name])[0] is int:
            values[name] = trial.suggest_int(name, int(one.low), int(one.high), log=one.log)
        else:
            values[name] = round_to_digits(trial.suggest_float(name, one.low, one.high, log=one.log))
    return values


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
