"""The logger of this library, `embeddings`: INFO for what is read, compiled and trained, DEBUG for what is written.

Nothing is shown unless a program configures logging, for example by `logging.basicConfig(level=logging.INFO)`.
Records hold no unprintable characters and no credentials.
"""

import logging
import os
from typing import Any

from embeddings.printable import printable
from embeddings.support.masking import mask


def escape_record(record: logging.LogRecord) -> bool:
    """Escape the message and its arguments, of which the format and the numbers stay as they are, without secrets."""
    record.msg = printable(mask(str(record.msg)))
    if isinstance(record.args, tuple):
        texts = str, os.PathLike, BaseException
        record.args = tuple(printable(mask(str(one))) if isinstance(one, texts) else one for one in record.args)
    return True


log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())
log.addFilter(escape_record)
displays: list[Any] = []  # progress displays of the operations under way; the last one prints notices


def notice(message: str) -> None:
    """Log what a user should know before waiting, such as the reason, and show it in the progress display, if any."""
    log.info(message)
    if displays:
        displays[-1].notice(message)
