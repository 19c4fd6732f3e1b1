"""Settings of a command from a TOML file."""

import tomllib
from typing import Any

import click

from embeddings.cli.command_classes import plugins_with
from embeddings.cli.options import option
from embeddings.cli.saving import CONFIG
from embeddings.errors import FormatError
from embeddings.setting_names import our_name
from embeddings.settings import flag
from embeddings.support.foreign_files import format_errors
from embeddings.support.local_paths import local_path
from embeddings.support.remote.address import without_query

NOT_SETTINGS = {"config", "corpus", "help", "continued", "as_json"}
MAX_LENGTH, MAX_LINE_LENGTH = 1 << 16, 1 << 12  # bytes


def read_config(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Take defaults from a TOML file."""
    if path is None:
        return
    ctx.meta[CONFIG] = path
    content = read_toml(path)
    known = {str(option.name): option for option in ctx.command.params if option.name not in NOT_SETTINGS}
    spellings = {word.strip("-").replace("-", "_"): name for name, option in known.items() for word in option.opts}
    settings: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        name = name if name in {*known, *NOT_SETTINGS} else spellings.get(name, name)  # options have several names
        if name not in known:
            suggestion = None if name in NOT_SETTINGS else our_name(key, known)
            others = plugins_with(ctx, flag(name))
            remedy = f"use {suggestion}" if suggestion else f"known settings: {', '.join(sorted(known))}"
            if others:
                remedy = f"it is a setting of {', '.join(others)}"
            raise click.UsageError(f"{path}: unknown setting {key!r:.80}; {remedy}")
        if name in settings:
            raise click.UsageError(f"{path}: duplicate setting {key!r:.80}")
        try:
            settings[name] = convert(ctx, known[name], value)
        except click.BadParameter as error:
            raise click.UsageError(f"{path}: {key}: {error.message}") from error
    ctx.default_map = {**(ctx.default_map or {}), **settings}


def read_toml(path: str) -> dict[str, Any]:
    """The content of a file of settings.

    Raises FormatError if it cannot be read, is not TOML, or is longer than such files are.
    """
    with format_errors(f"{path} (file of settings in TOML)"), local_path(path).open("rb") as stream:
        data = stream.read(MAX_LENGTH + 1)  # it may be a device without an end
        # memory grows with the square of the parts of a key
        if len(data) > MAX_LENGTH or max(map(len, data.split(b"\n"))) > MAX_LINE_LENGTH:
            raise FormatError(f"it has more than {MAX_LENGTH} bytes, or {MAX_LINE_LENGTH} in a line")
        return tomllib.loads(data.decode("utf-8"))


def convert(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """The value of an option, as if it was typed: a number of another type would be rounded by click.

    Raises BadParameter if it is not of the type of the option.
    """
    values = value if option.multiple and isinstance(value, list) else [value]  # one value stands for a list of it
    if any(isinstance(one, list | dict) or "\0" in str(one) for one in values):
        raise click.BadParameter(f"expected one value without the character NUL, got {value!r:.80}")
    words = [without_query(str(one)) for one in values]
    return option.type_cast_value(ctx, words if option.multiple else words[0])


CONFIG_OPTION = option(
    "--config",
    "TOML file with settings; options on the command line override them.",
    "FILE",
    is_eager=True,
    expose_value=False,
    callback=read_config,
)
