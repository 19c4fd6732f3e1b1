"""Errors as one line, in terms of command line options."""

import re
from collections.abc import Mapping, Sequence

import click

from embeddings.errors import EmbeddingsError, shorten
from embeddings.printable import printable
from embeddings.setting_names import hint, our_name
from embeddings.settings import flag

NAME = "[a-z]+(?:_[a-z]+)*"
ASSIGNMENT = re.compile(rf"(?<![\w'\"/.:,-])({NAME})=([^\s,;:()]+)")  # of a setting
COMPOUND = re.compile(r"(?<![\w'\"/.:-])[a-z]+(?:_[a-z]+)+(?![\w'\"/=(-]|\.\w)")
VERBS = "must|requires?|ha(?:s|ve) no effect|cannot be (?:combined|varied)|is too large"
SUBJECTS = re.compile(rf"^{NAME}(?:(?:, | and | or ){NAME})*(?= (?:{VERBS})\b)")
REMEDY = re.compile(rf"\b((?:set|lower|raise|omit|remove|requires?) )({NAME})(?=$|[,;:]| (?:and|or|to)\b)")
PYTHON_ARGUMENT = re.compile(r"\b([a-z_]+)=True\b")  # a remedy that is not an option of the command


def error_line(error: BaseException, arguments: Sequence[str], group: click.Group | None = None) -> str:
    """An error message as one line; settings and remedies such as `force=True` become options of the command.

    Arguments:
        group: the group whose command the arguments name.
    """
    if isinstance(error, click.NoSuchOption):
        return unknown_option(error, arguments)
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    line = " ".join(message.split())
    if group is not None and isinstance(error, EmbeddingsError):
        line = with_options(line, named_options(group, arguments))
    line = PYTHON_ARGUMENT.sub(lambda match: flag(match[1]), line)
    line = shorten(printable(line)) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"out of memory: {line}"
    if isinstance(error, click.ClickException | EmbeddingsError | OSError):
        return line
    return f"unexpected {type(error).__name__}: {line}; --debug prints the traceback"


def named_options(group: click.Group, arguments: Sequence[str]) -> dict[str, click.Option]:
    """The options of the command that the arguments name, by the names of their settings."""
    command: click.Command = group
    for word in arguments:
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word) or command
    options: dict[str, click.Option] = {}
    for option in command.params:
        if isinstance(option, click.Option):
            options |= dict.fromkeys((str(option.name), typed_name(option).lstrip("-").replace("-", "_")), option)
    return options


def typed_name(option: click.Option) -> str:
    """An option as it is typed, by the name of its setting if it has several."""
    own = [name for name in option.opts if name.lstrip("-").replace("-", "_") == option.name]
    return (own or option.opts)[0]


def with_options(line: str, options: Mapping[str, click.Option]) -> str:
    """A message of the library with the names and values of settings as options."""

    def name(match: re.Match[str]) -> str:
        return typed_name(options[match[0]]) if match[0] in options else match[0]

    def name_and_value(match: re.Match[str]) -> str:
        option = options.get(match[1])
        if option is None:
            return match[0]
        if not option.is_flag:
            return typed_name(option) + " " + match[2].strip("'")
        return typed_name(option) if match[2] == "True" else (option.secondary_opts or [match[0]])[0]

    line = SUBJECTS.sub(lambda match: re.sub(NAME, name, match[0]), line)
    line = REMEDY.sub(lambda match: match[1] + re.sub(NAME, name, match[2]), line)
    return COMPOUND.sub(name, ASSIGNMENT.sub(name_and_value, line))


def unknown_option(error: click.NoSuchOption, arguments: Sequence[str]) -> str:
    """The message for an unknown option; it suggests the intended one, also for option names of other tools."""
    from embeddings.cli.command_classes import options_of, plugins_with  # imports the registry: not for --help

    name = error.option_name
    if not name.startswith("--"):  # click reads -size as -s -i -z -e
        name = next((word for word in arguments if re.match(rf"-\w*{re.escape(name[1:])}", word)), name)
    options = options_of(error.ctx.command, error.ctx) if error.ctx else []
    flags = [option[2:] for option in options if option.startswith("--")]
    option, others = our_name(name, flags), plugins_with(error.ctx, name)
    if others:
        remedy = f"It is an option of {', '.join(others)}."
    elif option:
        remedy = f"Use --{option}."
    elif error.ctx and isinstance(error.ctx.command, click.Group):
        remedy = f"Put options after the subcommand; see {error.ctx.command_path} --help."
    else:
        remedy = (hint(name, flags) or "see --help").capitalize() + "."
    return f"No such option: {printable(name)}. {remedy}"
