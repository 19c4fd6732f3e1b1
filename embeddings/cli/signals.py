"""Ctrl-C, SIGTERM and SIGHUP: interrupt a command, but not while it saves its result."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer, main_thread
from types import FrameType, TracebackType
from typing import Any, Self

import click

EXIT_INTERRUPT = 130  # exit code after Ctrl-C
REPEAT_AFTER = 0.02  # seconds after which an interrupt is repeated that could not be raised


class TerminationSignals:
    """While a command runs, raises KeyboardInterrupt on Ctrl-C, SIGTERM and SIGHUP, which saves training results."""

    def __init__(self) -> None:
        self.received = 0
        self.handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.hook = sys.unraisablehook
        sys.unraisablehook = self.report_unraisable
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
                self.handlers[number] = signal.signal(number, self.interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self.handlers.items():
            signal.signal(number, handler)
        sys.unraisablehook = self.hook

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Interrupt whatever runs."""
        self.received = number
        raise KeyboardInterrupt

    def report_unraisable(self, unraisable: Any) -> None:
        """Repeat an interrupt that Python dropped, as it came in a callback or destructor; report any other error.

        After an interrupt, errors of destructors are not reported: objects may be incomplete.
        """
        if not self.received:
            self.hook(unraisable)
        elif issubclass(unraisable.exc_type, KeyboardInterrupt):
            timer = Timer(REPEAT_AFTER, signal_main_thread, [self.received])
            timer.daemon = True
            timer.start()

    def exit_code(self, code: int) -> int:
        """128 + the signal number if a signal ended the command or was lost, else the given exit code."""
        return 128 + self.received if self.received and code in (0, EXIT_INTERRUPT) else code


def signal_main_thread(number: int) -> None:
    """Send a signal to the main thread, which ends a system call that it waits for."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


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
