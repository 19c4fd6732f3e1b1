"""Standard output and standard error of a process: a result is written whole, or the command fails."""

import errno
import io
import os
import sys
from select import select
from typing import Any, TextIO

from embeddings.errors import OutputError

CLOSED_PIPE = {errno.EPIPE} | ({errno.EINVAL} if os.name == "nt" else set())
OUTPUT, MESSAGES = 1, 2  # file descriptors


class ReaderGoneError(OutputError):
    """The program that reads standard output, such as head, has ended."""


class Descriptor(io.RawIOBase):
    """A file descriptor for writing, in place of Python's own file, which drops what a full disk does not take.

    Arguments:
        number: None for a closed one.
    """

    def __init__(self, number: int | None) -> None:
        super().__init__()
        self.number = number

    def fileno(self) -> int:
        """The number of the descriptor."""
        if self.number is None:
            raise OutputError("standard output is closed")
        return self.number

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write a part of the data and return its size.

        Raises:
            OutputError: standard output cannot be written; errors of standard error are ignored, as its messages are
                not worth the loss of a training.
        """
        number = self.fileno()
        while True:
            try:
                return os.write(number, data)
            except BlockingIOError:  # a descriptor that another program shares has made non-blocking
                select([], [number], [])
            except OSError as error:
                if number == MESSAGES:
                    return memoryview(data).nbytes
                raise output_error(error) from None


def output_error(error: OSError) -> OutputError:
    """The error for an error of the system about standard output."""
    if error.errno in CLOSED_PIPE:
        return ReaderGoneError("standard output: its reader has ended")
    return OutputError(f"standard output cannot be written: {error.strerror}; the result is incomplete")


def replace_streams() -> None:
    """Replace standard output and standard error of this process, unless they are terminals or replaced already.

    Files and pipes get UTF-8, as in Python 3.15, unless PYTHONIOENCODING is set. Characters that an encoding lacks are
    escaped.
    """
    if sys.stdout is sys.__stdout__:
        sys.stdout = replacement(sys.stdout, OUTPUT)
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = replacement(sys.stderr, MESSAGES)
    while (number := os.open(os.devnull, os.O_RDWR)) <= MESSAGES:  # else an output file gets the number of a closed one
        pass
    os.close(number)


def replacement(stream: TextIO | None, number: int) -> TextIO:
    """The stream in place of one of Python's, None if that is closed."""
    if isinstance(stream, io.TextIOWrapper) and stream.isatty():
        stream.reconfigure(errors="backslashreplace")
        return stream
    encoding = stream.encoding if stream is not None and os.environ.get("PYTHONIOENCODING") else "utf-8"
    binary = io.BufferedWriter(Descriptor(None if stream is None else number))
    return io.TextIOWrapper(binary, encoding, "backslashreplace", line_buffering=number == MESSAGES)


def finish_output() -> None:
    """Write what standard output buffers.

    Raises:
        OutputError: standard output cannot be written.
    """
    sys.stdout.flush()
    descriptor = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(descriptor, Descriptor) and descriptor.number is not None:
        try:  # network file systems report a full disk on closing
            os.close(os.dup(descriptor.number))
        except OSError as error:
            raise output_error(error) from None
