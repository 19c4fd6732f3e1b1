"""Tables of the scanner: class and lower case of code points, moves of the state machine, and ASCII words."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import word_break
from embeddings.corpora.tokenizers import CharClassTokenizer, WordTokenizer, every_character, is_written, no_character

PAIR = 21  # bits of a code point, by which the second of two is shifted
PAGE = RANGES = 256
# flags in the table of classes: lower case differs; a word of ASCII may start, which is found without the state machine
CLASS_MASK = word_break.N_CLASSES - 1
CHANGES, STARTS_ASCII = word_break.N_CLASSES, 2 * word_break.N_CLASSES
# a table of bytes: JOINS for those that may join words of ASCII; then the first byte and the length of ranges of bytes
# of words, and of the capitals
JOINS, N_RANGES = 1, 3
ASCII = word_break.LIMITS[0]
TABLES = Lock()  # so that not several threads build the same table

ScannedTokenizer = CharClassTokenizer | WordTokenizer


@cache
def character_tables(
    tokenizer: ScannedTokenizer, lower_case: Callable[[str], str] | None, limit: int
) -> tuple[NDArray[Any], ...]:
    """Return tables that cover the code points below `limit`; call it with `TABLES` locked.

    These are the classes, uint8, and the lower case of code points, int32 (one, or two: first | second << PAIR); the
    moves of the state machine, uint8; and a table for ASCII words, uint8.

    lower_case: a function that is called for each code point; None to keep the case.
    """
    lower_table = identity(limit) if lower_case is None else lower(limit, lower_case)
    if isinstance(tokenizer, WordTokenizer):
        classes, moves = word_break.word_classes(limit), tokenizer.moves
    else:
        classes, moves = char_classes(tokenizer, limit), word_break.char_class_moves()
    flagged = classes | CHANGES * (lower_table != identity(limit)).astype(np.uint8)
    byte_table = ascii_table(classes[:ASCII], lower_table[:ASCII], moves.reshape(-1, word_break.N_CLASSES))
    for first, length in byte_table[RANGES:].reshape(-1, 2)[:N_RANGES].tolist():
        flagged[first : first + length] |= STARTS_ASCII
    return flagged, lower_table, moves, byte_table


def ascii_table(
    classes: NDArray[np.uint8], lower_table: NDArray[np.int32], moves: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Return the `byte_table` of ASCII words; its ranges are empty if only the state machine can find ASCII words.

    moves: by state and class.
    """
    table = np.zeros(RANGES + 2 * N_RANGES + 2, np.uint8)
    states = {
        kind: move & word_break.STATE_MASK
        for kind, move in enumerate(moves[word_break.NOTHING].tolist())
        if word_break.FINISH <= move < word_break.SKIP
    }
    inside = [
        kind for kind, state in states.items() if moves[state, kind] == word_break.APPEND | state and kind in classes
    ]
    is_inside = np.isin(classes, inside)
    others = np.unique(classes[~is_inside])
    after = moves[np.ix_(np.array([states[kind] for kind in inside], np.int64), others)]
    held = np.unique(after[(after >= word_break.HOLD) & (after < word_break.FINISH)]) & word_break.STATE_MASK
    edges = np.flatnonzero(np.diff(is_inside, prepend=False, append=False)).reshape(-1, 2)
    capitals = np.flatnonzero(lower_table != np.arange(ASCII))
    is_simple = (
        all(moves[states[one], other] == word_break.APPEND | states[other] for one in inside for other in inside)
        and (moves[np.ix_(np.append(held, word_break.NOTHING), others)] == word_break.SKIP | word_break.NOTHING).all()
        and (held >= word_break.HELD).all()
        and np.isin(after - after % word_break.N_STATES, (word_break.HOLD, word_break.SKIP)).all()
        and len(edges) <= N_RANGES
        and (not len(capitals) or bytes(lower_table.astype(np.uint8)) == bytes(range(ASCII)).lower())
    )
    if is_simple:
        table[RANGES : RANGES + edges.size] = np.stack([edges[:, 0], edges[:, 1] - edges[:, 0]], axis=1).ravel()
        table[-2:] = ord("A"), len(capitals)
        table[:ASCII] = JOINS * np.isin(classes, others[(after < word_break.SKIP).any(axis=0)])
    return table


@cache
def char_classes(tokenizer: CharClassTokenizer, limit: int) -> NDArray[np.uint8]:
    """Return the class of each code point below `limit`; a line end is never part of a token."""
    if tokenizer.is_inside is is_written:  # a million calls would take half a second
        classes = word_break.word_classes(limit)
        is_inside = (classes != word_break.SPACE) & ((classes != word_break.OUTSIDE) | (np.arange(limit) < ASCII))
        return np.where(is_inside, np.uint8(word_break.LETTER), classes)

    def matches(rule: Callable[[str], bool]) -> NDArray[np.uint8]:
        if rule in (no_character, every_character):
            return np.full(limit, rule is every_character, np.uint8)
        return np.fromiter(map(rule, map(chr, range(limit))), np.uint8, limit)

    inside, first, space = matches(tokenizer.is_inside), matches(tokenizer.starts_token), matches(str.isspace)
    inside[ord("\n")] = 0
    first &= inside
    others = np.where(inside, word_break.LETTER, space * word_break.SPACE)
    return np.where(first, word_break.SINGLE, others).astype(np.uint8)


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
