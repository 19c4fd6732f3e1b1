"""Settings of a command from a TOML file."""

from typing import Any

import click

from embeddings.cli.command_classes import plugins_with
from embeddings.cli.options import option
from embeddings.cli.saving import CONFIG
from embeddings.errors import FormatError
from embeddings.setting_names import our_name
from embeddings.settings import flag
from embeddings.support.remote.address import without_query
from embeddings.support.text_lines import read_toml

NOT_SETTINGS = {"config", "corpus", "help", "continued", "as_json"}


def read_config(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Take defaults from a TOML file."""
    if path is None:
        return
    ctx.meta[CONFIG] = path
    try:
        content = read_toml(path, "file of settings")
    except FormatError as error:
        raise click.UsageError(str(error)) from error
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
        is_list = known[name].multiple and isinstance(value, list)  # one value stands for a list of it
        values = [check_type(f"{path}: {key}", one, known[name]) for one in (value if is_list else [value])]
        settings[name] = values if known[name].multiple else values[0]
    ctx.default_map = {**(ctx.default_map or {}), **settings}


def check_type(what: str, value: Any, option: click.Parameter) -> Any:
    """The value, if it has the type of its option; nothing is rounded or converted."""
    is_flag = isinstance(option, click.Option) and option.is_flag
    numbers = {click.types.IntParamType: (int, "an integer"), click.types.FloatParamType: (int | float, "a number")}
    kinds: list[Any] = [kind for number, kind in numbers.items() if isinstance(option.type, number)]
    types, expected = (bool, "true or false") if is_flag else [*kinds, (str, "a string")][0]
    if not isinstance(value, types) or (isinstance(value, bool) and not is_flag):
        raise click.UsageError(f"{what} must be {expected}, got {value!r:.80}")
    if isinstance(value, int) and value.bit_length() > 63:  # as TOML demands; a float may be unable to represent it
        raise click.UsageError(f"{what} must be {expected} of 64 bits, got {value!r:.20}...")
    if isinstance(value, str) and "\0" in value:  # which no path and no other setting can contain
        raise click.UsageError(f"{what} must not contain the character NUL, got {value!r:.80}")
    return without_query(value) if isinstance(value, str) else value


CONFIG_OPTION = option(
    "--config",
    "TOML file with settings; options on the command line override them.",
    "FILE",
    is_eager=True,
    expose_value=False,
    callback=read_config,
)
