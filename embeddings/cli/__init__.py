"""The command line: parse, call one library function, print."""

import os
import signal
import sys
import traceback
from types import FrameType
from typing import Any

import click

from embeddings.cli import (
    analogy,
    benchmark,
    cache,
    compose,
    evaluate,
    export,
    fit,
    index,
    infer,
    info,
    neighbours,
    phrases,
    train,
    trainers,
    vocabulary,
)
from embeddings.cli.common import INTERRUPTED
from embeddings.errors import EmbeddingsError, RegistryError, SettingError, abridged

FAILED, MISUSED = 1, 2


class Commands(click.Group):
    """Commands whose faults are told in one line: exit code 1 for a failure, 2 for misuse, 130 after Ctrl-C."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, and leave with the exit code."""
        given = list(args[0] if args else kwargs.pop("args", None) or sys.argv[1:])
        debug = "--debug" in given  # wherever it stands
        ended = Ended()
        try:
            kwargs["standalone_mode"] = False
            code = super().main([word for word in given if word != "--debug"], **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except click.ClickException as error:
            click.echo(f"Error: {one_line(error)}", err=True)
            code = error.exit_code
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted", err=True)
            code = INTERRUPTED
        except BrokenPipeError:  # the reader of our output, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        except (EmbeddingsError, OSError, MemoryError) as error:
            if debug:
                traceback.print_exc()
            click.echo(f"Error: {one_line(error)}", err=True)
            code = MISUSED if isinstance(error, SettingError | RegistryError) else FAILED
        except Exception as error:  # a fault of this program: still one line, and how to learn more
            if debug:
                traceback.print_exc()
            click.echo(f"Error: unexpected {type(error).__name__}: {one_line(error)}; --debug shows where", err=True)
            code = FAILED
        sys.exit(ended.code(code if isinstance(code, int) else 0))


class Ended:
    """What SIGTERM and SIGHUP do: the same as Ctrl-C, so that nothing learned is lost, with their own exit codes."""

    def __init__(self) -> None:
        self.signal = 0
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # as nohup asks for
                signal.signal(number, self.take)

    def take(self, number: int, frame: FrameType | None) -> None:
        """Interrupt whatever runs."""
        self.signal = number
        raise KeyboardInterrupt

    def code(self, code: int) -> int:
        """The exit code: 128 and the signal, where it was one that ended the command."""
        return 128 + self.signal if self.signal and code == INTERRUPTED else code


def one_line(error: BaseException) -> str:
    """What went wrong, as a line."""
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    text = abridged(" ".join(message.split())) or type(error).__name__
    return f"out of memory: {text}" if isinstance(error, MemoryError) else text


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="embeddings-toolkit", message="%(prog)s %(version)s", prog_name="embeddings")
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
def main(debug: bool) -> None:
    """Train word vectors, judge them, search them, and hand them to other tools."""


COMMANDS = (
    *(train, infer, fit, evaluate, index, neighbours, analogy, compose, export, info),
    *(vocabulary, phrases, trainers, benchmark, cache),
)
for module in COMMANDS:
    main.add_command(module.command)
