"""The logger of this library, `embeddings`: INFO for what is read, compiled and trained, DEBUG for what is written.

Nothing is shown unless a program configures logging, for example by `logging.basicConfig(level=logging.INFO)`.
Records hold no unprintable characters and no credentials. Secrets that this process knows are masked in messages, too:
the queries of web addresses, and keys and logins in variables of the environment.
"""

import logging
import os
import re
from collections.abc import Callable, Iterator
from itertools import chain, takewhile
from typing import Any
from urllib.parse import quote, unquote

from embeddings.errors import as_in_python, replace_marks
from embeddings.printable import printable

# of an address; the length is bounded, as the time would be quadratic in that of a long text
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,30}:[/\\]", re.IGNORECASE)
MARK = re.compile("[?#]")  # before a query or fragment
QUERY = re.compile(r"\S+")
LOGIN = re.compile(r"//(([^/:@]*):?([^/@]*))@")  # both, user and password
SECRET_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "HF_TOKEN")
PROXY = re.compile(r"\w*_PROXY|AWS_ENDPOINT_URL\w*", re.IGNORECASE)  # variables whose values may have a login
HIDDEN = "***"
MIN_SECRET = 6  # characters; our messages contain shorter texts by chance
START_OF_SECRET = 6  # characters by which a secret is recognised in a message that shortens it
secrets: set[str] = set()


def remember_queries(text: str) -> None:
    """Remember the queries and fragments of addresses in a text as secrets, such as the signature of an address."""
    for query in address_queries(text):
        values = (part.partition("=")[2] or part for part in re.split("[&#?]", query))
        secrets.update(one for one in (query, *values) if len(one) >= MIN_SECRET)


def address_queries(text: str) -> Iterator[str]:
    """Yield the queries and fragments of the addresses in a text, in time that is linear in its length."""
    start = 0
    while (mark := MARK.search(text, start)) is not None:
        query = QUERY.match(text, mark.end()) if SCHEME.search(text, start, mark.start()) else None
        if query is not None:
            yield query[0]
        start = (query or mark).end()


def hide_secrets(message: str) -> str:
    """Return the message of a library in one line, without credentials."""
    return " ".join(mask(message, 2).split())


def mask(message: str, min_length: int = MIN_SECRET) -> str:
    """Return a message with credentials, or the beginning of one that the message shortens, replaced by ***."""
    # messages shorten long values, so the beginning of a secret is masked wherever it ends
    known = spellings(min_length)
    starts = re.compile("|".join(re.escape(secret[:START_OF_SECRET]) for secret in known) or "(?!)")
    shown, match = "", starts.search(message)
    while match is not None:
        secret, message = message[match.start() :], message[: match.start()]
        shown += message + HIDDEN
        message = secret[max(common_length(secret, one) for one in known) :]
        match = starts.search(message)
    return shown + message


def common_length(first: str, second: str) -> int:
    """The number of equal characters with which two texts start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def spellings(min_length: int) -> set[str]:
    """All secrets as messages may spell them: encoded in an address or escaped."""
    logins = [one for name, value in os.environ.items() if PROXY.fullmatch(name) for one in LOGIN.findall(value)]
    own = filter(None, map(os.environ.get, SECRET_VARIABLES))
    known = {one for one in (*secrets, *own, *chain(*logins)) if len(one) >= min_length}
    known |= {re.sub("/+", "/", secret) for secret in known}  # as a `Path` spells them
    ways: tuple[Callable[[str], str], ...] = (unquote, quote, printable, lambda secret: repr(secret)[1:-1])
    return known | {way(secret) for secret in known for way in ways}


def escape_record(record: logging.LogRecord) -> bool:
    """Escape the message and its arguments, of which the format and the numbers stay as they are, without secrets."""
    record.msg = escape(record.msg)
    if isinstance(record.args, tuple):
        texts = str, os.PathLike, BaseException
        record.args = tuple(escape(one) if isinstance(one, texts) else one for one in record.args)
    return True


def escape(value: object) -> str:
    """A text of a record without unprintable characters and secrets, in which settings have their names in Python."""
    return printable(mask(replace_marks(str(value), as_in_python)))


log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())
log.addFilter(escape_record)
displays: list[Any] = []  # progress displays of the operations under way; the last one prints notices


def notice(message: str) -> None:
    """Log what a user should know before waiting, such as the reason, and show it in the progress display, if any."""
    log.info(message)
    if displays:
        displays[-1].notice(message)
