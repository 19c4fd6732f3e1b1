"""Test sets by name or path: where their files are, and their lines."""

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from embeddings.corpora.reading.compressed_files import open_decompressed
from embeddings.errors import FormatError
from embeddings.support.extras import INSTALL_GENSIM
from embeddings.support.local_paths import local_path

GOOGLE_ANALOGIES = "google-analogies"
GOOGLE_CATEGORIES = "google-categories"  # made from the analogies
KINDS = {  # of every set known by name: an argument of `evaluate`
    "wordsim353": "similarity",
    "simlex999": "similarity",
    GOOGLE_ANALOGIES: "analogy",
    "google-phrases": "analogy",
    GOOGLE_CATEGORIES: "categories",
    "ud-ewt": "tagging",
}
SHIPPED = {
    "wordsim353": "wordsim353.txt",
    GOOGLE_ANALOGIES: "questions-words.txt",
    "google-phrases": "questions-phrases.txt",
}
SHIPPED_TAGGING = {"ud-ewt": ("ud-ewt-train.tsv.zst", "ud-ewt-test.tsv.zst")}
FROM_GENSIM = {"simlex999": "simlex999.txt"}
MAX_BYTES = 1 << 28  # of a test set, decompressed


def locate(name: str | os.PathLike[str]) -> Path:
    """The file of a test set by path or name; a file takes precedence over a set of the same name."""
    path = local_path(name)
    if path.is_file():
        return path
    if str(name) in SHIPPED:
        return shipped_file(SHIPPED[str(name)])
    if str(name) in FROM_GENSIM:
        return gensim_file(str(name))
    if path.is_dir():
        raise FormatError(f"{str(name)!r} is a folder, not a test set")
    choices = ", ".join(sorted(SHIPPED | FROM_GENSIM))
    raise FormatError(f"unknown test set {str(name)!r}: give the path of a file, or one of {choices}")


def shipped_file(file: str) -> Path:
    """The path of a test set that comes with the package."""
    return Path(str(files("embeddings.eval").joinpath("data", file)))


def gensim_file(name: str) -> Path:
    """The path of a test set that comes with gensim, which takes long to import."""
    gensim = find_spec("gensim")
    if gensim is None or gensim.origin is None:
        raise FormatError(f"{name} comes with gensim, which is not installed: {INSTALL_GENSIM}, or give a file of it")
    return Path(gensim.origin).parent / "test" / "test_data" / FROM_GENSIM[name]


def is_installed(name: str) -> bool:
    """Whether a set known by name has a file; some come with gensim."""
    return name not in FROM_GENSIM or local_path(name).is_file() or find_spec("gensim") is not None


def read_lines(path: Path, *, keep_all: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a file, compressed or not, with their numbers; comments (#) and empty lines only with `keep_all`."""
    with open_decompressed(path) as stream:
        try:
            data = stream.read(MAX_BYTES + 1)
        except OSError as error:
            raise FormatError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise FormatError(f"{path} is not a test set: it holds more than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        raise FormatError(f"{path}, line {number}: not UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if keep_all or (line.strip() and not line.startswith("#")):
            yield number, line.strip("\r\n")


def set_name(name: str | os.PathLike[str]) -> str:
    """What results call a set: its name, or the name of its file without the ending."""
    return str(name) if str(name) in KINDS else Path(name).stem


def line_error(path: Path, number: int, expected: str, line: str) -> FormatError:
    """The error for a line that is not in the expected form."""
    return FormatError(f"{path}, line {number}: expected {expected}, got {line.strip()!r:.80}")
