"""The command line: each command parses its options, calls the library and prints the result."""

import difflib
import os
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from embeddings.cli.error_messages import error_line
from embeddings.cli.signals import EXIT_INTERRUPT, TerminationSignals
from embeddings.errors import RegistryError, SettingError

EXIT_FAILURE, EXIT_MISUSE = 1, 2  # exit codes
COMMANDS = {
    "Train": {
        "train": "Train vectors on text with one of the installed trainers.",
        "infer": "Infer vectors for new documents.",
        "fit": "Fit phrase composition to trained vectors.",
    },
    "Use vectors": {
        "neighbours": "Print the nearest neighbours of words.",
        "analogy": "Solve an analogy: A is to B as C is to what?",
        "compose": "Print the nearest neighbours of a two-word phrase.",
        "index": "Build a nearest-neighbour index.",
        "export": "Convert vectors to another format.",
        "info": "Describe a file or folder.",
    },
    "Evaluate": {
        "evaluate": "Score vectors on test sets.",
        "compare": "Test score differences between vectors.",
        "benchmark": "Compare trainers with gensim and fastText.",
        "benchmark-indexes": "Measure recall and speed of indexes.",
    },
    "Prepare text": {
        "vocabulary": "Count the words of a corpus.",
        "phrases": "Find phrases in a corpus.",
        "cache": "List or remove cached corpora.",
    },
    "Set up": {
        "trainers": "List the installed trainers.",
        "warm": "Compile kernels ahead of time.",
        "completion": "Print a shell completion script.",
    },
}
EPILOG = 'Shell completion: add `eval "$(embeddings completion bash)"` to ~/.bashrc; zsh and fish work likewise.'


class CommandLine(click.Group):
    """Commands imported on use; errors take one line. Exit codes: 1 failure, 2 misuse, 130 after Ctrl-C."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit."""
        arguments = list(args[0] if args else kwargs.pop("args", None) or sys.argv[1:])
        debug = "--debug" in arguments
        color = False if os.environ.get("NO_COLOR") else None
        signals = TerminationSignals()
        code: Any
        try:
            command_line = [word for word in arguments if word != "--debug"]
            code = super().main(command_line, **{**kwargs, "standalone_mode": False, "color": color})
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except (KeyboardInterrupt, click.Abort):
            click.echo("Interrupted", err=True)
            code = EXIT_INTERRUPT
        except BrokenPipeError:  # the program that reads our output, such as head, has ended
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = EXIT_FAILURE
        except Exception as error:
            if debug and not isinstance(error, click.ClickException):
                traceback.print_exc()
            prefix = click.style("Error:", fg="red", bold=True)
            click.echo(f"{prefix} {error_line(error, arguments)}", err=True, color=color)
            code = exit_code(error)
        sys.exit(signals.exit_code(code if isinstance(code, int) else 0))

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
            close = difflib.get_close_matches(name, known, n=1)
            raise click.UsageError(f"No such command {name!r}. {f'Use {close[0]}.' if close else 'See --help.'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, without importing any."""
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(17), summary) for name, summary in commands.items()])


def exit_code(error: Exception) -> int:
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
