"""Threads that learn at once on shared tables, without locks (Recht, Re, Wright and Niu 2011).

Two threads may move the same row at the same time, and then one of the steps, or a part of it, can be lost: rare
for all but the most frequent words, and word2vec has always lived with it. Nothing else is shared: each thread
has its share of the corpus, its random numbers, its scratch and its row of the tally. With one thread the result
depends on the seed alone.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event

Work = Callable[[int, Event], None]
INTERVAL = 0.1  # seconds between reports


def run(work: Work, threads: int, report: Callable[[], object]) -> None:
    """Run `work(thread, halt)` on each thread, reporting now and then; `halt` is set when it should return early.

    That is when `report` gives true, and when something goes wrong.

    Raises:
        KeyboardInterrupt: when the user interrupts, after all threads have returned.
        Exception: the first that a thread raises, or `report`, after all threads have returned.
    """
    halt = Event()
    running: set[Future[None]] = set()
    with ThreadPoolExecutor(threads, thread_name_prefix="trainer") as pool:
        try:
            running |= {pool.submit(work, thread, halt) for thread in range(threads)}
            while running:
                done, running = wait(running, timeout=INTERVAL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if report():
                    halt.set()
        finally:
            halt.set()
            settle(running)


def settle(running: set[Future[None]]) -> None:
    """Wait until all threads have returned, which takes them a block: an interrupt more changes nothing."""
    while running:
        with suppress(KeyboardInterrupt):
            running = wait(running).not_done
