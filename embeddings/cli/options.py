"""Options that several commands share, and options made from the settings of plugins."""

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import click

from embeddings.settings import field_types, flag, split_optional

if TYPE_CHECKING:
    from embeddings.analysis.confidence import ConfidentNeighbour, ConfidentSimilarity


ALIASES = {  # names of word2vec, gensim and fastText with the same meaning
    "learning_rate": ("--lr", "--alpha", "--rate"),
    "min_learning_rate": ("--min-rate",),
    "subsample": ("--sample",),
}
ENCODING_ERRORS = ["strict", "replace", "ignore"]


def option(names: str, help: str, kind: Any = None, **attributes: Any) -> click.Option:
    """An option; its default is shown, and whether it can be repeated.

    Arguments:
        names: separated by spaces.
        kind: bool for a flag, a list of choices, a minimum, a range of integers, or a metavar.
    """
    if kind is bool:
        attributes["is_flag"] = True
    elif isinstance(kind, str):
        attributes["metavar"] = kind
    elif isinstance(kind, list):
        attributes["type"] = click.Choice(kind)
    elif kind is not None:
        attributes["type"] = click.IntRange(*kind) if isinstance(kind, tuple) else click.IntRange(kind)
    repeatable = " Repeatable." if attributes.get("multiple") else ""
    help = re.sub(r"(?=  \[|$)", repeatable, help, count=1)
    return click.Option(names.split(), help=help, show_default=attributes.get("default") is not None, **attributes)


def dataset_option(name: str, help: str, metavar: str = "NAME|FILE") -> click.Option:
    """An option that chooses test sets."""
    return option(name, help, metavar, multiple=True)


JSON = option("--json as_json", "Print JSON.", bool)
FORCE = option("--force", "Replace existing output.", bool)
QUIET = option("--quiet", "Print results, warnings and errors only.", bool)
OUTPUT = (FORCE, JSON, QUIET)
THREADS = option("--threads", "Number of threads.  [default: all cores]", (1, 1024))
ALLOW_PICKLE = option("--allow-pickle", "Read gensim's own files, which can execute code: trusted sources only.", bool)
ALLOW_FAISS = option(
    "--allow-faiss", "Load a saved index of FAISS, which can crash or run code: trusted sources only.", bool
)
VECTOR_INPUT = (  # of commands that read vectors: keyword arguments of `embeddings.load`
    ALLOW_PICKLE,
    option(
        "--encoding-errors errors",
        "Where words are not valid UTF-8: fail, insert U+FFFD, or omit the bytes.",
        ENCODING_ERRORS,
        default="strict",
    ),
)
SEARCH = (  # of commands that print neighbours
    option("--top", "Number of results.", 1, default=10),
    option("--restrict", "Search only the N most frequent words.", 1, metavar="N"),
)


class LargeRange(click.types.IntParamType):
    """A range of integers whose bounds help does not show."""

    def __init__(self, minimum: int, maximum: int) -> None:
        self.range = click.IntRange(minimum, maximum)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer, if it is in range."""
        return self.range.convert(value, param, ctx)


def seed(help: str) -> click.Option:
    """The option --seed."""
    return option("--seed", help, type=LargeRange(0, 2**63 - 1), default=1)


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


def from_signature(
    function: Callable[..., Any], defaults: Mapping[str, Any] | None = None, /, **parameters: str | None
) -> list[click.Option]:
    """Options for parameters of a function or class: default and type by its signature, help by its docstring.

    Arguments:
        defaults: of parameters, in place of those of the signature.
        parameters: the metavar of each option, None for that of its type. It follows the name of the option, such as
            `--stop-labels FILE`, if that is not the name of the parameter.
    """
    signature, texts = inspect.signature(function).parameters, argument_texts(function)
    options = []
    for name, declaration in parameters.items():
        option_name, metavar = name_and_metavar(name, declaration)
        parameter = signature[name]
        if defaults is not None and name in defaults:
            parameter = parameter.replace(default=defaults[name])
        options.append(from_parameter(option_name, parameter, texts[name], metavar))
    return options


def name_and_metavar(parameter: str, declaration: str | None) -> tuple[str, str | None]:
    """The name of the option for a parameter, and its metavar if it has one; see `from_signature`."""
    name, _, metavar = (declaration or "").rpartition(" ") if (declaration or "")[:1] == "-" else ("", "", declaration)
    return name or flag(parameter), metavar


def take_arguments(values: dict[str, Any], parameters: Mapping[str, str | None]) -> dict[str, Any]:
    """Remove the values of options made by `from_signature` from those of a command; returns them by parameter.

    Options that the command does not have, and values None, are left out.
    """
    names = {one: name_and_metavar(one, declaration)[0] for one, declaration in parameters.items()}
    taken = {one: values.pop(name[2:].replace("-", "_"), None) for one, name in names.items()}
    return {name: value for name, value in taken.items() if value is not None}


def from_parameter(names: str, parameter: inspect.Parameter, help: str, metavar: str | None) -> click.Option:
    """The option for a parameter; the function checks what click does not."""
    type_, _ = split_optional(parameter.annotation)
    default = None if parameter.default is parameter.empty else parameter.default
    attributes: dict[str, Any] = {"default": default}
    if type_ is bool:
        names = names if default is False else f"{names}/{names.replace('--', '--no-', 1)}"
        attributes["is_flag"] = True
    elif typing.get_origin(type_) is Literal:
        attributes["type"] = click.Choice(typing.get_args(type_))
    elif type_ in (int, float):
        attributes["type"] = type_
    if is_sequence(parameter.annotation):
        attributes |= {"multiple": True, "default": None}
    return option(names, help, metavar, **attributes)


def is_sequence(annotation: Any) -> bool:
    """Whether a parameter takes several values."""
    parts = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return any(typing.get_origin(part) is Sequence for part in parts)


@cache
def argument_texts(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring of a function says about each of its arguments, without sentences about Python, as help."""
    _, _, section = (inspect.getdoc(function) or "").partition("Arguments:\n")
    texts: dict[str, str] = {}
    for entry in re.split(r"\n    (?=\w)", "\n" + section.split("\n\n")[0])[1:]:
        names, _, text = re.sub(r"\. In Python.*", ".", " ".join(entry.split())).partition(": ")
        text = re.sub(r'"([^" ]+)"', r"\1", re.sub(r"`(\w+)`", lambda match: flag(match[1]), text))
        texts |= dict.fromkeys(names.split(", "), text[:1].upper() + text[1:])
    return texts


def is_given(name: str) -> bool:
    """Whether the user set an option of the current command, on the command line or in a configuration file."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


CONFIDENCE = option(
    "--confidence",
    "Show how certain the results are, by the trainings that `embeddings stability` saved in FOLDER.",
    "FOLDER",
)


def spread(one: "ConfidentSimilarity") -> dict[str, Any]:
    """The interval of a cosine and its standard deviations, as columns."""
    return {"low": one.low, "high": one.high, "data_sd": one.data_sd, "seed_sd": one.seed_sd}


def neighbour_row(one: "ConfidentNeighbour", names: tuple[str, str]) -> dict[str, Any]:
    """A neighbour or an answer with its intervals; the columns of the word and its cosine have these names."""
    ranks = {"in_top": one.in_top, "rank_low": one.rank_low, "rank_high": one.rank_high}
    values = spread(one.similarity)
    interval = {name: values.pop(name) for name in ("low", "high")}
    return {
        names[0]: one.neighbour,
        names[1]: one.similarity.cosine,
        **interval,
        **ranks,
        **values,
    }
