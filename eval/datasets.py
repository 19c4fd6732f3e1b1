"""Test sets by name or from files: where they are, and their lines."""

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from embeddings.corpora.reading.compressed_files import plain
from embeddings.errors import FormatError

GOOGLE_ANALOGIES = "google-analogies"
SHIPPED = {
    "wordsim353": "wordsim353.txt",
    GOOGLE_ANALOGIES: "questions-words.txt",
    "google-phrases": "questions-phrases.txt",
}
SHIPPED_TAGGING = {"ud-ewt": ("ud-ewt-train.tsv.zst", "ud-ewt-test.tsv.zst")}
FROM_GENSIM = {"simlex999": "simlex999.txt"}
LONGEST = 1 << 28  # bytes of a test set, decompressed


def names() -> dict[str, str]:
    """The test sets known by name, and which kind each is: an argument of `evaluate`."""
    return {
        "wordsim353": "similarity",
        "simlex999": "similarity",
        "google-analogies": "analogy",
        "google-phrases": "analogy",
        "google-categories": "categories",
        "ud-ewt": "tagging",
    }


def locate(name: str | os.PathLike[str]) -> Path:
    """The file of a test set: a path, or else one of `names()`. A file wins over a set of the same name.

    Raises:
        FormatError: there is neither a file nor a set of this name.
    """
    path = Path(name)
    if path.is_file():
        return path
    if str(name) in SHIPPED:
        return shipped(SHIPPED[str(name)])
    if str(name) in FROM_GENSIM:
        from gensim.test.utils import datapath

        return Path(datapath(FROM_GENSIM[str(name)]))
    if path.is_dir():
        raise FormatError(f"{str(name)!r} is a folder, not a test set")
    raise FormatError(f"no test set {str(name)!r}: no such file, nor one of {', '.join(sorted(SHIPPED | FROM_GENSIM))}")


def shipped(file: str) -> Path:
    """A test set that comes with the package."""
    return Path(str(files("embeddings.eval").joinpath("data", file)))


def lines(path: Path, *, whole: bool = False) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers; comments (#) and empty lines are passed over.

    Arguments:
        path: a file, compressed or not.
        whole: give every line, comments and empty ones too.

    Raises:
        FormatError: the file cannot be read, is longer than `LONGEST` bytes, or is not UTF-8.
    """
    with plain(path) as stream:
        try:
            data = stream.read(LONGEST + 1)
        except OSError as error:
            raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > LONGEST:
        raise FormatError(f"{path} holds more than {LONGEST:,} bytes, which no test set does")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        raise FormatError(f"{path}, line {number}: not UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if whole or (line.strip() and not line.startswith("#")):
            yield number, line.strip("\r\n")


def label(name: str | os.PathLike[str]) -> str:
    """What results call a set: its name, or that of its file without the ending."""
    return str(name) if str(name) in names() else Path(name).stem
