"""The compiled pass over text: cuts tokens from UTF-8, lowers them, and gives each distinct one a raw id.

A word is looked up by a 32-bit hash in an open-addressing table. Its bytes are written straight to the free
end of the arena of all words as they are scanned: for a known word that end is simply used again, and a word
that is cut by the border of a block waits there for the rest of it.
"""

from typing import Any

import numpy as np

from embeddings.corpora.characters import FIRST, INSIDE, PAIR, SPACE
from embeddings.kernels.jit import kernel, piece

# numpy's in plain Python, machine ones when compiled
Array = Any
Int = Any

# state, an int64 array that lasts from block to block
(
    TYPES,  # distinct words so far
    END,  # where the arena is free
    LENGTH,  # bytes of the token that waits there
    HASH,  # its hash so far
    BLANK,  # nothing but white space in this line so far
    FRESH,  # the next line with anything in it starts a document
    OPEN,  # the text so far does not end with the end of a line
    OPENED,  # the line that the item started with
    TOKENS,  # so far
    LINES,  # ended so far
    IDS,  # put in `out` from this block; likewise:
    ENDS,
    STARTS,
    SHIFT,  # from a hash of 32 bits to a slot
    SEED,  # the hash of nothing
    TOO_LONG,  # a token was longer than LONGEST
    NUMBERED,  # raw ids given so far; more than TYPES once words were pruned
    MOST,  # with more types than this a pass stops, to go on when there is room
    PART,  # where it goes on: in this part,
    PLACE,  # at this byte
) = range(20)
STATES = 20
# columns of a word's record: hash | raw id << 32, start in the arena, occurrences
HASHED, START, COUNT = range(3)
RAW = 32
# kinds of text: blank lines part the documents of a file; an item is one document
FILE, ITEMS = range(2)

LONGEST = 1 << 20  # bytes of a token
PRIME = 16777619
LOW = 0xFFFFFFFF
MIX = 0x5E3779B1
CODE_POINT = (1 << PAIR) - 1


@piece
def code_point(text: Array, i: Int, lead: Int) -> tuple[Int, Int]:
    """The code point at `i` of a valid text, and its number of bytes."""
    if lead < 0x80:
        return lead, 1
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | np.int64(text[i + 1]) & 0x3F, 2
    middle = (np.int64(text[i + 1]) & 0x3F) << 6 | np.int64(text[i + 2]) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | middle, 3
    return (lead & 0x07) << 18 | middle << 6 | np.int64(text[i + 3]) & 0x3F, 4


@piece
def hashed(code: Int, byte: Int) -> Int:
    """One step of FNV-1a, 32 bits (Fowler, Noll and Vo); in int64 it cannot overflow."""
    return (code ^ byte) * PRIME & LOW


@piece
def write(arena: Array, at: Int, code: Int, point: Int) -> tuple[Int, Int]:
    """Put a code point above 0x7f as UTF-8 at `at`; gives the place behind it and the hash so far."""
    if point < 0x80:
        arena[at] = point
        return at + 1, hashed(code, point)
    if point < 0x800:
        width, byte = 2, 0xC0 | point >> 6
    elif point < 0x10000:
        width, byte = 3, 0xE0 | point >> 12
    else:
        width, byte = 4, 0xF0 | point >> 18
    for k in range(width):
        arena[at + k] = byte
        code = hashed(code, byte)
        byte = 0x80 | point >> 6 * (width - 2 - k) & 0x3F if k + 1 < width else 0
    return at + width, code


@piece
def append(arena: Array, at: Int, code: Int, points: Int) -> tuple[Int, Int]:
    """Put one code point, or two (first | second << PAIR), behind the token at `at`."""
    if points < 0x80:
        arena[at] = points
        return at + 1, hashed(code, points)
    at, code = write(arena, at, code, points & CODE_POINT)
    if points > CODE_POINT:
        at, code = write(arena, at, code, points >> PAIR)
    return at, code


@piece
def equal(arena: Array, one: Int, other: Int, length: Int) -> bool:
    """Whether the same bytes stand at both places."""
    for k in range(length):  # noqa: SIM110 - all() does not compile
        if arena[one + k] != arena[other + k]:
            return False
    return True


@piece
def intern(table: Any, state: Array, length: Int, code: Int) -> Int:
    """The raw id of the token of `length` bytes at the arena's end, counted; a new one is kept there."""
    slots, records, arena = table
    start = state[END]
    last = slots.shape[0] - 1
    slot = (code * MIX & LOW) >> state[SHIFT]
    word = slots[slot]
    while word >= 0:
        record = records[word]
        same_length = records[word + 1, START] - record[START] == length
        if same_length and record[HASHED] & LOW == code and equal(arena, record[START], start, length):
            record[COUNT] += 1
            return record[HASHED] >> RAW
        slot = (slot + 1) & last
        word = slots[slot]
    word, raw = state[TYPES], state[NUMBERED]
    slots[slot] = word
    records[word, HASHED] = code | raw << RAW
    records[word, COUNT] = 1
    records[word + 1, START] = start + length
    state[TYPES] = word + 1
    state[NUMBERED] = raw + 1
    state[END] = start + length
    return raw


