"""Threads that update shared tables without locks (Recht, Re, Wright and Niu 2011).

If two threads update the same row at the same time, one of the updates, or part of it, can be lost. This is rare for
all but the most frequent words, and word2vec works the same way. Nothing else is shared: each thread has its share of
the corpus, its random numbers, its buffers and its row of the tally. Single-threaded runs are bit-reproducible.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event

Work = Callable[[int, Event], None]
REPORT_INTERVAL = 0.1  # seconds


def run_threads(work: Work, threads: int, report: Callable[[], object]) -> None:
    """Run `work(thread, halt)` on each thread and call `report` regularly.

    `halt` asks the threads to return early. It is set when `report` returns true, and on any exception, including
    KeyboardInterrupt: the first one is raised again when all threads have returned.
    """
    halt = Event()
    running: set[Future[None]] = set()
    with ThreadPoolExecutor(threads, thread_name_prefix="trainer") as pool:
        try:
            running |= {pool.submit(work, thread, halt) for thread in range(threads)}
            while running:
                done, running = wait(running, timeout=REPORT_INTERVAL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if report():
                    halt.set()
        finally:
            halt.set()
            while running:  # threads return within a block; further interrupts change nothing
                with suppress(KeyboardInterrupt):
                    running = wait(running).not_done
