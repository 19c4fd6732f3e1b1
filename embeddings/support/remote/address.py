"""Addresses of files in object stores and on web servers, such as s3://bucket/folder/file.

An address with a user or password is refused: credentials come from the places where each store looks for them. The
query of a signed web address stays in the memory of this process: addresses are printed, recorded and passed on without
it, and `embeddings.support.logs` removes it from errors, messages and logs.
"""

import os
import re
from dataclasses import dataclass

from embeddings.errors import SettingError
from embeddings.support.logs import remember_queries

StrPath = str | os.PathLike[str]
SCHEMES = {name: name for name in ("s3", "gs", "http", "https", "hf")} | {"s3a": "s3", "gcs": "gs"}
WEB = ("http", "https")  # read only, without folders
START = re.compile(rf"\b({'|'.join(SCHEMES)}):[/\\]{{1,3}}(?=[^/\\\s])", re.IGNORECASE)
OTHER = re.compile(r"([a-z][a-z0-9+.-]+)://(?=\S)", re.IGNORECASE)  # an address of any scheme
ARGUMENT = re.compile(rf"(--?[\w-]+=|-\w=?|)({START.pattern}[^?]*(?:\?\S*)?)", re.IGNORECASE)
HOST = re.compile(r"(?:\[[^\]]*\]|[^:]*)(?::(\d+))?")
LOGIN = re.compile(  # a user or password in an address, whose first slash may be that of a secret key
    r"\S*?(?:(?:s3a?|gs|gcs):[/\\]+[^/]*[:@]|[a-z][a-z0-9+.-]{1,30}:[/\\]+(?:[^/]*@|[^/:[]*:(?!\d*(?:[/\\?#]|$))))",
    re.IGNORECASE,
)
MAGIC = re.compile(r"[*?\[]")  # in a pattern

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
        """The path for the file system of pyarrow, with the bucket."""
        return f"{self.host}/{self.path}".rstrip("/")

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
    """Parse an address, and remember its query.

    Raises:
        SettingError: the host or bucket is missing, the port is not valid, the address has a user or password, or the
            scheme is not supported.
    """
    text = os.fspath(path)
    match, other = START.match(text), OTHER.match(text)
    check_login(text)
    if match is None and other is not None and other[1].lower() not in SCHEMES:
        schemes = ", ".join(f"{scheme}://" for scheme in dict.fromkeys(SCHEMES.values()))
        raise SettingError(f"addresses of the scheme {other[1]}:// are not supported; use one of {schemes}")
    if match is None:
        raise SettingError(f"{text!r} is not an address such as s3://bucket/file")
    scheme, rest = SCHEMES[match[1].lower()], text[match.end() :]
    rest = rest.replace("\\", "/") if os.sep == "\\" else rest
    query = ""
    if scheme in WEB:
        rest, _, query = rest.partition("#")[0].partition("?")
    host, _, path_part = rest.partition("/")
    port = HOST.fullmatch(host)
    if not host or port is None or not 0 < int(port[1] or 1) < 1 << 16:
        form = f"{scheme}://host:port/path with a port from 1 to 65535, or {scheme}://name/path"
        raise SettingError(f"an address must have the form {form}")
    address = Address(scheme, host, path_part.strip("/") if scheme not in WEB else path_part)
    if query:
        remember_queries(text)
        queries[address] = query
    return address


def check_login(text: str) -> None:
    """Raise SettingError, which does not repeat it, if the text is or ends in an address with a user or password."""
    if LOGIN.match(text):
        raise SettingError(
            "an address must not contain a user or password; set the variables of the store, such as "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a signed web address"
        )


def without_query(text: str) -> str:
    """Return a command-line argument or a setting without the query of a web address, if it is one.

    Other text is returned unchanged; queries of addresses in it are remembered as secrets.

    Raises:
        SettingError: the text is an address with a user or password, or not a valid address.
    """
    match = ARGUMENT.fullmatch(text)
    check_login(text)
    remember_queries(text)
    return text if match is None else f"{match[1]}{parse_address(match[2])}"


def display_name(path: StrPath) -> str:
    """The name of a file or an address for messages."""
    return str(parse_address(path)) if is_remote(path) else str(path)
