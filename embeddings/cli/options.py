"""Options that several commands share, and options made from the settings of plugins."""

import dataclasses
import typing
from typing import Any, Literal

import click

from embeddings.settings import field_types, flag, split_optional

ALIASES = {  # names of word2vec, gensim and fastText with the same meaning
    "learning_rate": ("--lr", "--alpha", "--rate"),
    "min_learning_rate": ("--min-rate",),
    "subsample": ("--sample",),
}
MAX_SEED = 2**63 - 1

JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")
FORCE = click.Option(["--force"], is_flag=True, help="Replace existing output.")
QUIET = click.Option(["--quiet"], is_flag=True, help="Print results, warnings and errors only.")
THREADS = click.Option(["--threads"], type=click.IntRange(1, 1024), help="Number of threads.  [default: all cores]")
ALLOW_PICKLE = click.Option(
    ["--allow-pickle"], is_flag=True, help="Read gensim's own files, which can execute code: only from trusted sources."
)
VECTOR_INPUT = (  # of commands that read vectors: keyword arguments of `embeddings.load`
    ALLOW_PICKLE,
    click.Option(
        ["--encoding-errors", "errors"],
        type=click.Choice(["strict", "replace", "ignore"]),
        default="strict",
        show_default=True,
        help="What to do with words that are not valid UTF-8.",
    ),
)
SEARCH = (  # of commands that print neighbours
    click.Option(["--top"], type=click.IntRange(min=1), default=10, show_default=True, help="Number of results."),
    click.Option(
        ["--restrict"], type=click.IntRange(min=1), help="Search only the N most frequent words.", metavar="N"
    ),
)


def seed(help: str, default: int = 1) -> click.Option:
    """The option --seed."""
    return click.Option(["--seed"], type=click.IntRange(0, MAX_SEED), default=default, show_default=True, help=help)


def from_settings(settings: type) -> list[click.Option]:
    """An option for each field of a settings class, with its type, default and help."""
    types = field_types(settings)
    return [from_field(field, types[field.name]) for field in dataclasses.fields(settings)]


def from_field(field: "dataclasses.Field[Any]", hint: Any) -> click.Option:
    """The option for one field; click checks its type, the settings class its bounds."""
    type_, _ = split_optional(hint)
    name = flag(field.name)
    switch = field.metadata.get("flags") or f"{name}/--no-{name.removeprefix('--')}"
    return click.Option(
        [switch if type_ is bool else name, *ALIASES.get(field.name, ()), field.name],
        type=click.Choice(typing.get_args(type_)) if typing.get_origin(type_) is Literal else type_,
        default=field.default,
        show_default=field.default is not None,
        help=field.metadata.get("help"),
    )


def is_given(name: str) -> bool:
    """Whether the user set an option of the current command, on the command line or in a configuration file."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)
