"""The contract of settings, shared by trainers and kinds of index: dataclass fields that make a command line."""

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

from embeddings.errors import SettingError
from embeddings.settings import field_types, split_optional
from embeddings.support.docstrings import documentation


def check_options(plugin: type) -> None:
    """Assert that a class is a documented, frozen, keyword-only dataclass of options."""
    name = plugin.__name__
    assert dataclasses.is_dataclass(plugin), f"{name} must be a dataclass"
    assert plugin.__dataclass_params__.frozen, f"{name} must be frozen: @dataclass(frozen=True, kw_only=True)"  # type: ignore[attr-defined]
    has_docstring = documentation(plugin)
    assert has_docstring, f"{name} must have a docstring; its first line is its summary"
    for field in dataclasses.fields(plugin):
        assert field.kw_only, f"{field.name} must be keyword-only: @dataclass(frozen=True, kw_only=True)"
        assert field.default is not dataclasses.MISSING, f"{field.name} must have a default"
        assert field.metadata.get("help"), f"{field.name} must have help: use embeddings.settings.option"
        kind, _ = split_optional(field_types(plugin)[field.name])
        is_allowed = kind in (int, float, str, bool, tuple[str, ...]) or typing.get_origin(kind) is Literal
        assert is_allowed, f"{field.name} must be an int, float, str, bool, Literal or tuple[str, ...], got {kind}"


def check_bounds(plugin: type, settings: Mapping[str, Any]) -> None:
    """Assert that values just out of bounds, and of a wrong type, are refused with the name of the setting."""
    for field in dataclasses.fields(plugin):
        kind, _ = split_optional(field_types(plugin)[field.name])
        values: list[Any] = [object()]
        if kind in (int, float):
            step = 1 if kind is int else 0.5
            distances = {"ge": -step, "le": step, "gt": 0}
            bounds = {name: field.metadata.get(name) for name in distances}
            values = ["a text", float("nan"), float("inf")]
            values += [kind(bound + distances[name]) for name, bound in bounds.items() if bound is not None]
        for value in values:
            message = refusal(plugin, **{**settings, field.name: value})
            assert message is not None, f"{field.name}={value!r} must raise SettingError"
            assert field.name in message, f"the message on {field.name}={value!r} must name it: {message}"


def refusal(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str | None:
    """The message of the SettingError that a call raises; None if it succeeds."""
    try:
        function(*args, **kwargs)
    except SettingError as error:
        return str(error)
    return None
