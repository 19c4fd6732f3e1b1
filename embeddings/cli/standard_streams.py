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


class StandardFile(io.FileIO):
    """Standard output, whose errors are raised as `OutputError`, or standard error, whose errors are ignored."""

    def write(self, data: Any, /) -> int:
        """Write a part of the data and return its size."""
        try:
            while (size := super().write(data)) is None:  # another program has made the file non-blocking
                select([], [self], [])
            return size
        except OSError as error:
            if self.fileno() == MESSAGES:  # a message is not worth the loss of a training
                return memoryview(data).nbytes
            raise output_error(error) from None


def output_error(error: OSError) -> OutputError:
    """The error for an error of the system about standard output."""
    if error.errno in CLOSED_PIPE:
        return ReaderGoneError("standard output: its reader has ended")
    return OutputError(f"standard output cannot be written: {error.strerror}; the result is incomplete")


def replace_streams() -> None:
    """Replace standard output and standard error, unless they are terminals or replaced already, by UTF-8 streams.

    Python's own write in the encoding of the locale and, if they are unbuffered, lose what a full disk does not take.
    Characters that the encoding of a terminal or of PYTHONIOENCODING lacks are escaped.

    Raises:
        OutputError: standard output is closed.
    """
    # a parent may have closed any of the three; the system gives the lowest free number to the next file
    while (number := os.open(os.devnull, os.O_RDWR)) <= MESSAGES:  # else an output file gets the number of a closed one
        pass
    os.close(number)
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        sys.stdout = replacement(sys.stdout, OUTPUT)
    if sys.__stderr__ is not None and sys.stderr is sys.__stderr__:
        sys.stderr = replacement(sys.stderr, MESSAGES)


def replacement(stream: TextIO, number: int) -> TextIO:
    """The stream in place of one of Python's."""
    if isinstance(stream, io.TextIOWrapper) and stream.isatty():
        stream.reconfigure(errors="backslashreplace")
        return stream
    encoding = stream.encoding if os.environ.get("PYTHONIOENCODING") else "utf-8"
    binary = io.BufferedWriter(StandardFile(number, "w", closefd=False))
    return io.TextIOWrapper(binary, encoding, "backslashreplace", line_buffering=number == MESSAGES)


def finish_output() -> None:
    """Write what standard output buffers, and report what network file systems report only on closing.

    Raises:
        OutputError: standard output cannot be written.
    """
    sys.stdout.flush()
    # a duplicate is closed, because what follows may still print, and only closing reports errors of NFS and quotas
    if isinstance(getattr(getattr(sys.stdout, "buffer", None), "raw", None), StandardFile):
        try:
            os.close(os.dup(OUTPUT))
        except OSError as error:
            raise output_error(error) from None
