"""Errors as one line, in terms of command line options."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import click

from embeddings.errors import EmbeddingsError, as_in_python, shorten
from embeddings.printable import printable
from embeddings.setting_names import ADVICE, normalize_name, our_name
from embeddings.settings import flag
from embeddings.support.logs import mask


def error_line(error: BaseException, arguments: Sequence[str], group: click.Group | None = None) -> str:
    """An error message as one line; settings and remedies such as `force=True` become options of the command.

    Arguments:
        group: the group whose command the arguments name.
    """
    if isinstance(error, click.NoSuchOption):
        return unknown_option(error, arguments)
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    if isinstance(error, EmbeddingsError):
        message = error.message_with(partial(as_option, {} if group is None else named_options(group, arguments)))
    line = shorten(printable(" ".join(mask(message).split()))) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"out of memory: {line}"
    if isinstance(error, click.ClickException | EmbeddingsError | OSError):
        return line
    return f"unexpected {type(error).__name__}: {line}; --debug prints the traceback"


def named_options(group: click.Group, arguments: Sequence[str]) -> dict[str, click.Option]:
    """The options of the command that the arguments name, by the names of their settings."""
    command: click.Command = group
    with suppress(EmbeddingsError):  # the error may be that the command cannot be imported
        for word in arguments:
            if isinstance(command, click.Group):
                command = command.get_command(click.Context(command), word) or command
    from embeddings.cli.command_help import Option

    options: dict[str, click.Option] = {}
    known = [option for option in command.params if isinstance(option, click.Option)]
    for option in known:
        options |= dict.fromkeys((str(option.name), typed_name(option).lstrip("-").replace("-", "_")), option)
    return {option.parameter: option for option in known if isinstance(option, Option)} | options


def typed_name(option: click.Parameter) -> str:
    """How an option is typed; of several spellings, the one that equals the name of its setting."""
    listed: list[str] = getattr(option, "listed", option.opts)
    own = [name for name in listed if name.lstrip("-").replace("-", "_") == option.name]
    return (own or listed)[0]


def as_option(options: Mapping[str, click.Option], name: str, value: str | None) -> str:
    """A setting as an option of the command; as an argument in Python if the command does not have it."""
    option = options.get(name)
    if option is None:
        return flag(name) if value == "True" else as_in_python(name, value)
    if value is None or (option.is_flag and value == "True"):
        return typed_name(option)
    if option.is_flag:
        return (option.secondary_opts or [as_in_python(name, value)])[0]
    return f"{typed_name(option)} {value}"


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
        remedy = ADVICE.get(normalize_name(name), "see --help").capitalize() + "."
    return f"No such option: {printable(mask(name))}. {remedy}"
