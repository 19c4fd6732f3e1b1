"""Text split into words by tokenizers of other libraries, in several processes, and by functions, in this process.

Each process runs this module, and gets messages: the length in eight bytes, and JSON, a list of texts. It answers by
the list of texts with separators between tokens, or by an object that describes the first error.
"""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import IO, Any, Self

import numpy as np

from embeddings.corpora.reading.encodings import Utf8Decoder, encode_utf8
from embeddings.corpora.reading.text_block import FILE_END, TextBlock, text_batches
from embeddings.corpora.segmenters import SEPARATOR, Segmenter
from embeddings.corpora.tokenizers import Tokenizer, resolve_tokenizer
from embeddings.errors import CorpusError
from embeddings.support.system import available_threads

REMOVED = {ord(SEPARATOR): " ", ord("\n"): " "}
MAX_PROCESSES = 64
JOBS_PER_PROCESS = 2  # in memory at a time


class SegmentationError(Exception):
    """A text cannot be split: its number in the list, and the number of the line in it."""

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


def serve(name: str) -> None:
    """Answer messages on standard input until it ends; nothing else is written to the standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    # a library that prints would otherwise write into the answers
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tokenizer = resolve_tokenizer(name)
    while (texts := read_message(sys.stdin.buffer)) is not None:
        answer: Any = attempt(tokenizer, texts)
        if isinstance(answer, SegmentationError):
            answer = {"text": answer.text, "line": answer.line, "message": str(answer)}
        write_message(answers, answer)


class SegmenterPool:
    """Splits blocks of text into words, with worker processes if the tokenizer is a segmenter.

    The processes end with `close`, or with this process. The first block of a source is split in this process, so that
    small corpora need no other.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.size = min(available_threads(), MAX_PROCESSES) if isinstance(tokenizer, Segmenter) else 1
        self.threads: ThreadPoolExecutor | None = None  # each waits for one process
        self.workers: list[subprocess.Popen[bytes]] = []
        self.idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()

    def blocks(self, blocks: Iterable[TextBlock], name: str) -> Iterator[TextBlock]:
        """Yield the blocks of a source with separators between the tokens of texts; token lists are not changed."""
        first, decoder = 1, Utf8Decoder("strict", "a token")  # number of the first text of a block
        is_file = False
        for block, texts in self.split(text_batches(blocks)):
            is_file = not block.parts_are_documents
            if isinstance(texts, SegmentationError):
                number = first + texts.text
                place = f"line {number}" if is_file else f"row {number}, line {texts.line + 1}"
                raise CorpusError(f"{name}, {place}: {texts}")
            first += len(block)
            if is_file:
                end = "" if texts[-1] and not block.data.endswith(b"\n") else "\n"  # also of a blank line
                yield TextBlock.of_file(encode_utf8("\n".join(texts) + end, decoder, "a token"))
            else:
                parts = []
                for text, (start, stop) in zip(texts, pairwise(block.starts.tolist()), strict=True):
                    # a last line without a line end of white space only, which a segmented line does not keep
                    is_blank = text[-1:] in ("", "\n") and start < stop and block.data[stop - 1] != ord("\n")
                    parts.append(encode_utf8(text + "\n" * is_blank, decoder, "a token"))
                yield replace(block, data=b"".join(parts), ends=np.cumsum([*map(len, parts)], dtype=np.int64))
        if is_file:
            yield FILE_END

    @staticmethod
    def texts(block: TextBlock) -> list[str]:
        """Return the rows of a block, or its lines without line feeds."""
        texts = [block.data[start:stop].decode() for start, stop in pairwise(block.starts.tolist())]
        return texts if block.parts_are_documents else [text.removesuffix("\n") for text in texts]

    def split(self, blocks: Iterable[TextBlock]) -> Iterator[tuple[TextBlock, list[str] | SegmentationError]]:
        """Yield each block with its texts, which have separators between tokens, or the error, in order."""
        pending: deque[tuple[TextBlock, Future[list[str] | SegmentationError]]] = deque()
        for number, block in enumerate(blocks):
            texts = self.texts(block)
            # starting a process takes longer than a small corpus
            if self.size == 1 or not number:
                yield block, attempt(self.tokenizer, texts)
                continue
            self.threads = self.threads or ThreadPoolExecutor(self.size, "texts")
            pending.append((block, self.threads.submit(self.call_worker, texts)))
            if len(pending) > JOBS_PER_PROCESS * self.size:
                block, future = pending.popleft()
                yield block, future.result()
        for block, future in pending:
            yield block, future.result()

    def call_worker(self, texts: list[str]) -> list[str] | SegmentationError:
        """Let an idle or a new process split texts; called in a thread."""
        assert isinstance(self.tokenizer, Segmenter)
        name = self.tokenizer.full_name
        try:
            worker = self.idle.get_nowait()
        except Empty:
            worker = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # the same packages
                start_new_session=True,  # Ctrl-C goes to this process only
            )
            self.workers.append(worker)
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            write_message(worker.stdin, texts)
            answer = read_message(worker.stdout)
        except (OSError, ValueError):  # ValueError: the pipe was closed
            answer = None
        if answer is None:
            raise CorpusError(f"a process of the tokenizer {name} ended with exit code {worker.wait()}")
        self.idle.put(worker)
        if isinstance(answer, dict):
            return SegmentationError(answer["text"], answer["line"], answer["message"])
        return list(answer)

    def close(self) -> None:
        """End all processes."""
        if self.threads is not None:
            self.threads.shutdown(wait=False, cancel_futures=True)
        for worker in self.workers:
            worker.kill()
        if self.threads is not None:
            self.threads.shutdown(wait=True)
        for worker in self.workers:  # also those that a thread has just started
            worker.kill()
            worker.wait()
            for stream in (worker.stdin, worker.stdout):
                if stream is not None:
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attempt(tokenizer: Tokenizer, texts: list[str]) -> list[str] | SegmentationError:
    """Return texts with a separator between the tokens of each line, or the error."""
    try:
        return [
            "\n".join(segment_line(tokenizer, line, i, j) for j, line in enumerate(text.split("\n")))
            for i, text in enumerate(texts)
        ]
    except SegmentationError as error:
        return error


def segment_line(tokenizer: Tokenizer, line: str, text: int, number: int) -> str:
    """Return a line with a separator between tokens; a non-blank line without tokens becomes one separator."""
    line = line.removesuffix("\r")
    is_blank = line.isspace()
    if not line or (is_blank and isinstance(tokenizer, Segmenter)):
        return ""
    try:
        tokens: list[Any] = list(tokenizer(line.replace(SEPARATOR, " ")))
    except CorpusError as error:
        raise SegmentationError(text, number, str(error)) from error
    try:
        joined = SEPARATOR.join(tokens)
    except TypeError:
        other = next(token for token in tokens if not isinstance(token, str))
        problem = f"the tokenizer must return strings, got {other!r} of type {type(other).__name__}"
        raise SegmentationError(text, number, problem) from None
    if "\n" in joined or joined.count(SEPARATOR) >= max(len(tokens), 1):
        joined = SEPARATOR.join(token.translate(REMOVED) for token in tokens)
    return joined or ("" if is_blank else SEPARATOR)


if __name__ == "__main__":
    from embeddings.corpora import segmenter_pool  # `__main__` has another SegmentationError

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and ends this process
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there are as many processes as cores
    segmenter_pool.serve(*sys.argv[1:])
