"""The command line: each command parses its options, calls the library and prints the result."""

import difflib
import os
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from embeddings.cli.error_messages import error_line
from embeddings.cli.output import print_lines
from embeddings.cli.progress_bar import printed_warnings
from embeddings.cli.signals import EXIT_INTERRUPT, EXIT_SIGNAL, interrupting_signals
from embeddings.cli.standard_streams import ReaderGoneError, finish_output, replace_streams
from embeddings.errors import EmbeddingsError, RegistryError, SettingError
from embeddings.setting_names import THEIR_COMMANDS
from embeddings.support.logs import mask
from embeddings.support.remote.address import without_query

os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")  # which takes 5 % of the time of a compilation
EXIT_FAILURE, EXIT_MISUSE = 1, 2  # exit codes
COMMANDS = {
    "Train": ("train", "tune", "infer", "fit"),
    "Use vectors": (
        "neighbours", "similarity", "analogy", "compose", "substitutes", "induce", "explore", "embed", "predict",
        "quantize", "index", "search", "duplicates", "export", "align", "info",
    ),
    "Evaluate": (
        "evaluate", "compare", "explain", "shift", "stability",
    ),
    "Prepare text": ("vocabulary", "teach", "concordance", "phrases"),
    "Set up": ("cache", "warm"),
}  # fmt: skip
EPILOG = 'Shell completion: add `eval "$(_EMBEDDINGS_COMPLETE=bash_source embeddings)"` to ~/.bashrc.'


class CommandLine(click.Group):
    """Commands imported on use; errors take one line. Exit codes: 1 failure, 2 misuse, 130 after Ctrl-C."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit."""
        arguments = list(args[0] if args else kwargs.pop("args", None) or sys.argv[1:])
        try:
            # before anything is opened, as a closed standard output would give its number to the first file
            replace_streams()
            arguments = list(map(without_query, arguments))
        except EmbeddingsError as error:
            print_error(error, arguments, None, self)
            sys.exit(exit_code(error))
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        kwargs |= {"standalone_mode": False, "color": False if plain else None}
        # not in click's standalone mode, which would exit before standard output is flushed and checked
        with interrupting_signals() as signals:
            try:
                code = super().main([word for word in arguments if word != "--debug"], **kwargs)
                finish_output()
            except click.exceptions.NoArgsIsHelpError as error:
                error.show()
                code = error.exit_code
            except ReaderGoneError:  # which needs no message: `| head` ends most commands
                code = EXIT_FAILURE
            except (Exception, KeyboardInterrupt) as error:
                is_expected = isinstance(error, click.ClickException | EmbeddingsError | OSError)
                # after a signal, an error may be that of a partly imported module
                if isinstance(error, KeyboardInterrupt | click.Abort) or (signals and not is_expected):
                    click.echo("Interrupted", err=True)
                    code = EXIT_INTERRUPT
                else:
                    print_error(error, arguments, kwargs["color"], self)
                    code = exit_code(error)
        code = code if isinstance(code, int) else 0
        sys.exit(EXIT_SIGNAL + signals[-1] if signals and code in (0, EXIT_INTERRUPT) else code)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, its module imported."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"embeddings.cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named by the first argument; the error for an unknown one suggests a similar name."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            close = [THEIR_COMMANDS[name]] if name in THEIR_COMMANDS else difflib.get_close_matches(name, known, n=1)
            raise click.UsageError(f"No such command {name!r}. {f'Use {close[0]}.' if close else 'See --help.'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, without importing any."""
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(17), summary_of(name)) for name in commands])


def summary_of(name: str) -> str:
    """The summary of a command: the first line of its module."""
    from importlib.resources import files

    # read, not imported: with its imports, each command takes up to a second
    with files(__name__).joinpath(f"{name.replace('-', '_')}.py").open(encoding="utf-8") as module:
        text = module.readline().partition(": ")[2].rstrip('"\n')
    return text[:1].upper() + text[1:]


def print_error(error: BaseException, arguments: list[str], color: bool | None, group: click.Group) -> None:
    """Print an error of a command of a group as one line, after its traceback if --debug is among the arguments."""
    if "--debug" in arguments and not isinstance(error, click.ClickException):
        print_lines(mask("".join(traceback.format_exception(error))), err=True)
    prefix = click.style("Error:", fg="red", bold=True)
    click.echo(f"{prefix} {error_line(error, arguments, group)}", err=True, color=color)


def exit_code(error: BaseException) -> int:
    """The exit code for an error."""
    if isinstance(error, click.ClickException):
        return error.exit_code
    return EXIT_MISUSE if isinstance(error, SettingError | RegistryError) else EXIT_FAILURE


@click.group(
    cls=CommandLine,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="embeddings-toolkit", message="%(prog)s %(version)s", prog_name="embeddings")
@click.option("--debug", is_flag=True, help="Print the traceback of an error.")
def main(debug: bool) -> None:
    """Train, search, evaluate and convert word embeddings."""
    click.get_current_context().with_resource(printed_warnings())
