"""Many queries on all cores, for kernels that release Python's lock."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from embeddings.support.system import available_threads

QUERIES_PER_THREAD = 64  # fewer are not worth a thread


def run_slices(n_queries: int, work: Callable[[slice], None], threads: int | None = None) -> None:
    """Call `work` with slices that cover all queries, on at most `threads`, by default all cores, if they pay off."""
    threads = max(1, min(threads or available_threads(), n_queries // QUERIES_PER_THREAD))
    if threads == 1:
        work(slice(0, n_queries))
        return
    bounds = [n_queries * thread // threads for thread in range(threads + 1)]
    slices = [slice(start, stop) for start, stop in pairwise(bounds)]
    with ThreadPoolExecutor(threads, thread_name_prefix="search") as pool:
        list(pool.map(work, slices))
