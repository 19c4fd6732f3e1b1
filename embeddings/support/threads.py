"""Calls of a function on several threads, with results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice, pairwise
from typing import TypeVar

from embeddings.support.system import available_threads

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None, name: str = "worker"
) -> Iterator[Result]:
    """Yield the results of a function that releases Python's lock; at most `threads` + 1 items are in memory.

    Arguments:
        threads: by default all cores; with 1, or a single item, the function is called in the thread of the caller.
        name: of the threads.
    """
    threads, items = threads or available_threads(), iter(items)
    # a second item tells whether a pool is worth starting; the length of an iterator is unknown
    first = list(islice(items, 2)) if threads > 1 else []
    items = chain(first, items)
    if len(first) < 2:
        yield from map(function, items)
        return
    pending: deque[Future[Result]] = deque()
    # results wait for the oldest one, so that a slow item does not let finished results pile up
    with ThreadPoolExecutor(threads, thread_name_prefix=name) as pool:
        for item in items:
            pending.append(pool.submit(function, item))
            while pending and (len(pending) > threads or pending[0].done()):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


QUERIES_PER_THREAD = 64  # fewer are not worth a thread


def run_slices(
    n_items: int, work: Callable[[slice], None], threads: int | None = None, least: int = QUERIES_PER_THREAD
) -> None:
    """Call `work` with slices that cover all items, on at most `threads`, by default all cores, `least` for each."""
    threads = max(1, min(threads or available_threads(), n_items // least))
    if threads == 1:
        work(slice(0, n_items))
        return
    # integers, so that all slices together cover each item once
    bounds = [n_items * thread // threads for thread in range(threads + 1)]
    slices = [slice(start, stop) for start, stop in pairwise(bounds)]
    with ThreadPoolExecutor(threads, thread_name_prefix="search") as pool:
        list(pool.map(work, slices))
