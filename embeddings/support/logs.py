"""The logger of this library, `embeddings`: INFO for what is read, compiled and trained, DEBUG for what is written.

Nothing is shown unless a program configures logging, for example by `logging.basicConfig(level=logging.INFO)`.
"""

import logging
from collections.abc import Callable

log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())
notice_printers: list[Callable[[str], object]] = []  # of progress displays; the last one is used


def notice(message: str) -> None:
    """Log the reason for a delay, such as compilation, and show it in the progress display, if any."""
    log.info(message)
    if notice_printers:
        notice_printers[-1](message)
