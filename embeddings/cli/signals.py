"""Ctrl-C, SIGTERM and SIGHUP: interrupt a command, but not while it saves its result."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

EXIT_INTERRUPT = 130  # exit code after Ctrl-C


class TerminationSignals:
    """Makes SIGTERM and SIGHUP act like Ctrl-C, which saves training results, but with their own exit codes."""

    def __init__(self) -> None:
        self.received = 0
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, self.interrupt)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Interrupt whatever runs."""
        self.received = number
        raise KeyboardInterrupt

    def exit_code(self, code: int) -> int:
        """128 + the signal number if a signal ended the command, else the given exit code."""
        return 128 + self.received if self.received and code == EXIT_INTERRUPT else code


@contextmanager
def ignored_signals() -> Iterator[None]:
    """Ignore Ctrl-C, SIGTERM and SIGHUP until the block ends."""

    def ignore(number: int, frame: FrameType | None) -> None:
        click.echo("Saving the result; please wait", err=True)

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = {number: signal.signal(number, ignore) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
