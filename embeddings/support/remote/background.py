"""Requests on threads that nobody has to wait for: an interrupt takes effect at once, even if an answer is late.

Python handles signals in its main thread only, between two instructions. A library that waits for a server there would
delay Ctrl-C until its time limit, and so would the threads of an executor, which Python joins when it ends.
"""

import atexit
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from threading import Thread, current_thread, main_thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def start(action: Callable[..., Result], *arguments: object) -> "Future[Result]":
    """Run an action on a thread that ends with the program."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(action(*arguments))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True, name="remote request").start()
    return future


def interruptible(action: Callable[[], Result]) -> Result:
    """The result of an action, which an interrupt of the main thread abandons."""
    if current_thread() is not main_thread():
        return action()
    future = start(action)
    try:
        return future.result()
    except KeyboardInterrupt:
        abandon()
        raise


def map_ahead(action: Callable[[Item], Result], items: Iterable[Item], ahead: int) -> Iterator[Result]:
    """Yield the results for all items in order, while those of the next ones are being made; with 0, one at a time."""
    if ahead == 0:
        yield from map(action, items)
        return
    pending: deque[Future[Result]] = deque()
    try:
        for item in items:
            pending.append(start(action, item))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except KeyboardInterrupt:
        abandon()
        raise


def abandon() -> None:
    """Let the program end while requests wait: pyarrow would wait for those of S3."""
    file_systems = sys.modules.get("pyarrow.fs")
    finalize = getattr(file_systems, "ensure_s3_finalized", None)
    if finalize is not None:
        atexit.unregister(finalize)
