"""Remote stores: the status, content and list of files of object stores and web servers, and readers of their files.

S3 and Google Cloud Storage are read by the file systems of pyarrow, which need no other package; the Hugging Face
Hub through fsspec and huggingface_hub; web addresses by the standard library.
"""

import io
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from http.client import HTTPException, HTTPMessage
from itertools import chain, pairwise
from threading import Event
from types import SimpleNamespace
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from embeddings.errors import FormatError, RemoteError
from embeddings.support.foreign_files import check_name, is_hidden
from embeddings.support.logs import remember_queries
from embeddings.support.remote import requests
from embeddings.support.remote.address import LOGIN, MAGIC, WEB, Address, queries

PART = 1 << 16  # bytes
MIN_SPEED = 1000  # bytes a second, below which a transfer is given up
CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
ANSWERS = {
    401: requests.DENIED,
    403: requests.DENIED,
    404: requests.ABSENT,
    407: "cannot be accessed: the proxy asks for credentials",
    410: requests.ABSENT,
    412: requests.CHANGED,
}

ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
WRITE_ATTEMPTS = 4  # of each request of an upload
N_REQUESTS = 16  # at a time
TAG_FIELDS = ("ETag", "etag", "blob_id", "oid")  # of fsspec


@dataclass(frozen=True)
class RemoteStatus:
    """The status of a remote file.

    size: in bytes, None if unknown. modified, tag: the time of modification and the ETag, "" if unknown.
    has_ranges: whether parts of the file can be read.
    """

    size: int | None
    modified: str
    tag: str
    has_ranges: bool = True

    @property
    def identity(self) -> list[int | str | None]:
        """Values that change with the content of the file."""
        return [self.size, self.modified, self.tag]


