"""Files of other tools: one module a format, chosen by name or by the ending of the path."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol

from embeddings.errors import FormatError, OutputError
from embeddings.files import replacing
from embeddings.vectors import Vectors

# In the order in which content is tried: the surest sign first.
MODULES = {
    "gensim": "embeddings.formats.gensim_keyedvectors",
    "word2vec-text": "embeddings.formats.word2vec_text",
    "word2vec-binary": "embeddings.formats.word2vec_binary",
}
ENDINGS = {".kv": "gensim", ".bin": "word2vec-binary", ".txt": "word2vec-text", ".vec": "word2vec-text"}


class Format(Protocol):
    """What the module of a format offers."""

    def sniff(self, path: Path) -> bool:
        """Whether a file looks like one of this format; it may still be broken."""

    def read(self, path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
        """The vectors of a file; FormatError, in one line, where it is broken."""

    def write(self, vectors: Vectors, path: Path) -> None:
        """Write a file; FormatError where the format cannot hold a word. `write` below makes it atomic."""


def names() -> Mapping[str, tuple[str, ...]]:
    """Every format by name, with the endings of paths that choose it."""
    return {name: tuple(end for end, chosen in ENDINGS.items() if chosen == name) for name in sorted(MODULES)}


def by_name(name: str) -> Format:
    """The module of a format.

    Raises:
        FormatError: there is none of this name; the message lists those there are.
    """
    if name not in MODULES:
        raise FormatError(f"no format called {name!r}; there are {', '.join(sorted(MODULES))}")
    module: Format = import_module(MODULES[name])
    return module


def for_path(path: str | os.PathLike[str]) -> str:
    """The name of the format that a path's ending asks for.

    Raises:
        FormatError: the ending is not known; the message lists those that are.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        known = ", ".join(f"{end} ({name})" for end, name in ENDINGS.items())
        raise FormatError(f"{path}: no format goes with the ending {ending!r}; use one of {known}, or name one")
    return ENDINGS[ending]


def write(vectors: Vectors, path: str | os.PathLike[str], *, format: str | None = None, force: bool = False) -> None:
    """Write vectors to a file in a format given by name or by the ending of the path; all of it or nothing.

    Raises:
        FormatError: an unknown format or ending, or the format cannot hold a word (it is named).
        OutputError: the path exists (unless `force`), is a folder, or cannot be written.
    """
    chosen = by_name(format or for_path(path))
    if Path(path).is_dir():
        raise OutputError(f"{path} is a folder, and vectors are written to a file")
    with replacing(path, force=force) as fresh:
        chosen.write(vectors, fresh)


def sniff(path: Path) -> str | None:
    """The name of the format that a file's content shows; None where no format knows it."""
    return next((name for name in MODULES if by_name(name).sniff(path)), None)
