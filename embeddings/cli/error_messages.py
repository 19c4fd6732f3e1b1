"""Errors as one line, in terms of command line options."""

import re
from collections.abc import Sequence

import click

from embeddings.errors import EmbeddingsError, shorten
from embeddings.printable import printable
from embeddings.setting_names import hint, our_name
from embeddings.settings import flag

PYTHON_ARGUMENT = re.compile(r"\b([a-z_]+)=True\b")  # the remedy as the library names it
SETTING_REMEDY = re.compile(r"\b(set|lower|raise|omit|select one with) (encoding|[a-z]+_[a-z_]+)\b(?!=)")


def error_line(error: BaseException, arguments: Sequence[str]) -> str:
    """An error message as one line; remedies such as `force=True` and `lower min_count` become options."""
    if isinstance(error, click.NoSuchOption):
        return unknown_option(error, arguments)
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    line = shorten(printable(" ".join(message.split()))) or type(error).__name__
    line = PYTHON_ARGUMENT.sub(lambda match: flag(match[1]), line)
    line = SETTING_REMEDY.sub(lambda match: f"{match[1]} {flag(match[2])}", line)
    if isinstance(error, MemoryError):
        return f"out of memory: {line}"
    if isinstance(error, click.ClickException | EmbeddingsError | OSError):
        return line
    return f"unexpected {type(error).__name__}: {line}; --debug prints the traceback"


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