class RedirectHandler(HTTPRedirectHandler):
    """Follows redirects to web addresses."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request for the new address, unless it is of ftp, which urllib would follow, or has a password."""
        remember_queries(newurl)
        if urlsplit(newurl).scheme not in WEB or LOGIN.match(newurl):
            raise HTTPError(newurl, code, msg, headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class WebStore:
    """Reads files of web servers by the protocols http and https."""

    def status(self, address: Address) -> RemoteStatus | None:
        """Return the status of a file; None for a missing file."""
        try:
            with request(address, {"Range": "bytes=0-0"}) as answer:
                headers, is_partial = answer.headers, answer.status == 206
        except requests.PermanentError as error:
            if str(error) == requests.ABSENT:
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
                raise requests.PermanentError(requests.CHANGED)
            return b"".join(parts(answer, stop - start))

    def stream(self, address: Address, status: RemoteStatus) -> Iterator[bytes]:
        """Yield the parts of a whole file in order."""
        with request(address, {}) as answer:
            if status.tag and answer.headers.get("ETag") != status.tag:
                raise requests.PermanentError(requests.CHANGED)
            yield from parts(answer, status.size)


def request(address: Address, headers: dict[str, str]) -> Any:
    """Send a request; returns the open answer.

    Raises PermanentError if the server refuses, OSError if there is no connection or the server has a problem, and
    SettingError if the time limit is not valid.
    """
    seconds = requests.timeout()
    query = f"?{queries[address]}" if address in queries else ""
    path = quote(address.path, safe="/%:@!$&'()*+,;=~")
    url = f"{address.scheme}://{address.host}/{path}{query}"
    headers = {"User-Agent": "embeddings-toolkit", "Accept-Encoding": "identity", **headers}
    try:
        return build_opener(RedirectHandler).open(Request(url, headers=headers), timeout=seconds)
    except HTTPError as error:
        with error:
            return empty_answer(error)
    except URLError as error:
        raise error.reason if isinstance(error.reason, OSError) else OSError(str(error.reason)) from None
    except (HTTPException, ValueError) as error:
        raise requests.PermanentError(f"cannot be read: {error}") from None


def empty_answer(error: HTTPError) -> Any:
    """Return the answer 206 for an empty file; raises the error for other answers."""
    if error.code == 416 and error.headers.get("Content-Range", "").strip() == "bytes */0":
        return nullcontext(SimpleNamespace(status=206, headers=error.headers))
    if error.code in ANSWERS:
        raise requests.PermanentError(ANSWERS[error.code])
    kind = OSError if error.code >= 500 or error.code in (408, 429) else requests.PermanentError
    raise kind(f"cannot be read: the server answered {error.code}")


def parts(answer: Any, size: int | None) -> Iterator[bytes]:
    """Yield the content of an answer of `size` bytes; raises OSError for a truncated or slow transfer."""
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
        if (seconds := time.monotonic() - window_start) > requests.timeout():
            if window < MIN_SPEED * seconds:
                raise TimeoutError(f"only {window} bytes came in {seconds:.0f} seconds")
            window, window_start = 0, time.monotonic()
    if size is not None and done < size:
        raise OSError(f"the transfer was truncated after {done} of {size} bytes")


class ArrowStore:
    """Reads and writes by a file system of pyarrow; methods raise the errors of its library.

    fsspec: the file system of fsspec behind that of pyarrow, which knows the ETags of files.
    """

    def __init__(self, file_system: Any, writer: Any, fsspec: Any = None) -> None:
        self.file_system, self.writer, self.fsspec = file_system, writer, fsspec

    def info(self, address: Address) -> Any:
        """Return pyarrow's FileInfo of a file or folder."""
        return self.file_system.get_file_info(address.store_path)

    def status(self, address: Address) -> RemoteStatus | None:
        """Return the status of a file; None for a missing file or a folder."""
        if address.scheme == "s3" and address.path:
            try:  # one request, which the ETag needs
                with self.file_system.open_input_file(address.store_path) as file:
                    known = {name: value.decode("latin-1") for name, value in (file.metadata() or {}).items()}
                    return RemoteStatus(file.size(), known.get("Last-Modified", ""), known.get("ETag", ""))
            except FileNotFoundError:
                return None
        info, tag = self.info(address), ""
        if info.is_file and self.fsspec is not None:
            known = self.fsspec.info(address.store_path)
            tag = next((str(known[name]) for name in TAG_FIELDS if known.get(name)), "")
        return RemoteStatus(info.size, str(info.mtime_ns), tag) if info.is_file else None

    def is_folder(self, address: Address) -> bool:
        """Whether files are below this address."""
        from pyarrow.fs import FileType

        return self.info(address).type is FileType.Directory

    def names(self, folder: Address) -> list[str]:
        """Return the relative names of all files below a folder; none if the folder does not exist."""
        from pyarrow.fs import FileSelector

        selector = FileSelector(folder.store_path, recursive=True, allow_not_found=True)
        infos = [info for info in self.file_system.get_file_info(selector) if info.is_file]
        paths = [info.path for info in infos if not (info.size == 0 and info.path.endswith("/"))]
        start = len(folder.store_path.removeprefix("/"))  # fsspec may add a slash
        return sorted(path.removeprefix("/")[start:].removeprefix("/") for path in paths)

    def read_range(self, address: Address, start: int, stop: int, status: RemoteStatus) -> bytes:
        """Return bytes from `start` up to `stop`."""
        with self.file_system.open_input_file(address.store_path) as file:
            if file.size() != status.size:
                raise requests.PermanentError(requests.CHANGED)
            data: bytes = file.read_at(stop - start, start)
        if len(data) < stop - start:
            raise OSError(f"the transfer was truncated after {len(data)} of {stop - start} bytes")
        return data


def open_store(address: Address) -> WebStore | ArrowStore:
    """Return the store that reads an address."""
    return WebStore() if address.scheme in WEB else arrow_store(address)


def arrow_store(address: Address) -> ArrowStore:
    """Return the file system of an address.

    Raises RemoteError if a package or credentials are missing, or the address is a web address.
    """
    if address.scheme in WEB:
        raise RemoteError(address, "cannot be written or listed: web addresses are read one file at a time")
    endpoint = next(filter(None, map(os.environ.get, ENDPOINT_VARIABLES)), None)

    def make() -> ArrowStore:
        return make_store(address.scheme, endpoint, requests.timeout())

    return requests.attempt(address, make, attempts=1)


@cache
def make_store(scheme: str, endpoint: str | None, seconds: float) -> ArrowStore:
    """Return a file system, made once for each combination of arguments."""
    from pyarrow import fs

    if scheme == "s3":
        return ArrowStore(*(s3_file_system(endpoint, seconds, attempts) for attempts in (1, WRITE_ATTEMPTS)))
    if scheme == "gs":
        from datetime import timedelta

        store = fs.GcsFileSystem(retry_time_limit=timedelta(seconds=seconds))
        return ArrowStore(store, store)
    try:
        import fsspec

        inner = fsspec.filesystem(scheme)
    except ImportError:
        raise requests.PermanentError(
            f"requires fsspec and huggingface_hub: pip install 'embeddings-toolkit[remote]' to use {scheme}://"
        ) from None
    store = fs.PyFileSystem(fs.FSSpecHandler(inner))
    return ArrowStore(store, store, inner)


def s3_file_system(endpoint: str | None, seconds: float, attempts: int) -> Any:
    """Return the file system of S3 or of a compatible server."""
    from pyarrow import fs

    options: dict[str, Any] = {}
    if endpoint is not None:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        options = {"endpoint_override": parts.netloc, "scheme": parts.scheme}
    if os.environ.get("AWS_NO_SIGN_REQUEST", "").lower() in ("1", "true", "yes"):
        options["anonymous"] = True
    return fs.S3FileSystem(
        connect_timeout=min(seconds, 10),
        request_timeout=seconds,
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=attempts),
        **options,
    )


