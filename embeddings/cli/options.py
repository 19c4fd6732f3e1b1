"""Options that several commands share, and options made from the settings of plugins."""

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

import click

from embeddings.cli.command_help import Option, shared
from embeddings.cli.error_messages import typed_name
from embeddings.settings import field_types, flag, split_optional, split_range
from embeddings.support.docstrings import argument_texts
from embeddings.support.result_table import PlottedTable, plotting


def option(names: str, help: str, kind: Any = None, **attributes: Any) -> Option:
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
    return Option(names.split(), help=help, show_default=attributes.get("default") is not None, **attributes)


JSON = option("--json as_json", "Print JSON.", bool)
FORCE = option("--force", "Replace existing output.", bool)
QUIET = option("--quiet", "Print results, warnings and errors only.", bool)


@dataclasses.dataclass(frozen=True)
class Output:
    """How a command writes output: whether it replaces existing files, prints JSON, and is quiet."""

    force: bool = False
    as_json: bool = False
    quiet: bool = False


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Where a command draws its table, and whether it replaces an existing file; it is checked before any work."""

    plot: str | None = None
    force: bool = False

    def __post_init__(self) -> None:
        if self.plot is not None:
            plotting().check_path(self.plot, force=self.force)

    def draw(self, tables: Mapping[str, PlottedTable[Any]]) -> None:
        """Draw tables below each other, each under its heading."""
        if self.plot is not None:
            dots = [dot for title, table in tables.items() for dot in table.titled_dots(title)]
            plotting().draw(dots, self.plot, force=self.force)


PLOT = option("--plot", "Also draw the table, with 95 % intervals, as .svg, .png or .pdf.", "FILE")
DRAWING = shared("drawing", Drawing, PLOT, option("--force", FORCE.help or "", bool, common=False))
OUTPUT = shared("output", Output, FORCE, JSON, QUIET)
THREADS = option("--threads", "Number of threads.  [default: all cores]", (1, 1024))
ALLOW_PICKLE = option(
    "--allow-pickle", "Read gensim's own files, which can execute code: trusted sources only.", bool, common=False
)
OUT_FILE = option("-o --out", "Output file; its extension selects the format.", "FILE", required=True)
OUT_FOLDER = option("-o --out", "Output folder.", "FOLDER", required=True)
FORMAT = option("--format format", "Output format.  [default: by the extension of OUT]", "NAME")
DOCUMENTS = option("--documents", "Use the documents of a saved model, named by their tags, not its words.", bool)
CONFIDENCE = option(
    "--confidence",
    "Show how certain the results are, by the trainings that `embeddings stability` saved in FOLDER.",
    "FOLDER",
)
VECTOR_INPUT = shared(  # of commands that read vectors: keyword arguments of `embeddings.load`
    "reading", dict, ALLOW_PICKLE,
    option(
        "--encoding-errors errors",
        "Where words are not valid UTF-8: fail, insert U+FFFD, omit the bytes, or write them as \\xe9.",
        ["strict", "replace", "ignore", "backslashreplace"],
        default="strict",
        common=False,
    ),
)  # fmt: skip

POOLING_OPTIONS = {  # parameters of `embeddings.embed` that pool vectors of words, and the metavars of their options
    "pool": None,
    "constant": None,
    "frequencies": None,
    "remove_components": "N",
    "fit_on": "FILE",
    "dim": "N",
}


def seed(help: str) -> Option:
    """The option --seed."""
    return option("--seed", help, 0, default=1)


def from_settings(settings: type) -> list[Option]:
    """An option for each field of a settings class, with its type, default and help."""
    types, options = field_types(settings), []
    for field in dataclasses.fields(settings):
        # a class of settings checks its bounds itself, also for Python; click checks types only
        type_, _ = split_optional(types[field.name])
        name = flag(field.name)
        switch = field.metadata.get("flags") or f"{name}/--no-{name.removeprefix('--')}"
        is_repeatable = typing.get_origin(type_) is tuple
        kind: Any = str if is_repeatable else type_
        options.append(
            Option(
                [switch if type_ is bool else name, field.name],
                type=click.Choice(typing.get_args(type_)) if typing.get_origin(type_) is Literal else kind,
                multiple=is_repeatable,
                default=field.default,
                show_default=field.default is not None and not is_repeatable,
                help=field.metadata.get("help"),
                common=field.metadata.get("common", False),
            )
        )
    return options


def from_signature(
    function: Callable[..., Any],
    defaults: Mapping[str, Any] | None = None,
    documented: Callable[..., Any] | None = None,
    /,
    **parameters: str | None,
) -> list[Option]:
    """Options for parameters of a function or class: default and type by its signature, help by its docstring.

    Arguments:
        documented: another function, whose docstring has the parameters.
        defaults: of parameters, in place of those of the signature.
        parameters: the metavar of each option, None for that of its type; `...` ends it if the option is repeatable. If
            the option has other names than the parameter, the metavar follows them, as in `--stop-labels FILE`; between
            them may stand the name of its value in lower case, as in `-k --top k`.
    """
    signature, texts = inspect.signature(function).parameters, argument_texts(documented or function)
    parts = {name: parts_of(name, declaration) for name, declaration in parameters.items()}

    # docstrings name parameters; a help text names the options of this command
    def named(match: re.Match[str]) -> str:
        return parts[match[1]][0].split()[-1] if match[1] in parts else {"out": "OUT"}.get(match[1], match[1])

    options: list[Option] = []
    for name, (flags, value, metavar) in parts.items():
        default = (defaults or {}).get(name, signature[name].default)
        help = re.sub(r"`([^`]+)`", named, texts[name])
        one = from_parameter(f"{flags} {value}", metavar, signature[name], help, default)
        one.parameter = name
        options.append(one)
    return options


def parts_of(parameter: str, declaration: str | None) -> tuple[str, str, str | None]:
    """The option names, the value name and the metavar for a parameter; see `from_signature`."""
    match = re.fullmatch(r"((?:-\S+ ?)*)(?:([a-z_]+)(?: |$))?(.*)", declaration or "")
    assert match is not None  # its parts may all be empty
    flags = match[1].strip() or flag(parameter)
    return flags, match[2] or flags.split()[-1].lstrip("-").replace("-", "_"), match[3] or None


def take_arguments(values: dict[str, Any], parameters: Mapping[str, str | None]) -> dict[str, Any]:
    """Remove from the values of a command the options made by `from_signature`; returns them by parameter.

    Options that the command does not have, and values None, are left out.
    """
    taken = {one: values.pop(parts_of(one, declaration)[1], None) for one, declaration in parameters.items()}
    return {name: value for name, value in taken.items() if value is not None}


def from_parameter(names: str, metavar: str | None, parameter: inspect.Parameter, help: str, default: Any) -> Option:
    """The option for a parameter; click checks its type and range, the function everything else."""
    type_, _ = split_optional(parameter.annotation)
    type_, bounds = split_range(type_)
    if metavar is not None and metavar.endswith("..."):
        return option(names, help, metavar[:-3], multiple=True)
    if type_ is bool and default is not False:
        return option(re.sub(r"^--(\S+)", r"--\1/--no-\1", names), help, bool, default=default)
    kind: Any = bool if type_ is bool else metavar
    if typing.get_origin(type_) is Literal:
        kind = list(typing.get_args(type_))
    number: dict[str, Any] = {}
    if type_ in (int, float):
        low = bounds.ge if bounds.gt is None else bounds.gt
        kinds: dict[type, Any] = {int: click.IntRange, float: click.FloatRange}
        is_bounded = any(bound is not None for bound in bounds)
        number["type"] = kinds[type_](low, bounds.le, bounds.gt is not None) if is_bounded else type_
    return option(names, help, kind, default=None if default is parameter.empty else default, **number)


def is_given(name: str) -> bool:
    """Whether the user set an option of the current command, on the command line or in a configuration file."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def shown(name: str) -> str:
    """An option of the current command as it is typed, by the name of its value; an argument in capitals."""
    parameters = {one.name: one for one in click.get_current_context().command.params}
    one = parameters.get(name)
    return name.upper() if isinstance(one, click.Argument) else flag(name) if one is None else typed_name(one)


def require(name: str, *others: str, why: str = "") -> None:
    """Refuse an option of the current command unless one of some others is given; `why` ends the message."""
    if is_given(name) and not any(map(is_given, others)):
        raise click.UsageError(f"{shown(name)} requires {' or '.join(map(shown, others))}{why}")


def exclude(name: str, *others: str, why: str = "") -> None:
    """Refuse an option of the current command together with any of some others; `why` ends the message."""
    for other in filter(is_given, others if is_given(name) else ()):
        raise click.UsageError(f"{shown(name)} cannot be combined with {shown(other)}{why}")
