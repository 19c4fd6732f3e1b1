"""Processes that convert texts, in order and in bounded memory.

Each runs this module, and gets messages: the length in eight bytes, and JSON, a list of texts. It answers by the list
of converted texts, or by an object that describes the first error.
"""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import IO, Any, Self, TypeVar

from embeddings.errors import CorpusError
from embeddings.support.system import available_threads

MODULE = "embeddings.corpora.reading.text_pool"
MAX_PROCESSES = 64
JOBS_PER_PROCESS = 2  # in memory at a time
Key = TypeVar("Key")
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
    # a library that prints would otherwise write into the answers
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    convert = load_converter(converter, argument)
    while (texts := read_message(sys.stdin.buffer)) is not None:
        try:
            answer: Any = convert(texts)
        except ConversionError as error:
            answer = {"text": error.text, "line": error.line, "message": str(error)}
        write_message(answers, answer)


class TextPool:
    """Converts lists of texts in processes of their own, which end with `close`, or with this process.

    The first list is converted in this process, so that small corpora need no other.

    Arguments:
        title: what the processes are, for messages.
        converter: "module:name" of a function that takes `argument` and returns the one that converts a list of texts;
            or the latter itself, which then runs in this process only.
        argument: its argument.
    """

    def __init__(self, title: str, converter: str | Convert, argument: str = "") -> None:
        self.title = title
        self.converter, self.argument = converter, argument
        self.size = min(available_threads(), MAX_PROCESSES) if isinstance(converter, str) else 1
        self.threads: ThreadPoolExecutor | None = None  # each waits for one process
        self.workers: list[subprocess.Popen[bytes]] = []
        self.idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self.convert = load_converter(converter, argument) if isinstance(converter, str) else converter
        self.has_begun = False

    def map(self, jobs: Iterable[tuple[Key, list[str]]]) -> Iterator[tuple[Key, list[str] | ConversionError]]:
        """Yield each key with its converted texts, or the error, in the order of the jobs."""
        pending: deque[tuple[Key, Future[list[str] | ConversionError]]] = deque()
        for key, texts in jobs:
            # starting a process takes longer than a small corpus
            if self.size == 1 or not self.has_begun:
                self.has_begun = True
                yield key, attempt(self.convert, texts)
                continue
            self.threads = self.threads or ThreadPoolExecutor(self.size, "texts")
            pending.append((key, self.threads.submit(attempt, self.call_worker, texts)))
            if len(pending) > JOBS_PER_PROCESS * self.size:
                key, future = pending.popleft()
                yield key, future.result()
        for key, future in pending:
            yield key, future.result()

    def call_worker(self, texts: list[str]) -> list[str]:
        """Let an idle or a new process convert texts; called in a thread."""
        try:
            worker = self.idle.get_nowait()
        except Empty:
            worker = subprocess.Popen(
                [sys.executable, "-P", "-m", MODULE, str(self.converter), self.argument],
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
            raise CorpusError(f"a process of {self.title} ended with exit code {worker.wait()}")
        self.idle.put(worker)
        if isinstance(answer, dict):
            raise ConversionError(answer["text"], answer["line"], answer["message"])
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


def attempt(convert: Convert, texts: list[str]) -> list[str] | ConversionError:
    """Return converted texts, or the error."""
    try:
        return convert(texts)
    except ConversionError as error:
        return error


if __name__ == "__main__":
    from embeddings.corpora.reading import text_pool  # `__main__` has another ConversionError

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and ends this process
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there are as many processes as cores
    text_pool.serve(*sys.argv[1:])
