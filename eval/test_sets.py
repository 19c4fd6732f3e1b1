"""Test sets by name or path: their files, their halves for development and for tests, and folds.

The words of an item (the two words of a pair, the four of an analogy question, the text with a label) are normalised:
white space becomes one space, Unicode becomes NFC, case is folded, and NFC is applied again. They are sorted by code
point and joined by line feeds. The item is in the dev half if the first byte of the SHA-256 digest of this string in
UTF-8 is even, and else in the test half. So the order of items and of the words in an item does not matter.
"""

import json
import os
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.compression import open_decompressed
from embeddings.corpora.reading.labelled_texts import LabelledTexts
from embeddings.errors import FormatError
from embeddings.support.imports import INSTALL_GENSIM
from embeddings.support.local_paths import local_path
from embeddings.support.records import to_jsonable

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
        gensim = find_spec("gensim")  # does not import it, which takes long
        if gensim is None or gensim.origin is None:
            raise FormatError(
                f"{name} comes with gensim, which is not installed: {INSTALL_GENSIM}, or give a file of it"
            )
        return Path(gensim.origin).parent / "test" / "test_data" / FROM_GENSIM[str(name)]
    choices = ", ".join(sorted(SHIPPED | FROM_GENSIM))
    raise FormatError(f"unknown test set {str(name)!r}: give the path of a file, or one of {choices}")


def shipped_file(file: str) -> Path:
    """The path of a test set that comes with the package."""
    return Path(str(files("embeddings.eval").joinpath("data", file)))


def is_installed(name: str) -> bool:
    """Whether a set known by name has a file; some come with gensim."""
    return name not in FROM_GENSIM or local_path(name).is_file() or find_spec("gensim") is not None


def read_lines(path: Path, *, keep_all: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a file, compressed or not, with their numbers; comments (#) and empty lines only with `keep_all`."""
    with open_decompressed(path) as stream:
        data = stream.read(MAX_BYTES + 1)
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


def check_found(items: Sized, name: object, what: str) -> None:
    """Refuse a file without items."""
    if not items:
        raise FormatError(f"{name} contains no {what}")


def set_name(name: str | os.PathLike[str]) -> str:
    """The name of a set in results: its own, or the name of its file without the ending."""
    return str(name) if str(name) in KINDS else Path(name).stem


def line_error(path: Path, number: int, expected: str, line: str) -> FormatError:
    """The error for a line that is not in the expected form."""
    return FormatError(f"{path}, line {number}: expected {expected}, got {line.strip()!r:.80}")


Half = Literal["dev", "test", "all"]
DEV: Half = "dev"
TEST: Half = "test"
ALL: Half = "all"


def half_of(words: Iterable[str]) -> str:
    """The half of an item, "dev" or "test"; see the module."""
    # folding case can break NFC, so that equivalent spellings would differ without the second normalisation
    folded = (unicodedata.normalize("NFC", " ".join(word.split())).casefold() for word in words)
    item = "\n".join(sorted(unicodedata.normalize("NFC", word) for word in folded))
    return TEST if sha256(item.encode("utf-8", "surrogatepass")).digest()[0] % 2 else DEV


def rows_of_half(items: Iterable[Iterable[str]], half: str, name: str) -> list[int]:
    """The numbers of the items in a half.

    Raises:
        FormatError: there are none.
    """
    rows = [row for row, words in enumerate(items) if half in (ALL, half_of(words))]
    check_found(rows, name, f"item of the {half} half; use a larger set")
    return rows


def select_texts(batch: LabelledTexts, half: str) -> LabelledTexts:
    """The texts of a batch that are in a half, which may be none."""
    texts = [batch.data[begin:end] for begin, end in pairwise(batch.starts.tolist())]
    rows = [row for row, text in enumerate(texts) if half in (ALL, half_of([text.decode("utf-8", "replace")]))]
    return replace(
        batch,
        data=b"".join(texts[row] for row in rows),
        starts=np.cumsum([0, *(len(texts[row]) for row in rows)]),
        labels=[batch.labels[row] for row in rows],
    )


DIGITS = 32  # of a fingerprint, hexadecimal


def content_fingerprint(items: Any) -> str:
    """The fingerprint of the items of a test set, or of anything else that `to_jsonable` accepts."""
    return sha256(json.dumps(to_jsonable(items)).encode()).hexdigest()[:DIGITS]


FOLDS = 5
SEED = 1
Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # the items to train and to test on


def train_and_test_files(name: str | os.PathLike[str]) -> list[str]:
    """The files of "TRAIN,TEST", or a single file for cross-validation."""
    parts = str(name).split(",")
    return parts if len(parts) == 2 and all(parts) and not Path(name).exists() else [str(name)]


def splits_of(items: Sequence[Hashable], labels: Sequence[str], training: int | None) -> list[Split]:
    """The first `training` items to train on and the others to test on; or with None, a split for each fold."""
    if training is not None:
        return [(np.arange(training), np.arange(training, len(labels)))]
    fold = stratified_folds(items, np.unique(labels, return_inverse=True)[1])
    return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(FOLDS)]


def stratified_folds(items: Sequence[Hashable], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fold of each item (items,): stratified by class, in a fixed random order; equal items share a fold."""
    # backwards, so that the first of equal items is the one that remains
    first_of = {item: number for number, item in reversed(list(enumerate(items)))}
    first = np.array([first_of[item] for item in items], dtype=np.int64)
    distinct = np.flatnonzero(first == np.arange(len(first)))
    order = distinct[np.random.default_rng(SEED).permutation(len(distinct))]
    # a stable sort keeps the random order within a class; dealing out every fifth item then balances the classes
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(first), np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold[first]
