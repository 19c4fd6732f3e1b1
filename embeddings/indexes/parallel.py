"""Many queries on all cores, by kernels that let go of Python's lock."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from embeddings.support.system import available_threads

LEAST = 64  # queries that are worth a thread


def spread(queries: int, work: Callable[[slice], None]) -> None:
    """Call `work` with slices that cover all queries, on as many threads as are worth it."""
    threads = min(available_threads(), queries // LEAST) if queries >= 2 * LEAST else 1
    if threads == 1:
        work(slice(0, queries))
        return
    borders = [queries * thread // threads for thread in range(threads + 1)]
    parts = [slice(start, stop) for start, stop in pairwise(borders)]
    with ThreadPoolExecutor(threads, thread_name_prefix="search") as pool:
        list(pool.map(work, parts))
