"""Tables for the scanner: classes and lower case by code point, and the moves of its state machine."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.tokenizers import CharClassTokenizer, WordTokenizer
from embeddings.corpora.word_break import LETTER, SINGLE, SPACE, char_class_moves, table_limit, word_classes

PAIR = 21  # bits of a code point, by which the second of two is shifted
PAGE = 256

ScannedTokenizer = CharClassTokenizer | WordTokenizer


class CharacterTables(NamedTuple):
    """Tables by code point, both of one length, and moves by state and class."""

    classes: NDArray[np.uint8]
    lower: NDArray[np.int32]  # one code point, or two: first | second << PAIR
    moves: NDArray[np.uint8]


def character_tables(
    tokenizer: ScannedTokenizer, lower_case: Callable[[str], str] | None, data: bytes
) -> CharacterTables:
    """Return tables that cover at least the code points in this valid UTF-8.

    lower_case: a function that is called for each code point; None to keep the case.
    """
    limit = table_limit(data)
    lower_table = identity(limit) if lower_case is None else lower(limit, lower_case)
    if isinstance(tokenizer, WordTokenizer):
        return CharacterTables(word_classes(limit), lower_table, tokenizer.moves)
    return CharacterTables(char_classes(tokenizer, limit), lower_table, char_class_moves())


@cache
def char_classes(tokenizer: CharClassTokenizer, limit: int) -> NDArray[np.uint8]:
    """Return the class of each code point below `limit`; a line end is never part of a token."""

    def matches(rule: Callable[[str], bool]) -> NDArray[np.uint8]:
        return np.fromiter(map(rule, map(chr, range(limit))), np.uint8, limit)

    inside, first, space = matches(tokenizer.is_inside), matches(tokenizer.starts_token), matches(str.isspace)
    inside[ord("\n")] = 0
    first &= inside
    return np.where(first, SINGLE, np.where(inside, LETTER, space * SPACE)).astype(np.uint8)


@cache
def lower(limit: int, lower_case: Callable[[str], str] = str.lower) -> NDArray[np.int32]:
    """Return the lower case of each code point below `limit`, by itself."""
    table = identity(limit).copy()
    for start in range(0, limit, PAGE):
        page = "".join(map(chr, range(start, min(start + PAGE, limit))))
        if lower_case(page) != page:
            table[start : start + PAGE] = [pack(lower_case(character)) for character in page]
    return table


def pack(text: str) -> int:
    """Pack one or two code points into a number: first | second << PAIR."""
    first, *rest = map(ord, text)
    return first | (rest[0] << PAIR if rest else 0)


@cache
def identity(limit: int) -> NDArray[np.int32]:
    """Return each code point below `limit`."""
    return np.arange(limit, dtype=np.int32)
