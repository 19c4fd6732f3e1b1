"""Segments texts: the loop of a process that `SegmenterPool` starts, and what it shares with that class.

A message is its length in eight bytes, and JSON: a list of texts, answered by the list of segmented texts, or by an
object that describes the first error.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any

from embeddings.corpora.segmenters import SEPARATOR
from embeddings.errors import CorpusError

REMOVED = {ord(SEPARATOR): " ", ord("\n"): " ", ord("\r"): " "}


class SegmentationError(Exception):
    """A tokenizer failed: in the text with this number, in the line with this number of that text."""

    def __init__(self, text: int, line: int, message: str) -> None:
        super().__init__(message)
        self.text, self.line = text, line


def segment_texts(tokenizer: Callable[[str], Iterable[str]], texts: list[str]) -> list[str]:
    """Return texts with a separator between the tokens of each line; raises SegmentationError."""
    return [
        "\n".join(segment_line(tokenizer, line, i, j) for j, line in enumerate(text.split("\n")))
        for i, text in enumerate(texts)
    ]


def segment_line(tokenizer: Callable[[str], Iterable[str]], line: str, text: int, number: int) -> str:
    """Return a line with a separator between its tokens, and a lone one if it has no tokens but is not blank."""
    line = line.removesuffix("\r")
    if not line or line.isspace():
        return ""
    try:
        tokens = list(tokenizer(line.replace(SEPARATOR, " ")))
        return SEPARATOR.join(token.translate(REMOVED) for token in tokens) or SEPARATOR
    except CorpusError as error:
        raise SegmentationError(text, number, str(error)) from error


def write_message(stream: IO[bytes], value: Any) -> None:
    """Write a message."""
    data = json.dumps(value).encode("ascii")
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Read a message; None at the end of the stream."""
    size = stream.read(8)
    if len(size) < 8:
        return None
    data = stream.read(int.from_bytes(size, "little"))
    return json.loads(data) if len(data) == int.from_bytes(size, "little") else None


def serve(name: str) -> None:
    """Answer messages on standard input until it ends; nothing else is written to the standard output."""
    from embeddings.corpora.tokenizers import resolve_tokenizer

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tokenizer = resolve_tokenizer(name)
    while (texts := read_message(sys.stdin.buffer)) is not None:
        try:
            answer: Any = segment_texts(tokenizer, texts)
        except SegmentationError as error:
            answer = {"text": error.text, "line": error.line, "message": str(error)}
        write_message(answers, answer)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there are as many processes as cores
    serve(sys.argv[1])