@piece
def end_token(table: Any, out: Any, state: Array, at: Int, code: Int) -> None:
    """Give the token that reaches to `at` its id, if there is one."""
    length = at - state[END]
    if length > 0:
        if length > LONGEST:
            state[TOO_LONG] = 1
        out[0][state[IDS]] = intern(table, state, length, code)
        state[IDS] += 1
        state[TOKENS] += 1
        state[BLANK] = 0


@piece
def pause(table: Any, out: Any, state: Array, at: Int, code: Int) -> tuple[Int, Int]:
    """End the token that reaches to `at`; gives where the next one starts, and the hash of nothing."""
    end_token(table, out, state, at, code)
    return state[END], state[SEED]


@piece
def leave(state: Array, at: Int, code: Int, part: Int, place: Int) -> None:
    """Note the token that is not ended yet, and where to go on."""
    state[LENGTH], state[HASH] = at - state[END], code
    state[PART], state[PLACE] = part, place


@piece
def end_line(out: Any, state: Array, kind: Int) -> None:
    """Note where the line ends, and, in a file, whether it starts a document."""
    if kind == FILE and state[BLANK]:
        state[FRESH] = 1
    elif kind == FILE and state[FRESH]:
        start_document(out, state)
    out[1][state[ENDS]] = state[TOKENS]
    state[ENDS] += 1
    state[LINES] += 1
    state[BLANK] = 1
    state[OPEN] = 0


@piece
def start_document(out: Any, state: Array) -> None:
    """Note that a document starts with this line."""
    out[2][state[STARTS]] = state[LINES]
    state[STARTS] += 1
    state[OPENED] = state[LINES]
    state[FRESH] = 0


@piece
def between(out: Any, state: Array, kind: Int, point: Int, flag: Int) -> None:
    """Take in a code point that is in no token."""
    if point == 10:
        end_line(out, state, kind)
    elif not flag & SPACE:
        state[BLANK] = 0


@piece
def start_part(out: Any, state: Array, kind: Int) -> None:
    """Start a document with an item, unless it goes on from the last block."""
    if kind == ITEMS and state[FRESH]:
        start_document(out, state)


@piece
def end_part(out: Any, state: Array, kind: Int) -> None:
    """End the last line of a file or item, if it has no end of its own; an empty item is one empty line."""
    if state[OPEN] or (kind == ITEMS and state[LINES] == state[OPENED]):
        end_line(out, state, kind)
    state[FRESH] = 1


@kernel
def scan(
    text: Array, parts: Array, characters: Any, table: Any, out: Any, state: Array, mode: tuple[Int, bool]
) -> bool:
    """Encode a block of valid UTF-8, from where `state` says; gives whether it stopped for too many types.

    parts: where each file or item in the text ends. mode: FILE or ITEMS, and whether the last part ends here
    too or goes on in the next block. Changes in place: `table` (slots, records and arena of the words), `out`
    (ids; line ends, in tokens; document starts, in lines) and `state`.
    """
    flags, lower = characters
    arena, most = table[2], state[MOST]
    kind, closed = mode
    at, code = state[END] + state[LENGTH], state[HASH]
    i = state[PLACE]
    for part in range(state[PART], parts.shape[0]):
        stop = parts[part]
        start_part(out, state, kind)
        while i < stop:
            point, width = code_point(text, i, np.int64(text[i]))
            i += width
            flag = flags[point]
            if flag & INSIDE:
                at, code = append(arena, at, code, np.int64(lower[point]))
                continue
            at, code = pause(table, out, state, at, code)
            if flag & FIRST:
                at, code = append(arena, at, code, np.int64(lower[point]))
            else:
                between(out, state, kind, point, flag)
            if state[TYPES] > most:
                leave(state, at, code, part, i)
                return True
        if stop > (parts[part - 1] if part else 0):
            state[OPEN] = text[stop - 1] != 10
        if closed or part + 1 < parts.shape[0]:
            at, code = pause(table, out, state, at, code)
            end_part(out, state, kind)
            if state[TYPES] > most:
                leave(state, at, code, part + 1, i)
                return True
    leave(state, at, code, 0, 0)
    return False


@kernel
def intern_all(text: Array, ends: Array, table: Any, ids: Array, state: Array) -> bool:
    """Put the raw id of each token in `ids`, from where `state` says; gives whether it stopped for too many types.

    ends: where each token ends in the text.
    """
    arena = table[2]
    i = state[PLACE]
    for token in range(state[PART], ends.shape[0]):
        at = state[END]
        code = state[SEED]
        length = ends[token] - i
        for k in range(length):
            arena[at + k] = text[i + k]
            code = hashed(code, np.int64(text[i + k]))
        ids[token] = intern(table, state, length, code)
        i += length
        if state[TYPES] > state[MOST]:
            state[PART], state[PLACE] = token + 1, i
            return True
    state[PART], state[PLACE] = 0, 0
    return False
