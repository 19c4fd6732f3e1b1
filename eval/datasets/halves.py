"""The dev and test halves of test sets: a fixed hash of an item decides, so that what selects a model never reports it.

The words of an item (the two words of a pair, the four of an analogy question, the text with a label) are normalised:
white space becomes one space, Unicode becomes NFC, case is folded, and NFC is applied again. They are sorted by code
point and joined by line feeds. The item is in the dev half if the first byte of the SHA-256 digest of this string in
UTF-8 is even, and else in the test half. So the order of items and of the words in an item does not matter.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from embeddings.corpora.reading.labelled_texts import LabelledTexts
from embeddings.errors import FormatError
from embeddings.settings import check_value

Half = Literal["dev", "test", "all"]
DEV, TEST, ALL = "dev", "test", "all"
HALVES = (DEV, TEST, ALL)


def half_of(words: Iterable[str]) -> str:
    """The half of an item, "dev" or "test"; see the module."""
    digest = sha256("\n".join(sorted(map(normalize_item, words))).encode("utf-8", "surrogatepass")).digest()
    return TEST if digest[0] % 2 else DEV


def normalize_item(text: str) -> str:
    """A word or text as it is hashed."""
    folded = unicodedata.normalize("NFC", " ".join(text.split())).casefold()
    return unicodedata.normalize("NFC", folded)


def check_half(half: Any) -> str:
    """The name of a half, or "all"; raises SettingError for other values."""
    name: str = check_value("half", half, Half, {})
    return name


def rows_of_half(items: Iterable[Iterable[str]], half: str, name: str) -> list[int]:
    """The numbers of the items in a half.

    Raises:
        FormatError: there are none.
    """
    rows = [row for row, words in enumerate(items) if half in (ALL, half_of(words))]
    if not rows:
        raise FormatError(f"no item of {name} is in the {half} half; use a larger set")
    return rows


def select_texts(batch: LabelledTexts, half: str) -> LabelledTexts:
    """The texts of a batch that are in a half, which may be none."""
    texts = [batch.data[begin:end] for begin, end in pairwise(batch.starts.tolist())]
    rows = [row for row, text in enumerate(texts) if half in (ALL, half_of([text.decode("utf-8", "replace")]))]
    labels = [batch.labels_of(row) for row in rows]
    return replace(
        batch,
        data=b"".join(texts[row] for row in rows),
        starts=np.cumsum([0, *(len(texts[row]) for row in rows)]),
        labels=[label for one in labels for label in one],
        label_starts=np.cumsum([0, *map(len, labels)]),
    )
