"""Ctrl-C, SIGTERM and SIGHUP: interrupt a command, but not while it saves its result."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Timer
from types import FrameType
from typing import Any

import click

EXIT_INTERRUPT = 130  # exit code after Ctrl-C
EXIT_SIGNAL = 128  # added to the number of the signal that ended a command
REPEAT_AFTER = 0.02  # seconds after which an interrupt is repeated that could not be raised


@contextmanager
def handled_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a function handle Ctrl-C, SIGTERM and SIGHUP until the block ends, unless they are ignored, as by nohup."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    for number in handlers:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, before in handlers.items():
            signal.signal(number, before)


@contextmanager
def interrupting_signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt, which saves training results, for signals until the block ends; yields their numbers."""
    received: list[int] = []
    send = partial(os.kill, os.getpid()) if os.name == "posix" else signal.raise_signal
    report = sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def repeat_interrupt(unraisable: Any) -> None:
        if not received:
            report(unraisable)
        elif issubclass(unraisable.exc_type, KeyboardInterrupt):  # it came in a destructor, and Python dropped it
            timer = Timer(REPEAT_AFTER, send, [received[-1]])
            timer.daemon = True
            timer.start()

    # Python prints and drops an exception of a destructor; without this, a Ctrl-C at such a moment would do nothing
    sys.unraisablehook = repeat_interrupt
    try:
        with handled_signals(interrupt):
            yield received
    finally:
        sys.unraisablehook = report


@contextmanager
def ignored_signals() -> Iterator[None]:
    """Ignore Ctrl-C, SIGTERM and SIGHUP until the block ends."""
    with handled_signals(lambda number, frame: click.echo("Saving the result; please wait", err=True)):
        yield
