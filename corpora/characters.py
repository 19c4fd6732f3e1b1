"""What the scanner knows of each code point: its part in tokens, white space or not, its lower case."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.tokenizers import Runs

INSIDE = 1
SPACE = 2
FIRST = 4  # a token starts with it: never INSIDE at once
PAIR = 21  # bits of a code point; the second of two stands above them
PAGE = 256
LIMITS = (0x80, 0x10000, 0x110000)  # ASCII, the basic plane, everything: built when first met


class Characters(NamedTuple):
    """Tables by code point, all of one length."""

    flags: NDArray[np.uint8]
    lower: NDArray[np.int32]  # the code point to write, or two: first | second << PAIR


def characters(tokenizer: Runs, case: str, data: bytes) -> Characters:
    """Tables that reach at least as far as the code points in this valid UTF-8."""
    highest = 0 if data.isascii() else int(np.frombuffer(data, np.uint8).max())
    limit = LIMITS[0] if highest < 0x80 else LIMITS[1] if highest < 0xF0 else LIMITS[2]
    return Characters(flags(tokenizer, limit), lower(limit) if case == "lower" else same(limit))


@cache
def flags(tokenizer: Runs, limit: int) -> NDArray[np.uint8]:
    """INSIDE, SPACE and FIRST for each code point below `limit`; the end of a line is in no token."""

    def where(rule: Callable[[str], bool]) -> NDArray[np.uint8]:
        return np.fromiter(map(rule, map(chr, range(limit))), np.uint8, limit)

    inside, first, space = where(tokenizer.inside), where(tokenizer.first), where(str.isspace)
    inside[ord("\n")] = 0
    first &= inside
    table: NDArray[np.uint8] = (inside - first) * INSIDE + first * FIRST + space * SPACE
    return table


@cache
def lower(limit: int) -> NDArray[np.int32]:
    """The lower case of each code point below `limit` by itself, as `str.lower` gives it."""
    table = same(limit).copy()
    for start in range(0, limit, PAGE):
        page = "".join(map(chr, range(start, min(start + PAGE, limit))))
        if page.lower() != page:
            table[start : start + PAGE] = [packed(character.lower()) for character in page]
    return table


def packed(text: str) -> int:
    """One or two code points as one number: first | second << PAIR."""
    first, *rest = map(ord, text)
    return first | (rest[0] << PAIR if rest else 0)


@cache
def same(limit: int) -> NDArray[np.int32]:
    """Each code point as it is."""
    return np.arange(limit, dtype=np.int32)