def file_status(address: Address) -> RemoteStatus:
    """Return the status of a remote file.

    Raises RemoteError if the file does not exist, is a folder, or cannot be accessed.
    """
    status = find_status(address)
    if status is None:
        raise RemoteError(address, absence(address))
    return status


def find_status(address: Address) -> RemoteStatus | None:
    """Return the status of a remote file; None for a missing file.

    Raises RemoteError if the file cannot be accessed.
    """
    return requests.attempt(address, lambda: open_store(address).status(address))


def statuses(addresses: list[Address]) -> list[RemoteStatus]:
    """Return the status of each remote file; errors as `file_status`."""
    return list(requests.map_ahead(file_status, addresses, N_REQUESTS))


def absence(address: Address) -> str:
    """Return the reason why an address is not a file, as a predicate."""
    if address.scheme in WEB:
        return requests.ABSENT
    store = arrow_store(address)
    if requests.attempt(address, lambda: store.is_folder(address)):
        return "is a folder, not a file"
    bucket = Address(address.scheme, address.host, "")
    if address.scheme in ("s3", "gs") and not requests.attempt(bucket, lambda: store.is_folder(bucket)):
        return f"{requests.ABSENT}: there is no bucket {address.host!r}"
    return requests.ABSENT


def files_below(
    folder: Address, is_wanted: Callable[[list[str]], bool] | None = None, *, is_local: bool = False
) -> list[Address]:
    """Return the files below a remote folder in the order of names; none if the folder does not exist.

    Clients of stores resolve `..`, so a file whose name has it would be read, replaced or deleted elsewhere.

    Arguments:
        is_wanted: chooses files by the parts of their name relative to the folder.
        is_local: as for `check_name`.

    Raises:
        RemoteError: the store cannot be read, or the name of a wanted file is not safe.
    """
    store = arrow_store(folder)
    names = requests.attempt(folder, lambda: store.names(folder))
    wanted = [name for name in names if is_wanted is None or is_wanted(name.split("/"))]
    try:
        for name in wanted:
            check_name(name, is_local=is_local)
    except FormatError as error:
        raise RemoteError(folder, f"cannot be read: {error}; rename or remove this file") from None
    return [folder.child(name) for name in wanted]


def find_remote(address: Address) -> list[Address]:
    """Return the file at an address, the files below it, or the files that match it (*, ?, [...], ** for folders).

    Raises RemoteError if there is no file, or the store cannot be read.
    """
    if address.scheme in WEB:
        return [address]
    store = arrow_store(address)
    if requests.attempt(address, lambda: store.status(address)) is not None:
        return [address]
    if files := files_below(address, is_shown):
        return files
    if not MAGIC.search(address.path):
        raise RemoteError(address, absence(address))
    steps = address.path.split("/")
    first = next(number for number, step in enumerate(steps) if MAGIC.search(step))
    folder = Address(address.scheme, address.host, "/".join(steps[:first]))
    files = files_below(folder, lambda parts: is_shown(parts) and matches(parts, steps[first:]))
    if not files:
        is_folder = requests.attempt(folder, lambda: store.is_folder(folder))
        raise RemoteError(address, "matches no file" if is_folder else absence(folder))
    return files


