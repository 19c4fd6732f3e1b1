"""Processes that convert texts, in order and in bounded memory."""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Self, TypeVar

from embeddings.corpora.reading.text_worker import ConversionError, load_converter, read_message, write_message
from embeddings.errors import CorpusError
from embeddings.support.system import available_threads

MAX_PROCESSES = 64
JOBS_PER_PROCESS = 2  # in memory at a time
Key = TypeVar("Key")


class TextPool:
    """Converts lists of texts in processes of their own, which end with `close`, or with this process.

    The first list is converted in this process, so that small corpora need no other.

    Arguments:
        title: what the processes are, for messages.
        converter: "module:name" of a function that takes `argument` and returns the one that converts a list of texts.
        argument: its argument.
        processes: their number; by default one for each core.
    """

    def __init__(self, title: str, converter: str, argument: str, processes: int | None = None) -> None:
        self.title = title
        self.converter, self.argument = converter, argument
        self.size = min(processes or available_threads(), MAX_PROCESSES)
        self.threads: ThreadPoolExecutor | None = None  # each waits for one process
        self.workers: list[subprocess.Popen[bytes]] = []
        self.idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self.convert = load_converter(converter, argument)
        self.has_begun = False

    def map(self, jobs: Iterable[tuple[Key, list[str]]]) -> Iterator[tuple[Key, list[str] | ConversionError]]:
        """Yield each key with its converted texts, or the error, in the order of the jobs."""
        pending: deque[tuple[Key, Future[list[str]]]] = deque()
        capacity = JOBS_PER_PROCESS * self.size if self.size > 1 else 0
        for key, texts in jobs:
            pending.append((key, self.submit(texts)))
            while len(pending) > capacity:
                yield finish(*pending.popleft())
        while pending:
            yield finish(*pending.popleft())

    def submit(self, texts: list[str]) -> "Future[list[str]]":
        """Begin to convert texts."""
        if self.has_begun and self.size > 1:
            self.threads = self.threads or ThreadPoolExecutor(self.size, "texts")
            return self.threads.submit(self.call_worker, texts)
        self.has_begun = True
        future: Future[list[str]] = Future()
        try:
            future.set_result(self.convert(texts))
        except ConversionError as error:
            future.set_exception(error)
        return future

    def call_worker(self, texts: list[str]) -> list[str]:
        """Let an idle process convert texts; called in a thread."""
        try:
            worker = self.idle.get_nowait()
        except Empty:
            worker = self.start_worker()
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

    def start_worker(self) -> "subprocess.Popen[bytes]":
        """Start a process, which finds the same packages as this one."""
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", "embeddings.corpora.reading.text_worker", self.converter, self.argument],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C goes to this process only
        )
        self.workers.append(worker)
        return worker

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


def finish(key: Key, future: "Future[list[str]]") -> tuple[Key, list[str] | ConversionError]:
    """Wait for the result of a job."""
    try:
        return key, future.result()
    except ConversionError as error:
        return key, error
