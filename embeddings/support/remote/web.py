"""Files of web servers, read by ranges if the server has them."""

import base64
import netrc
import re
import socket
import ssl
import time
from collections.abc import Iterator
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from embeddings.support.remote.address import WEB, Address, credentials, queries
from embeddings.support.remote.retry import PermanentError, timeout
from embeddings.support.remote.status import RemoteStatus

PART = 1 << 16  # bytes
MIN_SPEED = 1000  # bytes a second, below which a transfer is given up
CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
ANSWERS = {
    401: "cannot be accessed: permission denied; check the credentials",
    403: "cannot be accessed: permission denied; check the credentials",
    404: "does not exist",
    407: "cannot be accessed: the proxy asks for credentials",
    410: "does not exist",
    412: "changed while it was read",
}


class RedirectHandler(HTTPRedirectHandler):
    """Follows redirects, without the credentials if they lead to another host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request for the new address; redirects to ftp, which urllib would follow, are refused."""
        if urlsplit(newurl).scheme not in WEB:
            raise HTTPError(newurl, code, msg, headers, fp)
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            request.remove_header("Authorization")
        return request


class WebStore:
    """Reads files of web servers by the protocols http and https."""

    def status(self, address: Address) -> RemoteStatus | None:
        """Return the status of a file; None if it does not exist."""
        try:
            with request(address, {"Range": "bytes=0-0"}) as answer:
                headers, is_partial = answer.headers, answer.status == 206
        except PermanentError as error:
            if str(error) == ANSWERS[404]:
                return None
            raise
        match = CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
        length = match[3] if match and is_partial else headers.get("Content-Length", "")
        size = int(length) if length.isdigit() else None
        has_ranges = is_partial and size is not None
        return RemoteStatus(size, headers.get("Last-Modified", ""), headers.get("ETag", ""), has_ranges)

    def read_range(self, address: Address, start: int, stop: int, status: RemoteStatus) -> bytes:
        """Return bytes from `start` up to `stop`."""
        headers = {"Range": f"bytes={start}-{stop - 1}"}
        if status.tag and not status.tag.startswith("W/"):
            headers["If-Match"] = status.tag
        with request(address, headers) as answer:
            match = CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if answer.status != 206 or match is None or match[1] != str(start):
                raise OSError(f"the server did not answer with the bytes from {start} on")
            if match[3] not in ("*", str(status.size)):
                raise PermanentError(ANSWERS[412])
            return b"".join(parts(answer, stop - start))

    def stream(self, address: Address, status: RemoteStatus) -> Iterator[bytes]:
        """Yield the parts of a file from its start to its end."""
        with request(address, {}) as answer:
            if status.tag and answer.headers.get("ETag") != status.tag:
                raise PermanentError(ANSWERS[412])
            yield from parts(answer, status.size)


def request(address: Address, headers: dict[str, str]) -> Any:
    """Send a request; returns the open answer.

    Raises:
        PermanentError: the server refuses.
        OSError: there is no connection, or the server has a problem.
    """
    query = f"?{queries[address]}" if address in queries else ""
    path = quote(address.path, safe="/%:@!$&'()*+,;=~")
    url = f"{address.scheme}://{address.host}/{path}{query}"
    headers = {"User-Agent": "embeddings-toolkit", "Accept-Encoding": "identity", **headers}
    if login := find_login(address):
        headers["Authorization"] = f"Basic {base64.b64encode(':'.join(login).encode()).decode()}"
    try:
        return build_opener(RedirectHandler).open(Request(url, headers=headers), timeout=timeout())
    except HTTPError as error:
        with error:
            return refused(error)
    except URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise PermanentError("cannot be reached: the certificate of the server is not trusted") from None
        if isinstance(error.reason, socket.gaierror):
            raise PermanentError("cannot be reached: its host is unknown; check the network") from None
        raise error.reason if isinstance(error.reason, OSError) else OSError(str(error.reason)) from None
    except (HTTPException, ValueError) as error:
        raise PermanentError(f"cannot be read: {error}") from None


def refused(error: HTTPError) -> Any:
    """Raise the error for an answer, unless it says that the file is empty."""
    if error.code == 416 and error.headers.get("Content-Range", "").strip() == "bytes */0":
        return EmptyAnswer(error.headers)
    if error.code in ANSWERS:
        raise PermanentError(ANSWERS[error.code])
    kind = OSError if error.code >= 500 or error.code in (408, 429) else PermanentError
    raise kind(f"cannot be read: the server answered {error.code}")


class EmptyAnswer:
    """The answer for an empty file."""

    status = 206

    def __init__(self, headers: Any) -> None:
        self.headers = headers

    def __enter__(self) -> "EmptyAnswer":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def parts(answer: Any, size: int | None) -> Iterator[bytes]:
    """Yield the content of an answer, which has `size` bytes; raises OSError if it is truncated or too slow."""
    done, window, window_start = 0, 0, time.monotonic()
    while size is None or done < size:
        try:
            part = answer.read1(PART if size is None else min(PART, size - done))
        except HTTPException as error:
            raise OSError(f"the transfer was truncated after {done} bytes") from error
        if not part:
            break
        yield part
        done, window = done + len(part), window + len(part)
        if (seconds := time.monotonic() - window_start) > timeout():
            if window < MIN_SPEED * seconds:
                raise TimeoutError(f"only {window} bytes came in {seconds:.0f} seconds")
            window, window_start = 0, time.monotonic()
    if size is not None and done < size:
        raise OSError(f"the transfer was truncated after {done} of {size} bytes")


def find_login(address: Address) -> tuple[str, str] | None:
    """The user and password of the address, or of the file .netrc."""
    if login := credentials.get((address.scheme, address.host)):
        return login
    try:
        entry = netrc.netrc().authenticators(address.host.partition(":")[0])
    except (OSError, netrc.NetrcParseError):
        return None
    return (entry[0], entry[2]) if entry and entry[2] is not None else None
