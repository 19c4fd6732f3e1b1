"""The loop of a process that converts texts for a `TextPool`, and what it shares with that class.

A message is its length in eight bytes, and JSON: a list of texts, answered by the list of converted texts, or by an
object that describes the first error.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import IO, Any

Convert = Callable[[list[str]], list[str]]


class ConversionError(Exception):
    """A text cannot be converted: its number in the list, and the number of the line in it."""

    def __init__(self, text: int, line: int, message: str) -> None:
        super().__init__(message)
        self.text, self.line = text, line


def write_message(stream: IO[bytes], value: Any) -> None:
    """Write a message."""
    data = json.dumps(value).encode("ascii")
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Read a message; None at the end of the stream."""
    size = stream.read(8)
    data = stream.read(int.from_bytes(size, "little")) if len(size) == 8 else b""
    return json.loads(data) if data and len(data) == int.from_bytes(size, "little") else None


def load_converter(converter: str, argument: str) -> Convert:
    """Import the factory "module:name", and return the converter that it makes from `argument`."""
    module, _, name = converter.partition(":")
    convert: Convert = getattr(import_module(module), name)(argument)
    return convert


def serve(converter: str, argument: str) -> None:
    """Answer messages on standard input until it ends; nothing else is written to the standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    convert = load_converter(converter, argument)
    while (texts := read_message(sys.stdin.buffer)) is not None:
        try:
            answer: Any = convert(texts)
        except ConversionError as error:
            answer = {"text": error.text, "line": error.line, "message": str(error)}
        write_message(answers, answer)


if __name__ == "__main__":
    from embeddings.corpora.reading import text_worker  # `__main__` has another ConversionError

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and ends this process
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there are as many processes as cores
    text_worker.serve(*sys.argv[1:])
