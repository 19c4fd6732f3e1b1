"""The logger of this library, `embeddings`: INFO for what is read, compiled and trained, DEBUG for what is written.

Nothing is shown unless a program configures logging, for example by `logging.basicConfig(level=logging.INFO)`.
Records hold no unprintable characters and no credentials. Secrets that this process knows are masked in messages, too:
the credentials of addresses, what looks like a credential in arguments of the command line, such as a login in an
address of an unknown scheme, and variables of the environment.
"""

import base64
import logging
import os
import re
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from typing import Any
from urllib.parse import quote, unquote

from embeddings.printable import printable

ANY_START = re.compile(r"[a-z][a-z0-9+.-]+:[/\\]*", re.IGNORECASE)
LOGIN = re.compile(r"(?!\s)([^/@:]*:(?!\d+(?:/|$)).*|[^/]+)@", re.DOTALL)  # but not a host and a port before a path
SECRET_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "HF_TOKEN")
ADDRESS_VARIABLES = re.compile(r"\w*_PROXY|AWS_ENDPOINT_URL\w*", re.IGNORECASE)  # whose values may have a login
HIDDEN = "***"
MIN_SECRET = 6  # characters; our messages contain shorter texts by chance
MAX_ADDRESS = 10000  # characters
START_OF_SECRET = 6  # characters by which a secret is recognised in a message that shortens it
secrets: set[str] = set()


def remember_secrets(text: str) -> None:
    """Remember what may be secret in a text: a login before @, and the query and fragment of an address."""
    if not any(mark in text for mark in ("@", ":/", ":\\")):
        return
    for start in ANY_START.finditer(text):
        rest = text[start.end() : start.end() + MAX_ADDRESS]
        if login := LOGIN.match(rest):
            secrets.update(one for one in (login[1], *re.split("[:/@]", login[1])) if len(one) >= MIN_SECRET)
        if start[0].endswith(("/", "\\")) and (query := re.search(r"[?#](\S+)", rest)):
            values = (part.partition("=")[2] or part for part in re.split("[&#?]", query[1]))
            secrets.update(one for one in (query[1], *values) if len(one) >= MIN_SECRET)


def hide_secrets(message: str) -> str:
    """Return the message of a library in one line, without credentials."""
    return " ".join(mask(message, 2).split())


def mask(message: str, min_length: int = MIN_SECRET) -> str:
    """Return a message with credentials, or the beginning of one that the message shortens, replaced by ***."""
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
    """All secrets as messages may spell them: encoded in an address, escaped, or in the header of a request."""
    for name, value in os.environ.items():
        if ADDRESS_VARIABLES.fullmatch(name):
            remember_secrets(value)
    own = filter(None, map(os.environ.get, SECRET_VARIABLES))
    known = {secret for secret in (*secrets, *own) if len(secret) >= min_length}
    encode = partial(quote, errors="surrogatepass")
    ways: tuple[Callable[[str], str], ...] = (unquote, encode, partial(encode, safe=""), printable)
    known |= {re.sub("/+", "/", secret) for secret in known}  # as a `Path` spells them
    known |= {way(secret) for secret in known for way in ways}
    known |= {repr(secret)[1:-1] for secret in known} | {ascii(secret)[1:-1] for secret in known}
    headers = {base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode() for secret in known if ":" in secret}
    return known | headers


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
