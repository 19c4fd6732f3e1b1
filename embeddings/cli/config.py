"""Settings of a command from a TOML file."""

import tomllib
from pathlib import Path
from typing import Any

import click

from embeddings.cli.output_paths import CONFIG

LONGEST, LONGEST_LINE = 1 << 16, 1 << 12  # characters
NOT_SETTINGS = {"config", "corpus", "help", "continued"}


def read_config(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Take defaults from a TOML file; what is given on the command line wins."""
    if path is None:
        return
    ctx.meta[CONFIG] = path
    try:
        content = tomllib.loads(short(path, Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except RecursionError:
        raise click.UsageError(f"{path} is not TOML: nested too deep") from None
    except ValueError as error:
        raise click.UsageError(f"{path} is not TOML: {error}") from error
    known = {str(option.name): option for option in ctx.command.params if option.name not in NOT_SETTINGS}
    settings: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in known:
            names = ", ".join(sorted(name.replace("_", "-") for name in known))
            raise click.UsageError(f"{path}: no setting {key!r:.80}; there are {names}")
        if name in settings:
            raise click.UsageError(f"{path}: {key!r:.80} is set twice")
        settings[name] = checked(f"{path}: {key}", value, known[name])
    ctx.default_map = {**(ctx.default_map or {}), **settings}


def short(path: str, text: str) -> str:
    """A text that settings may take; tomllib's memory grows with the square of the parts of a key.

    Raises:
        click.UsageError: it or a line of it is longer.
    """
    if len(text) > LONGEST or (longest := max(map(len, text.split("\n")))) > LONGEST_LINE:
        what = f"{len(text)} characters, more than {LONGEST}" if len(text) > LONGEST else f"a line of {longest}"
        raise click.UsageError(f"{path} is no file of settings: it has {what}")
    return text


def checked(what: str, value: Any, option: click.Parameter) -> Any:
    """A value of the type that its option has; nothing is rounded or read as something else."""
    flag = isinstance(option, click.Option) and option.is_flag
    kinds: tuple[type, ...]
    if flag:
        kinds, wanted = (bool,), "true or false"
    elif isinstance(option.type, click.types.IntParamType):
        kinds, wanted = (int,), "a whole number"
    elif isinstance(option.type, click.types.FloatParamType):
        kinds, wanted = (int, float), "a number"
    else:
        kinds, wanted = (str,), "a text"
    if not isinstance(value, kinds) or (isinstance(value, bool) and not flag):
        raise click.UsageError(f"{what} must be {wanted}, not {value!r:.80}")
    return value
