"""The sources of a corpus: local and remote files and folders, standard input, iterables, the built-in sample."""

import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, ClassVar

from embeddings.corpora.reading.data_tables import DataTable, as_table
from embeddings.errors import CorpusError, RemoteError, S, marked
from embeddings.printable import describe
from embeddings.support.foreign_files import is_hidden
from embeddings.support.remote.address import Address, is_remote, parse_address
from embeddings.support.remote.requests import map_ahead

N_STATUSES = 16  # remote files whose status is requested at a time
BUILT_IN = {"sample": Path(__file__).parents[1] / "sample" / "wikipedia-sample.txt.zst"}
MODEL_FILES = ("model.json", "vocabulary.arrow")  # in the folder of a saved model
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class File:
    """A file; if `path` is None, standard input."""

    path: Path | None
    is_plain_text: ClassVar[bool] = False  # whether that is known; else the first bytes tell the type of the file

    @property
    def name(self) -> str:
        """The name of the source for messages."""
        return "standard input" if self.path is None else str(self.path)

    def tags(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the file and of its folder, as far as these columns are requested."""
        path = (self.path or Path()).absolute()
        names = {"file": path.name, "folder": path.parent.name}
        return [os.fsencode(names[one]).decode("utf-8", "replace") for one in columns if names.get(one)]

    @property
    def is_regular(self) -> bool:
        """Whether it has a size and modification time, and can be read again."""
        return self.path is not None and self.path.is_file()

    @property
    def table_source(self) -> Any:
        """The input of pyarrow for a table: the path, or a function that opens a remote file at any position."""
        return self.path

    def status(self) -> "FileStatus":
        """Return the size and what identifies the content; raises OSError."""
        status = os.stat(self.name)
        identity = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        return FileStatus(status.st_size if S_ISREG(status.st_mode) else None, identity)

    @contextmanager
    def open_stream(self) -> Iterator[IO[bytes]]:
        """Open the file for reading bytes; raises CorpusError if that fails."""
        if self.path is None:
            if sys.stdin is None:
                raise CorpusError("standard input is closed")
            yield sys.stdin.buffer
            return
        with read_errors(self.name):
            stream = self.path.open("rb", buffering=0)
        with stream:
            yield stream


@dataclass(frozen=True)
class RemoteFile(File):
    """A file of an object store or web server; `path` is its address as a path, whose ending tells its type."""

    address: Address = field(kw_only=True)

    @property
    def name(self) -> str:
        """The address of the file without credentials."""
        return str(self.address)

    @property
    def is_regular(self) -> bool:
        """True: it can be read again."""
        return True

    @property
    def table_source(self) -> Any:
        """A function that opens the file for reading at any position; of a server without ranges, a local copy."""
        from embeddings.support.local_paths import local_path
        from embeddings.support.remote.store import RandomReader, file_status

        status = file_status(self.address)
        if status.has_ranges and status.size is not None:
            return lambda: RandomReader(self.address, status)
        return local_path(self.name)

    def status(self) -> "FileStatus":
        """Return the size and what identifies the content; raises RemoteError, an OSError."""
        from embeddings.support.remote.store import file_status

        status = file_status(self.address)
        return FileStatus(status.size, status.identity)

    @contextmanager
    def open_stream(self) -> Iterator[IO[bytes]]:
        """Open the file for reading bytes in order; raises CorpusError if that fails."""
        from embeddings.support.remote.store import RemoteReader

        with read_errors(self.name):
            stream = RemoteReader(self.address)
        with stream:
            yield stream  # type: ignore[misc]  # it reads bytes as an open file does


@dataclass(frozen=True)
class FileStatus:
    """The size of a file, None if unknown or if it is not a regular file, and what changes with its content."""

    size: int | None
    identity: list[Any]


@dataclass(frozen=True)
class Items:
    """An iterable of strings (documents), token lists (sentences) or mappings (rows)."""

    items: Iterable[Any]

    @property
    def name(self) -> str:
        """The name of the source for messages."""
        return "a list of texts" if isinstance(self.items, Texts) else f"an iterable ({type(self.items).__name__})"


class Texts(list[Any]):
    """Texts or token lists that `Corpus` does not check for file names."""


Source = File | Items | DataTable


def file_statuses(sources: Sequence[Source]) -> list[FileStatus] | None:
    """Return the status of each file; None if a source is not a file that can be read again."""
    files = [source for source in sources if isinstance(source, File) and source.path]
    if len(files) < len(sources):
        return None
    ahead = N_STATUSES if any(isinstance(file, RemoteFile) for file in files) else 0
    try:
        with remote_errors():
            statuses = list(map_ahead(lambda file: file.status(), files, ahead))
    except OSError:
        return None
    return None if any(status.size is None for status in statuses) else statuses


def total_size(sources: Sequence[Source]) -> int | None:
    """Return the bytes of all files as stored; None if unknown."""
    statuses = file_statuses(sources)
    return None if statuses is None else sum(status.size or 0 for status in statuses)


@contextmanager
def remote_errors() -> Iterator[None]:
    """Convert a RemoteError, which names the address, to a CorpusError."""
    try:
        yield
    except RemoteError as error:
        raise CorpusError(marked(error)) from None


@contextmanager
def read_errors(name: str) -> Iterator[None]:
    """Convert errors of a file that cannot be read to a CorpusError of one line that names it."""
    try:
        with remote_errors():
            yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        is_missing = isinstance(error, FileNotFoundError)
        problem = "does not exist" if is_missing else f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise CorpusError(f"{name} {problem}") from error


def resolve_source(source: Any) -> list[Source]:
    """Resolve a source: a folder to its files, a pattern to its matches, a generator function to its generator.

    One that is resolved is returned as it is.
    """
    if isinstance(source, File | Items | DataTable):
        return [source]
    if isinstance(source, str) and source == STANDARD_INPUT:  # check the type first: arrays compare by element
        return [File(None)]
    if isinstance(source, os.PathLike) or (isinstance(source, str) and source):
        paths = remote_sources(parse_address(source)) if is_remote(source) else map(File, find_files(Path(source)))
        return list(paths)
    if inspect.isgeneratorfunction(source):
        return [Items(source())]
    if table := as_table(source):
        return [table]
    reason: str | None = "pass a path, '-', a table, or an iterable of strings, token lists or rows"
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | bytearray):
        reason = unusable_reason(source)
    if reason is not None:
        raise CorpusError(f"a source cannot be {describe(source)}: {reason}")
    return [Items(source)]


def unusable_reason(source: Iterable[Any]) -> str | None:
    """Return why an iterable cannot be a sequence of texts; None if it can."""
    if isinstance(source, Mapping):
        return f"iterating a mapping gives its keys; pass one of its values, or a list of mappings with {S.text_column}"
    if isinstance(source, set | frozenset):
        return "a set has no order; pass a sorted list"
    if hasattr(source, "columns"):
        return (
            f"iterating a data frame gives column names; pass one column, or its rows as mappings with {S.text_column}"
        )
    return None


def find_files(path: Path) -> list[Path]:
    """Return the file, the files of the folder, the matches of the pattern, or the built-in corpus of that name.

    A pattern has *, ? and [...], and ** for any folders; of folders that match, it means the files in them.
    """
    with read_errors(str(path)):
        if path.is_dir():
            if all((path / name).is_file() for name in MODEL_FILES):
                raise CorpusError(f"{path} is a saved model, not a text")
            files = list(walk(path, ()))
        elif path.exists() or path.is_symlink():
            path.stat()
            return [path]
        elif str(path) in BUILT_IN:
            return [BUILT_IN[str(path)]]
        else:
            matches = [match for match in sorted(glob(str(path), recursive=True)) if has_magic(str(path))]
            files = list(dict.fromkeys(file for match in matches for file in find_files(Path(match))))
    if not files:
        hint = f"hidden files are skipped; built-in corpora: {', '.join(BUILT_IN)}"
        raise CorpusError(f"no file or folder with files is called {str(path)!r}; {hint}")
    return files


def remote_sources(address: Address) -> list[RemoteFile]:
    """Return the remote file, the files of the folder, or the matches of the pattern."""
    from embeddings.support.remote.store import find_remote

    with remote_errors():
        return [RemoteFile(Path(str(one)), address=one) for one in find_remote(address)]


def walk(folder: Path, ancestors: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    """Yield the files below a folder by name; links are followed; hidden names are skipped, loops refused."""
    status = folder.stat()
    identity = (status.st_dev, status.st_ino)
    # a link to a folder above would be followed for ever
    if identity in ancestors:
        raise CorpusError(f"the folder {folder} contains itself through a link")
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if is_hidden(path.name):
            continue
        if path.is_dir():
            yield from walk(path, (*ancestors, identity))
        elif path.is_file() or path.is_symlink():
            yield path
