"""Threads that learn at once on shared tables, without locks (Recht, Re, Wright and Niu 2011).

Two threads may move the same row at the same time, and then one of the steps, or a part of it, can be lost: rare
for all but the most frequent words, and word2vec has always lived with it. Nothing else is shared: each thread
has its share of the corpus, its random numbers, its scratch and its row of the tally. With one thread the result
depends on the seed alone.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event

Work = Callable[[int, Event], None]
INTERVAL = 0.1  # seconds between reports


def run(work: Work, threads: int, report: Callable[[], None]) -> None:
    """Run `work(thread, stop)` on each thread, reporting now and then; `stop` is set when it should return early.

    Raises:
        KeyboardInterrupt: when the user interrupts, after all threads have stopped.
        Exception: the first that a thread raises, or `report`, after all threads have stopped.
    """
    stop = Event()
    with ThreadPoolExecutor(threads, thread_name_prefix="trainer") as pool:
        running: set[Future[None]] = {pool.submit(work, thread, stop) for thread in range(threads)}
        try:
            while running:
                done, running = wait(running, timeout=INTERVAL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                report()
        finally:
            stop.set()
