"""Addresses of files in object stores and on web servers, such as s3://bucket/folder/file.

Credentials in an address (`s3://key:secret@bucket/file`, the query of a signed web address) stay in the memory of this
process: addresses are printed, recorded and passed on without them, and they are looked up when a file is opened.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from embeddings.errors import SettingError

StrPath = str | os.PathLike[str]
SCHEMES = {name: name for name in ("s3", "gs", "hdfs", "http", "https", "hf")} | {"s3a": "s3", "gcs": "gs"}
WEB = ("http", "https")  # read only, without folders
START = re.compile(rf"\b({'|'.join(SCHEMES)}):[/\\]{{1,3}}(?=[^/\\\s])", re.IGNORECASE)
ARGUMENT = re.compile(rf"(--?[\w-]+=|)({START.pattern}\S*)", re.IGNORECASE)
MAGIC = re.compile(r"[*?\[]")
SECRET_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "HF_TOKEN")
HIDDEN = "***"

credentials: dict[tuple[str, str], tuple[str, str]] = {}  # user and password by scheme and host
queries: dict["Address", str] = {}  # of web addresses


@dataclass(frozen=True)
class Address:
    """Where a remote file or folder is; `path` is without the first slash."""

    scheme: str
    host: str
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}/{self.path}" if self.path else f"{self.scheme}://{self.host}"

    @property
    def name(self) -> str:
        """The last part."""
        return self.path.rpartition("/")[2] or self.host

    @property
    def store_path(self) -> str:
        """The name that the file system of pyarrow takes; in HDFS the host is not a part of it."""
        return f"/{self.path}" if self.scheme == "hdfs" else f"{self.host}/{self.path}".rstrip("/")

    @property
    def is_pattern(self) -> bool:
        """Whether it names files by a pattern."""
        return self.scheme not in WEB and MAGIC.search(self.path) is not None

    def relative_to(self, folder: "Address") -> str:
        """The name of a file relative to a folder."""
        return self.path.removeprefix(folder.path).removeprefix("/")

    def sibling(self, name: str) -> "Address":
        """The address of another file in the folder of the file."""
        return Address(self.scheme, self.host, "/".join([*self.path.split("/")[:-1], name]))

    def child(self, name: str) -> "Address":
        """A file in this folder."""
        return Address(self.scheme, self.host, f"{self.path}/{name}" if self.path else name)


def is_remote(path: object) -> bool:
    """Whether a path is the address of a remote file; a `Path` of one, which has lost a slash, too."""
    return isinstance(path, str | os.PathLike) and START.match(os.fspath(path)) is not None


def parse_address(path: StrPath) -> Address:
    """Return an address; its credentials are remembered.

    Raises:
        SettingError: there is no host or bucket, or the credentials are incomplete.
    """
    text = os.fspath(path)
    match = START.match(text)
    if match is None:
        raise SettingError(f"{text!r} is not an address such as s3://bucket/file")
    scheme, rest = SCHEMES[match[1].lower()], text[match.end() :]
    if scheme == "hdfs" and match[0].endswith("///"):
        rest = f"default/{rest}"
    rest = rest.replace("\\", "/") if os.sep == "\\" else rest
    host, _, path_part = rest.partition("/")
    if ":" in host and "@" not in host and scheme in ("s3", "gs"):  # a secret with a slash
        user, at, rest = rest.partition("@")
        if not at:
            raise SettingError(f"an address with credentials has the form {scheme}://key:secret@bucket/path")
        host, _, path_part = rest.partition("/")
        host = f"{user}@{host}"
    user, at, host = host.rpartition("@")
    query = ""
    if scheme in WEB:
        path_part, _, query = path_part.partition("#")[0].partition("?")
    if not host:
        raise SettingError(f"an address needs a host or bucket: {scheme}://name/path")
    if at:
        name, _, password = user.partition(":")
        credentials[scheme, host] = unquote(name), unquote(password)
    address = Address(scheme, host, path_part.strip("/") if scheme not in WEB else path_part)
    if query:
        queries[address] = query
    return address


def without_credentials(text: str) -> str:
    """Return a text, such as a command-line argument, in which an address has no credentials."""
    match = ARGUMENT.fullmatch(text)
    return text if match is None else f"{match[1]}{parse_address(match[2])}"


def display_name(path: StrPath) -> str:
    """The name of a file or an address for messages."""
    return str(parse_address(path)) if is_remote(path) else str(path)


def hide_secrets(message: str) -> str:
    """Return the message of a library without credentials, in one line."""
    for secret in sorted(set(known_secrets()), key=len, reverse=True):
        message = message.replace(secret, HIDDEN)
    return " ".join(message.split())


def known_secrets() -> Iterator[str]:
    """The credentials of addresses and of the environment."""
    for pair in credentials.values():
        yield from filter(None, pair)
    yield from queries.values()
    yield from filter(None, map(os.environ.get, SECRET_VARIABLES))
