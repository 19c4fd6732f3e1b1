"""Where text comes from: files, folders, standard input, Python iterables, and the built-in sample."""

import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Any

from embeddings.errors import CorpusError

BUILT_IN = {"sample": Path(__file__).parents[1] / "sample" / "wikipedia-sample.txt.zst"}
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class File:
    """One file; None is standard input."""

    path: Path | None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path is None else str(self.path)

    @property
    def regular(self) -> bool:
        """Whether it has a size and a time of change, and can be read again."""
        return self.path is not None and self.path.is_file()

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes of the file.

        Raises:
            CorpusError: it cannot be opened; the message names it.
        """
        if self.path is None:
            if sys.stdin is None:
                raise CorpusError("standard input is closed")
            yield sys.stdin.buffer
            return
        try:
            stream = self.path.open("rb", buffering=0)
        except OSError as error:
            raise unreadable(self.name, error) from error
        with stream:
            yield stream


@dataclass(frozen=True)
class Items:
    """A Python iterable of strings, each a document, of token lists, each a sentence, or of mappings, each a row."""

    items: Iterable[Any]

    @property
    def name(self) -> str:
        """What messages call it."""
        return "a list of texts" if isinstance(self.items, Texts) else f"an iterable ({type(self.items).__name__})"


class Texts(list[Any]):
    """Texts or token lists for `Corpus` that are known to be such, so that none is taken for the name of a file."""


Source = File | Items


def unreadable(name: str, error: OSError) -> CorpusError:
    """The error for a file that the system will not give."""
    return CorpusError(f"{name} cannot be read: {error.strerror or error}")


def resolve(source: Any) -> list[Source]:
    """What one argument of `Corpus` stands for; a folder stands for the files in it, a pattern for what matches.

    A generator function stands for what it yields when it is called.

    Raises:
        CorpusError: nothing is there, a folder holds no files or leads back into itself, or it is not a
        source.
    """
    if isinstance(source, str) and source == STANDARD_INPUT:  # the order matters: frames and arrays compare by element
        return [File(None)]
    if isinstance(source, str) and not source:
        raise CorpusError("a corpus is a path, '-' or an iterable of strings or token lists, not ''")
    if isinstance(source, str | os.PathLike):
        return [File(path) for path in files(Path(source))]
    if inspect.isgeneratorfunction(source):
        return [Items(source())]
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        if why := unfit(source):
            raise CorpusError(f"{type(source).__name__} is no list of texts: {why}")
        return [Items(source)]
    raise CorpusError(f"a corpus is a path, '-' or an iterable of strings or token lists, not {source!r}")


def unfit(source: Iterable[Any]) -> str | None:
    """Why what can be iterated over does not give texts in an order of its own; None if it may."""
    if isinstance(source, Mapping):
        return "a mapping gives its keys; give its values, or a list of mappings with text_column"
    if isinstance(source, set | frozenset):
        return "a set has no order; give a sorted list"
    if hasattr(source, "columns"):
        return "a frame gives the names of its columns; give one column, or its rows as mappings with text_column"
    return None


def files(path: Path) -> list[Path]:
    """The file itself, the files of the folder, or the built-in corpus of that name."""
    try:
        if path.is_dir():
            found = list(walk(path, ()))
            if not found:
                raise CorpusError(f"no files in the folder {path} (hidden ones are not read)")
            return found
        path.stat()
    except FileNotFoundError as error:
        if str(path) in BUILT_IN:
            return [BUILT_IN[str(path)]]
        if has_magic(str(path)):
            return matches(str(path))
        names = ", ".join(BUILT_IN)
        raise CorpusError(f"no file or folder called {str(path)!r}; built in: {names}") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CorpusError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return [path]


def matches(pattern: str) -> list[Path]:
    """The files that match a pattern (*, ?, [...], and ** for any folders), and those in folders that do, by name.

    Raises:
        CorpusError: there are none.
    """
    found = [file for path in sorted(glob(pattern, recursive=True)) for file in files(Path(path))]
    if not found:
        raise CorpusError(f"no file matches {pattern!r}")
    return list(dict.fromkeys(found))


def walk(folder: Path, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    """The regular files in a folder and below, by name; links are followed, hidden names skipped.

    Raises:
        CorpusError: a link leads to a folder above itself.
    """
    status = folder.stat()
    identity = (status.st_dev, status.st_ino)
    if identity in above:
        raise CorpusError(f"the folder {folder} leads back into itself")
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from walk(path, (*above, identity))
        elif path.is_file() or path.is_symlink():
            yield path
