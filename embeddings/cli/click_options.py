"""Command line options made from the fields of a trainer."""

import dataclasses
import typing
from typing import Any, Literal

import click

from embeddings.settings import flag, kinds, without_none


def options(trainer: type) -> list[click.Option]:
    """An option for each field, with its type, default and help."""
    hints = kinds(trainer)
    return [made(field, hints[field.name]) for field in dataclasses.fields(trainer)]


def made(field: "dataclasses.Field[Any]", hint: Any) -> click.Option:
    """One option; click reads its type, the trainer checks its bounds."""
    kind, _ = without_none(hint)
    name = flag(field.name)
    switch = field.metadata.get("flags") or f"{name}/--no-{name.removeprefix('--')}"
    return click.Option(
        [switch if kind is bool else name, field.name],
        type=click.Choice(typing.get_args(kind)) if typing.get_origin(kind) is Literal else kind,
        default=field.default,
        show_default=field.default is not None,
        help=field.metadata.get("help"),
    )
