"""Tables by code point for the scanner: token characters, white space, and lower case."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.tokenizers import CharClassTokenizer

INSIDE = 1
SPACE = 2
FIRST = 4  # starts a token; never set together with INSIDE
PAIR = 21  # bits of a code point, by which the second of two is shifted
PAGE = 256
LIMITS = (0x80, 0x10000, 0x110000)  # ASCII, the Basic Multilingual Plane, all; each table is built on first use


class CharacterTables(NamedTuple):
    """Tables by code point, all of one length."""

    flags: NDArray[np.uint8]
    lower: NDArray[np.int32]  # one code point, or two: first | second << PAIR


def character_tables(tokenizer: CharClassTokenizer, case: str, data: bytes) -> CharacterTables:
    """Return tables that cover at least the code points in this valid UTF-8."""
    highest = 0 if data.isascii() else int(np.frombuffer(data, np.uint8).max())
    limit = LIMITS[0] if highest < 0x80 else LIMITS[1] if highest < 0xF0 else LIMITS[2]
    return CharacterTables(flags(tokenizer, limit), lower(limit) if case == "lower" else identity(limit))


@cache
def flags(tokenizer: CharClassTokenizer, limit: int) -> NDArray[np.uint8]:
    """Return INSIDE, SPACE and FIRST for each code point below `limit`; a line end is never part of a token."""

    def matches(rule: Callable[[str], bool]) -> NDArray[np.uint8]:
        return np.fromiter(map(rule, map(chr, range(limit))), np.uint8, limit)

    inside, first, space = matches(tokenizer.is_inside), matches(tokenizer.starts_token), matches(str.isspace)
    inside[ord("\n")] = 0
    first &= inside
    table: NDArray[np.uint8] = (inside - first) * INSIDE + first * FIRST + space * SPACE
    return table


@cache
def lower(limit: int) -> NDArray[np.int32]:
    """Return the lower case of each code point below `limit`, by itself."""
    table = identity(limit).copy()
    for start in range(0, limit, PAGE):
        page = "".join(map(chr, range(start, min(start + PAGE, limit))))
        if page.lower() != page:
            table[start : start + PAGE] = [pack(character.lower()) for character in page]
    return table


def pack(text: str) -> int:
    """Pack one or two code points into a number: first | second << PAIR."""
    first, *rest = map(ord, text)
    return first | (rest[0] << PAIR if rest else 0)


@cache
def identity(limit: int) -> NDArray[np.int32]:
    """Return each code point below `limit`."""
    return np.arange(limit, dtype=np.int32)
