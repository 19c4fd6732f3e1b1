"""Requests to remote stores: interruptible threads, repeated attempts, and messages for errors.

Python handles signals in its main thread only, between two instructions. A blocking call in the main thread delays
Ctrl-C until it times out; the threads of an executor delay the exit, because Python joins them. Requests therefore run
in daemon threads.
"""

import atexit
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from threading import Thread, current_thread, main_thread
from typing import TypeVar

from embeddings.errors import RemoteError, SettingError
from embeddings.support.logs import hide_secrets, log
from embeddings.support.remote.address import Address

Item = TypeVar("Item")
Result = TypeVar("Result")
ABSENT = "does not exist"
DENIED = "cannot be accessed: permission denied; check the credentials"
CHANGED = "changed while it was read"
TIMEOUT_VARIABLE = "EMBEDDINGS_REMOTE_TIMEOUT"
TIMEOUT = 30.0  # seconds without an answer or data
ATTEMPTS = 4
FIRST_WAIT = 0.5  # seconds before the second attempt; each further wait is twice as long
AWS_ERROR = re.compile(r"AWS Error (\w+) during")
CURL_CODE = re.compile(r"curlCode: (\d+)")
CURL_REASONS = {
    "6": "cannot be reached: its host is unknown; check the endpoint and the network",
    "7": "cannot be reached: the connection was refused; check the endpoint and the network",
    "28": "cannot be reached: no answer in time; check the endpoint and the network",
    "35": "cannot be reached: no secure connection; check the endpoint",
    "60": "cannot be reached: the certificate of the server is not trusted",
}
AWS_REASONS = {
    "NO_SUCH_BUCKET": f"{ABSENT}: there is no such bucket",
    "NO_SUCH_KEY": ABSENT,
    "RESOURCE_NOT_FOUND": ABSENT,
    "ACCESS_DENIED": DENIED,
    "INVALID_ACCESS_KEY_ID": "cannot be accessed: the access key is unknown; check the credentials",
    "SIGNATURE_DOES_NOT_MATCH": "cannot be accessed: the secret key is wrong; check the credentials",
    "EXPIRED_TOKEN": "cannot be accessed: the session token has expired; check the credentials",
}
PATH = re.compile(r"\S*/\S*|[\w-]+\.\w+")  # in messages of the libraries; a name can look like a reason
TEXT_REASONS = {  # expressions for messages of the libraries without paths
    r"Name or service not known|getaddrinfo|nodename nor servname|name resolution|No address associated": (
        CURL_REASONS["6"]
    ),
    r"CERTIFICATE_VERIFY_FAILED": CURL_REASONS["60"],
    r"OAuth2|[Cc]ould not .*credentials": "cannot be accessed: no valid credentials; check them and the network",
    r"PermanentRedirect|HTTP status 301": "cannot be accessed: the bucket is in another region; set AWS_REGION",
}
PERMANENT = {*AWS_REASONS, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE", "VALIDATION"}


def start(action: Callable[..., Result], *arguments: object) -> "Future[Result]":
    """Run an action on a thread that ends with the program."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(action(*arguments))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True, name="remote request").start()
    return future


def interruptible(action: Callable[[], Result]) -> Result:
    """Return the result of an action; an interrupt of the main thread abandons the action."""
    if current_thread() is not main_thread():
        return action()
    future = start(action)
    try:
        return future.result()
    except KeyboardInterrupt:
        abandon()
        raise


def map_ahead(action: Callable[[Item], Result], items: Iterable[Item], ahead: int) -> Iterator[Result]:
    """Yield the results for all items in order; up to `ahead` actions run at a time, on threads unless it is 0."""
    if ahead == 0:
        yield from map(action, items)
        return
    pending: deque[Future[Result]] = deque()
    try:
        for item in items:
            pending.append(start(action, item))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except KeyboardInterrupt:
        abandon()
        raise


def abandon() -> None:
    """Unregister pyarrow's exit handler, which waits for pending requests to S3."""
    file_systems = sys.modules.get("pyarrow.fs")
    finalize = getattr(file_systems, "ensure_s3_finalized", None)
    if finalize is not None:
        atexit.unregister(finalize)


class PermanentError(OSError):
    """An error that a retry cannot fix; its text is the message for users."""


def timeout() -> float:
    """Return the seconds after which a connection without data fails: EMBEDDINGS_REMOTE_TIMEOUT, or 30."""
    text = os.environ.get(TIMEOUT_VARIABLE)
    try:
        seconds = float(text) if text else TIMEOUT
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86400:
        raise SettingError(f"{TIMEOUT_VARIABLE} must be a number of seconds in (0, 86400], got {text!r}")
    return seconds


def attempt(
    address: Address, action: Callable[[], Result], attempts: int = ATTEMPTS, *, writes: bool = False
) -> Result:
    """Return the result of an action on a remote file; the action is repeated after transient errors.

    An interrupt takes effect at once, except while the action writes. Raises RemoteError if the last attempt failed, or
    one with a permanent error, and SettingError if the time limit is not valid.
    """
    # a write that is abandoned on its thread could still appear after the command has ended
    wait, number = FIRST_WAIT, 0
    while True:
        number += 1
        try:
            return action() if writes else interruptible(action)
        except (RemoteError, SettingError, MemoryError):
            raise
        except Exception as error:  # libraries raise errors of many types
            if number == attempts or not may_pass(error):
                raise RemoteError(address, reason(error)) from None  # its cause may print credentials
            log.debug("%s: attempt %d failed: %s", address, number, reason(error))
        time.sleep(wait)
        wait *= 2


def may_pass(error: Exception) -> bool:
    """Whether another attempt may succeed."""
    if isinstance(error, PermanentError | FileNotFoundError | PermissionError | NotImplementedError | ImportError):
        return False
    text = PATH.sub("", str(error))
    # "Retry policy exhausted": Google's client has already retried
    if re.search("|".join(["Retry policy exhausted", *TEXT_REASONS]), text):
        return False
    match = AWS_ERROR.search(str(error))
    if match is not None:
        return match[1] not in PERMANENT and not any(f"curlCode: {code}," in str(error) for code in ("6", "60"))
    return not re.search(r"\b(40[0134]|Unauthenticated|permission)\b", text, re.IGNORECASE)


def reason(error: Exception) -> str:
    """Return the meaning of an error as a predicate, which follows an address in messages."""
    text = str(error)
    if isinstance(error, PermanentError):
        return hide_secrets(text)
    if isinstance(error, FileNotFoundError):
        return ABSENT
    if isinstance(error, PermissionError):
        return DENIED
    match, code = AWS_ERROR.search(text), CURL_CODE.search(text)
    if match is not None and match[1] in AWS_REASONS:
        return AWS_REASONS[match[1]]
    if code is not None and code[1] in CURL_REASONS:
        return CURL_REASONS[code[1]]
    for expression, meaning in TEXT_REASONS.items():
        if re.search(expression, PATH.sub("", text)):
            return meaning
    if isinstance(error, TimeoutError):
        return CURL_REASONS["28"]
    if isinstance(error, ConnectionRefusedError):
        return CURL_REASONS["7"]
    return f"cannot be accessed: {hide_secrets(text)[:300] or type(error).__name__}"
