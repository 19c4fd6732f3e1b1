"""Processes that segment text, and the blocks of a source through them, in order and in bounded memory."""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Any, Self

import numpy as np

from embeddings.corpora.reading.reader import Block
from embeddings.corpora.reading.text_batches import text_batches
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.segmenter_worker import SegmentationError, read_message, segment_texts, write_message
from embeddings.corpora.segmenters import Segmenter
from embeddings.errors import CorpusError
from embeddings.support.system import available_threads

MAX_PROCESSES = 64
JOBS_PER_PROCESS = 2  # in memory at a time


class SegmenterPool:
    """Segments lists of texts in processes of their own, which end with `close`, or with this process.

    The first list is segmented in this process, so that small corpora need no other.
    """

    def __init__(self, segmenter: Segmenter, processes: int | None = None) -> None:
        self.segmenter = segmenter
        self.size = min(processes or available_threads(), MAX_PROCESSES)
        self.threads: ThreadPoolExecutor | None = None  # each waits for one process
        self.workers: list[subprocess.Popen[bytes]] = []
        self.idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self.has_begun = False

    @property
    def capacity(self) -> int:
        """The number of lists in memory at a time."""
        return JOBS_PER_PROCESS * self.size if self.size > 1 else 0

    def submit(self, texts: list[str]) -> "Future[list[str]]":
        """Begin to segment texts."""
        if self.has_begun and self.size > 1:
            self.threads = self.threads or ThreadPoolExecutor(self.size, "segmenter")
            return self.threads.submit(self.call_worker, texts)
        self.has_begun = True
        future: Future[list[str]] = Future()
        try:
            future.set_result(segment_texts(self.segmenter, texts))
        except SegmentationError as error:
            future.set_exception(error)
        return future

    def call_worker(self, texts: list[str]) -> list[str]:
        """Let an idle process segment texts; called in a thread."""
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
            code = worker.wait()
            raise CorpusError(f"a process of the tokenizer {self.segmenter.full_name} ended with exit code {code}")
        self.idle.put(worker)
        if isinstance(answer, dict):
            raise SegmentationError(answer["text"], answer["line"], answer["message"])
        return list(answer)

    def start_worker(self) -> "subprocess.Popen[bytes]":
        """Start a process, which finds the same packages as this one."""
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", "embeddings.corpora.segmenter_worker", self.segmenter.full_name],
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

    def blocks(self, blocks: Iterable[Block], name: str) -> Iterator[Block]:
        """Yield the blocks of a source with the tokens of their texts separated; other blocks as they are.

        Raises:
            CorpusError: the tokenizer failed; the message has the line of the file, or the row.
        """
        others: list[Block] = []  # tags and token lists
        is_rows = False
        pending: deque[tuple[Future[list[str]], list[bool]]] = deque()
        first = 1  # number of the first text that is not finished

        def text_blocks() -> Iterator[Block]:
            nonlocal is_rows
            for block in blocks:
                if isinstance(block, TextBlock):
                    is_rows = block.items
                    yield block
                else:
                    others.append(block)

        def finish() -> TextBlock:
            nonlocal first
            future, has_end = pending.popleft()
            try:
                texts = future.result()
            except SegmentationError as error:
                number = first + error.text
                place = f"row {number}, line {error.line + 1}" if is_rows else f"line {number}"
                raise CorpusError(f"{name}, {place}: {error}") from None
            first += len(texts)
            return segmented_block(texts, has_end, is_rows=is_rows)

        for data, starts in text_batches(text_blocks()):
            yield from others
            others.clear()
            lines = [data[start:stop].decode() for start, stop in pairwise(starts.tolist())]
            has_end = [not is_rows and line.endswith("\n") for line in lines]
            texts = [line[:-1] if end else line for line, end in zip(lines, has_end, strict=True)]
            pending.append((self.submit(texts), has_end))
            while len(pending) > self.capacity:
                yield finish()
        while pending:
            yield finish()
        yield from others
        if not is_rows:
            yield TextBlock(b"", (0,), items=False, is_complete=True)


def segmented_block(texts: list[str], has_end: list[bool], *, is_rows: bool) -> TextBlock:
    """Return texts as a block: rows, or lines of a file with their line feeds."""
    parts = [(text + "\n" * end).encode() for text, end in zip(texts, has_end, strict=True)]
    data = b"".join(parts)
    ends: Any = np.cumsum([len(part) for part in parts], dtype=np.int64) if is_rows else (len(data),)
    return TextBlock(data, ends, items=is_rows, is_complete=is_rows)
