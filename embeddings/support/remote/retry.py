"""Repeated attempts to reach a remote file, and what an error means, in a few words."""

import os
import re
import time
from collections.abc import Callable
from typing import TypeVar

from embeddings.errors import RemoteError, SettingError
from embeddings.support.logs import log
from embeddings.support.remote.address import Address, hide_secrets
from embeddings.support.remote.background import interruptible

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
    "NO_SUCH_BUCKET": "does not exist: there is no such bucket",
    "NO_SUCH_KEY": "does not exist",
    "RESOURCE_NOT_FOUND": "does not exist",
    "ACCESS_DENIED": "cannot be accessed: permission denied",
    "INVALID_ACCESS_KEY_ID": "cannot be accessed: the access key is unknown",
    "SIGNATURE_DOES_NOT_MATCH": "cannot be accessed: the secret key is wrong",
    "EXPIRED_TOKEN": "cannot be accessed: the session token has expired",
}
TEXT_REASONS = {  # expressions for messages of the libraries
    r"libjvm|libhdfs|CLASSPATH": "cannot be accessed: HDFS needs Java and Hadoop's libhdfs",
    r"Name or service not known|getaddrinfo|nodename nor servname": CURL_REASONS["6"],
    r"OAuth2|[Cc]ould not .*credentials": "cannot be accessed: no valid credentials; check them and the network",
    r"PermanentRedirect|HTTP status 301": "cannot be accessed: the bucket is in another region; set AWS_REGION",
}
PERMANENT = {*AWS_REASONS, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE", "VALIDATION"}
Result = TypeVar("Result")


class PermanentError(OSError):
    """An error that another attempt would meet again; its text is what to tell."""


def timeout() -> float:
    """Seconds after which a connection without data is given up: EMBEDDINGS_REMOTE_TIMEOUT, or 30."""
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
    """Return the result of an action on a remote file, which is repeated after errors that may pass.

    An interrupt takes effect at once, except while the action writes.

    Raises:
        RemoteError: the last attempt failed, or one with an error that does not pass.
    """
    wait = FIRST_WAIT
    for number in range(1, attempts + 1):
        try:
            return action() if writes else interruptible(action)
        except RemoteError:
            raise
        except Exception as error:  # libraries raise errors of many types
            if isinstance(error, MemoryError):
                raise
            if number == attempts or not may_pass(error):
                raise RemoteError(address, reason(error)) from None  # its cause may print credentials
            log.debug("%s: attempt %d failed: %s", address, number, reason(error))
        time.sleep(wait)
        wait *= 2
    raise AssertionError("unreachable")


def may_pass(error: Exception) -> bool:
    """Whether another attempt may succeed."""
    if isinstance(error, PermanentError | FileNotFoundError | PermissionError | NotImplementedError | ImportError):
        return False
    if re.search("|".join(["Retry policy exhausted", *TEXT_REASONS]), str(error)):  # the first: of Google's client
        return False
    match = AWS_ERROR.search(str(error))
    if match is not None:
        return match[1] not in PERMANENT and not any(f"curlCode: {code}," in str(error) for code in ("6", "60"))
    return not re.search(r"\b(40[0134]|Unauthenticated|permission)\b", str(error), re.IGNORECASE)


def reason(error: Exception) -> str:
    """What an error means, to follow an address."""
    text = str(error)
    if isinstance(error, PermanentError):
        return hide_secrets(text)
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    if isinstance(error, PermissionError):
        return "cannot be accessed: permission denied; check the credentials"
    match, code = AWS_ERROR.search(text), CURL_CODE.search(text)
    if match is not None and match[1] in AWS_REASONS:
        known = AWS_REASONS[match[1]]
        return f"{known}; check the credentials" if "accessed" in known else known
    if code is not None and code[1] in CURL_REASONS:
        return CURL_REASONS[code[1]]
    for expression, meaning in TEXT_REASONS.items():
        if re.search(expression, text):
            return meaning
    if isinstance(error, TimeoutError):
        return CURL_REASONS["28"]
    if isinstance(error, ConnectionRefusedError):
        return CURL_REASONS["7"]
    return f"cannot be accessed: {hide_secrets(text)[:300] or type(error).__name__}"