def is_shown(parts: list[str]) -> bool:
    """Whether a file, given by the parts of its name, is not hidden and not a marker file of Spark."""
    return not any(is_hidden(part) for part in parts if part not in (".", ".."))  # names with these are refused


def matches(parts: list[str], steps: list[str]) -> bool:
    """Whether a path matches a pattern or is below a matching folder; both are given as parts."""
    if not steps:
        return True
    if steps[0] == "**":
        return any(matches(parts[start:], steps[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], steps[0]) and matches(parts[1:], steps[1:])


PART_SIZE = 1 << 23  # bytes of a range
FIRST_PART = 1 << 16  # of the first range: often only the start of a file is read
N_AHEAD = 4  # ranges that are read at a time


class RemoteReader(io.RawIOBase):
    """Reads a file in order; several ranges are fetched ahead of the reader.

    A range is requested again if its connection drops. Without ranges, the file is requested again from its start,
    and what was read already is skipped.

    Raises:
        RemoteError: the file does not exist or cannot be read, or changes while it is read.
    """

    def __init__(self, address: Address) -> None:
        self.address, self.status = address, file_status(address)
        self.store = open_store(address)
        self.is_closed = Event()
        self.data, self.offset = b"", 0
        size = self.status.size
        self.parts = self.read_whole() if size is None or not self.status.has_ranges else self.fetch_ahead(size)

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes into a buffer; 0 only at the end."""
        while self.offset == len(self.data):
            part = next(self.parts, None)
            if part is None:
                return 0
            self.data, self.offset = part, 0
        size = min(len(buffer), len(self.data) - self.offset)
        buffer[:size] = self.data[self.offset : self.offset + size]
        self.offset += size
        return size

    def fetch_ahead(self, size: int) -> Iterator[bytes]:
        """Yield the ranges of the file in order, while threads fetch the next ranges."""
        # the first range is small: recognising a format needs its beginning only
        borders = chain([0], range(FIRST_PART, size, PART_SIZE), [size])  # lazy: a server names the size
        ranges = pairwise(borders if size else [])
        if (first := next(ranges, None)) is not None:
            yield self.fetch(*first)
        yield from requests.map_ahead(lambda borders: self.fetch(*borders), ranges, N_AHEAD)
        # ranges of two versions of a file would make a third one
        if file_status(self.address).identity != self.status.identity:
            raise RemoteError(self.address, requests.CHANGED)

    def fetch(self, start: int, stop: int) -> bytes:
        """Return the bytes of a range."""

        def read_range() -> bytes:
            if self.is_closed.is_set():
                raise requests.PermanentError("was closed while it was read")
            return self.store.read_range(self.address, start, stop, self.status)

        return requests.attempt(self.address, read_range)

    def read_whole(self) -> Iterator[bytes]:
        """Yield the bytes of a file without ranges."""
        assert isinstance(self.store, WebStore)  # object stores have ranges
        position, attempts = 0, 0
        while True:
            attempts += 1
            skip = position
            try:
                for part in self.store.stream(self.address, self.status):
                    data = part[skip:]
                    skip = max(0, skip - len(part))
                    position += len(data)
                    if data:
                        attempts = 1
                        yield data
                return
            except OSError as error:
                if attempts >= requests.ATTEMPTS or not requests.may_pass(error):
                    raise RemoteError(self.address, requests.reason(error)) from None
            time.sleep(requests.FIRST_WAIT * attempts)

    def close(self) -> None:
        """Close the reader; threads make no further attempts to fetch ranges."""
        self.is_closed.set()
        super().close()


class RandomReader(io.RawIOBase):
    """Reads a file with ranges at any position."""

    def __init__(self, address: Address, status: RemoteStatus) -> None:
        assert status.size is not None
        self.address, self.status, self.size = address, status, status.size
        self.store, self.position = open_store(address), 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position."""
        self.position = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence])
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, which is filled except at the end of the file."""
        start, stop = self.position, min(self.position + len(buffer), self.size)
        if stop <= start:
            return 0
        data = requests.attempt(self.address, lambda: self.store.read_range(self.address, start, stop, self.status))
        buffer[: len(data)] = data
        self.position = stop
        return len(data)
