"""Addresses of files in object stores and on web servers, such as s3://bucket/folder/file.

Credentials in an address (`s3://key:secret@bucket/file`, the query of a signed web address) stay in the memory of this
process: addresses are printed, recorded and passed on without credentials, which are looked up when a file is opened.
What looks like a credential in any other text, such as an address of an unknown scheme, is remembered as a secret, and
`embeddings.support.logs` removes secrets from errors, messages and logs.
"""

import os
import re
from dataclasses import dataclass
from urllib.parse import unquote

from embeddings.errors import SettingError
from embeddings.support.logs import remember_secrets, secrets

StrPath = str | os.PathLike[str]
SCHEMES = {name: name for name in ("s3", "gs", "hdfs", "http", "https", "hf")} | {"s3a": "s3", "gcs": "gs"}
WEB = ("http", "https")  # read only, without folders
START = re.compile(rf"\b({'|'.join(SCHEMES)}):[/\\]{{1,3}}(?=[^/\\\s])", re.IGNORECASE)
OTHER = re.compile(r"([a-z][a-z0-9+.-]+)://(?=\S)", re.IGNORECASE)  # an address of any scheme
ARGUMENT = re.compile(rf"(--?[\w-]+=|-\w=?|)({START.pattern}[^?]*(?:\?\S*)?)", re.IGNORECASE)
HOST = re.compile(r"(?:\[[^\]]*\]|[^:]*)(?::(\d+))?")
MAGIC = re.compile(r"[*?\[]")  # in a pattern

credentials: dict[tuple[str, str], tuple[str, str]] = {}  # user and password by scheme and host
queries: dict["Address", str] = {}  # of web addresses


@dataclass(frozen=True)
class Address:
    """The address of a remote file or folder; `path` has no leading slash."""

    scheme: str
    host: str
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}/{self.path}" if self.path else f"{self.scheme}://{self.host}"

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2] or self.host

    @property
    def store_path(self) -> str:
        """The path for the file system of pyarrow, with the bucket but not the host of HDFS."""
        return f"/{self.path}" if self.scheme == "hdfs" else f"{self.host}/{self.path}".rstrip("/")

    def relative_to(self, folder: "Address") -> str:
        """The name of a file relative to a folder."""
        return self.path.removeprefix(folder.path).removeprefix("/")

    def sibling(self, name: str) -> "Address":
        """The address of another file in the folder of this file."""
        return Address(self.scheme, self.host, "/".join([*self.path.split("/")[:-1], name]))

    def child(self, name: str) -> "Address":
        """The address of a file in this folder."""
        return Address(self.scheme, self.host, f"{self.path}/{name}" if self.path else name)


def is_remote(path: object) -> bool:
    """Whether a path is an address of any scheme, or the `Path` of a remote address, which has lost a slash."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    return isinstance(text, str) and bool(START.match(text) or OTHER.match(text))


def parse_address(path: StrPath) -> Address:
    """Parse an address, and remember its credentials.

    Raises:
        SettingError: the host or bucket is missing, the port is not valid, the credentials are incomplete, or the
            scheme is not supported.
    """
    text = os.fspath(path)
    match, other = START.match(text), OTHER.match(text)
    remember_secrets(text)
    if match is None and other is not None and other[1].lower() not in SCHEMES:
        schemes = ", ".join(f"{scheme}://" for scheme in dict.fromkeys(SCHEMES.values()))
        raise SettingError(f"addresses of the scheme {other[1]}:// are not supported; use one of {schemes}")
    if match is None:
        raise SettingError(f"{text!r} is not an address such as s3://bucket/file")
    scheme, rest = SCHEMES[match[1].lower()], text[match.end() :]
    if scheme == "hdfs" and match[0].endswith("///"):
        rest = f"default/{rest}"
    rest = rest.replace("\\", "/") if os.sep == "\\" else rest
    user, host, path_part = split_login(scheme, rest)
    query = ""
    if scheme in WEB:
        path_part, _, query = path_part.partition("#")[0].partition("?")
    if not host:
        raise SettingError(f"an address requires a host or bucket: {scheme}://name/path")
    if user:
        name, _, password = user.partition(":")
        credentials[scheme, host] = unquote(name), unquote(password)
        secrets.update((user, name, password))
    address = Address(scheme, host, path_part.strip("/") if scheme not in WEB else path_part)
    if query:
        queries[address] = query
    return address


def split_login(scheme: str, rest: str) -> tuple[str, str, str]:
    """Split an address without its scheme into login, host and path; errors do not show the login."""
    head, _, path = rest.partition("/")
    has_port = scheme not in ("s3", "gs")
    if "@" not in head and not (HOST.fullmatch(head) if has_port else ":" not in head):  # the secret has a slash
        user, at, rest = rest.partition("@")
        if not at:
            port = ", and a port is a number" if has_port else ""
            raise SettingError(f"an address with credentials has the form {scheme}://key:secret@bucket/path{port}")
        head, _, path = rest.partition("/")
        head = f"{user}@{head}"
    user, _, host = head.rpartition("@")
    match = HOST.fullmatch(host)
    if has_port and (match is None or not 0 < int(match[1] or 1) < 1 << 16):
        raise SettingError(f"the port of an address must be a number from 1 to 65535: {scheme}://host:port/path")
    return user, host, path


def without_credentials(text: str) -> str:
    """Return a command-line argument or a setting without credentials, if it is an address.

    Other text is returned unchanged; text in it that looks like credentials is remembered as a secret.
    """
    match = ARGUMENT.fullmatch(text)
    remember_secrets(text)
    return text if match is None else f"{match[1]}{parse_address(match[2])}"


def display_name(path: StrPath) -> str:
    """The name of a file or an address for messages."""
    return str(parse_address(path)) if is_remote(path) else str(path)
