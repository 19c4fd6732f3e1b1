"""The compiled scanner: splits UTF-8 text into tokens, lower-cases them, and assigns each distinct one a raw id.

A state machine finds the tokens: a table has its move for each state and class of code points (see `word_break`). In a
state from HELD on, the end of the token, such as the apostrophe of "don't", belongs to it only if a letter follows;
the scanner keeps where the token ends otherwise. Runs of ASCII words bypass the machine (see `ascii_words`).

The bytes of a token are written to the free end of the arena of all words (see `word_lookup`) while they are scanned.
If the word is known, the space is reused; a token that is cut by the end of a block waits there for its rest.
"""

from typing import Any

import numpy as np

from embeddings.corpora.ascii_words import scan_ascii
from embeddings.corpora.characters import CHANGES, CLASS_MASK, PAIR, STARTS_ASCII
from embeddings.corpora.line_boundaries import LINE_FEED, end_part, skip_code_point, start_part
from embeddings.corpora.scan_state import (
    ARENA_END,
    HELD_SIZE,
    LINE_IS_OPEN,
    MACHINE,
    MAX_TOKEN,
    PENDING_SIZE,
    RESUME_BYTE,
    RESUME_PART,
    TOO_LONG,
)
from embeddings.corpora.word_break import CLASS_BITS, FINISH, HELD, HOLD, NOTHING, SKIP, STATE_MASK
from embeddings.corpora.word_lookup import add_token, has_too_many_types, is_batch_full, look_up
from embeddings.kernels.jit import entry_point, inline

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

CODE_POINT_MASK = (1 << PAIR) - 1


@inline
def code_point(text: Array, i: Int, lead: Int) -> tuple[Int, Int]:
    """Decode the code point at `i` of valid UTF-8; returns it with its number of bytes."""
    if lead < 0x80:
        return lead, 1
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | np.int64(text[i + 1]) & 0x3F, 2
    middle = (np.int64(text[i + 1]) & 0x3F) << 6 | np.int64(text[i + 2]) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | middle, 3
    return (lead & 0x07) << 18 | middle << 6 | np.int64(text[i + 3]) & 0x3F, 4


@inline
def write_code_point(arena: Array, end: Int, point: Int) -> Int:
    """Write a code point as UTF-8 at `end` of the arena; returns the new end."""
    if point < 0x80:
        arena[end] = point
        return end + 1
    if point < 0x800:
        arena[end] = 0xC0 | point >> 6
        arena[end + 1] = 0x80 | point & 0x3F
        return end + 2
    if point < 0x10000:
        arena[end] = 0xE0 | point >> 12
        arena[end + 1] = 0x80 | point >> 6 & 0x3F
        arena[end + 2] = 0x80 | point & 0x3F
        return end + 3
    arena[end] = 0xF0 | point >> 18
    arena[end + 1] = 0x80 | point >> 12 & 0x3F
    arena[end + 2] = 0x80 | point >> 6 & 0x3F
    arena[end + 3] = 0x80 | point & 0x3F
    return end + 4


@inline
def append_lower(arena: Array, end: Int, lower: Array, point: Int, character_class: Int) -> Int:
    """Append a code point, converted to lower case, to a token; returns the new end."""
    if character_class & CHANGES:
        points = np.int64(lower[point])
        point = points & CODE_POINT_MASK
        if points > CODE_POINT_MASK:
            end, point = write_code_point(arena, end, point), points >> PAIR
    return write_code_point(arena, end, point)


@inline
def end_token(table: Any, out: Any, state: Array, start: Int, end: Int) -> Int:
    """Add a token to the batch, if it is not empty; returns where the free part of the arena starts then."""
    if end > start:
        if end - start > MAX_TOKEN:
            state[TOO_LONG] = 1
        add_token(table, out, state, start, end)
        if is_batch_full(state):
            look_up(table, out[0], out[3], state)
            return state[ARENA_END]
    return end


@inline
def save_token(arena: Array, state: Array, machine: Int, start: Int, end: Int, held: Int) -> None:
    """Move the unfinished token to the end of the arena, and save where it ends, and the state of the machine."""
    state[MACHINE] = machine
    state[PENDING_SIZE], state[HELD_SIZE] = end - start, held - start
    if start > state[ARENA_END]:
        for k in range(end - start):
            arena[state[ARENA_END] + k] = arena[start + k]


@inline
def scan_part(text: Array, i: Int, stop: Int, characters: Any, table: Any, out: Any, state: Array, kind: Int) -> Int:
    """Encode text from byte `i` up to `stop`, or until there are too many types; returns where it stops."""
    classes, lower, moves, byte_tables = characters
    arena, machine, start = table[2], state[MACHINE], state[ARENA_END]
    end, held, blocked = start + state[PENDING_SIZE], start + state[HELD_SIZE], np.int64(-1)
    while i < stop:
        point, width = code_point(text, i, np.int64(text[i]))
        character_class = np.int64(classes[point])
        move = np.int64(moves[machine << CLASS_BITS | character_class & CLASS_MASK])
        if move >= FINISH:
            if machine != NOTHING:
                start = end_token(table, out, state, start, held if machine >= HELD else end)
                machine, end = np.int64(NOTHING), start
                if has_too_many_types(state):
                    break
            if character_class & STARTS_ASCII and i != blocked:
                i, start = scan_ascii(text, i, stop, start, byte_tables, table, out, state)
                blocked = i
                if is_batch_full(state):
                    look_up(table, out[0], out[3], state)
                    start, blocked = state[ARENA_END], np.int64(-1)
                    if has_too_many_types(state):
                        end = start
                        break
                end = start
                continue
            if move >= SKIP:
                i += width
                skip_code_point(out, state, kind, point, character_class & CLASS_MASK)
                continue
        elif move >= HOLD:
            held = end
        i += width
        machine = move & STATE_MASK
        end = append_lower(arena, end, lower, point, character_class)
    look_up(table, out[0], out[3], state)
    save_token(arena, state, machine, start, end, held)
    return i


@entry_point
def scan(
    text: Array, parts: Array, characters: Any, table: Any, out: Any, state: Array, mode: tuple[Int, bool]
) -> bool:
    """Encode a block of valid UTF-8 from the position in `state`; returns whether it stopped for too many types.

    parts: the end of each file or item in the text. mode: FILES or ITEMS, and whether the last part ends with the block
    or continues in the next one. Updates in place: `table` (slots, records and arena of the words), `out` (ids; line
    ends, in tokens; document starts, in lines; room for a batch of tokens) and `state`.
    """
    kind, is_complete = mode
    i = state[RESUME_BYTE]
    for part in range(state[RESUME_PART], parts.shape[0]):
        stop = parts[part]
        start_part(out, state, kind)
        i = scan_part(text, i, stop, characters, table, out, state, kind)
        state[RESUME_PART], state[RESUME_BYTE] = part, i
        if has_too_many_types(state):
            return True
        if stop > (parts[part - 1] if part else 0):
            state[LINE_IS_OPEN] = text[stop - 1] != LINE_FEED
        if is_complete or part + 1 < parts.shape[0]:
            start, size = state[ARENA_END], state[HELD_SIZE] if state[MACHINE] >= HELD else state[PENDING_SIZE]
            end_token(table, out, state, start, start + size)
            look_up(table, out[0], out[3], state)
            state[MACHINE], state[PENDING_SIZE], state[HELD_SIZE] = NOTHING, 0, 0
            end_part(out, state, kind)
            state[RESUME_PART] = part + 1
            if has_too_many_types(state):
                return True
    state[RESUME_PART], state[RESUME_BYTE] = 0, 0
    return False


@entry_point
def intern_all(text: Array, ends: Array, table: Any, out: Any, state: Array) -> bool:
    """Write the raw id of each token to `out`, from the position in `state`; returns whether there are too many types.

    ends: the end of each token in the text.
    """
    arena, start = table[2], state[ARENA_END]
    i = state[RESUME_BYTE]
    for token in range(state[RESUME_PART], ends.shape[0]):
        end = start + ends[token] - i
        for k in range(end - start):
            arena[start + k] = text[i + k]
        add_token(table, out, state, start, end)
        i, start = ends[token], end
        if is_batch_full(state) or token + 1 == ends.shape[0]:
            look_up(table, out[0], out[3], state)
            start = state[ARENA_END]
            if has_too_many_types(state):
                state[RESUME_PART], state[RESUME_BYTE] = token + 1, i
                return True
    state[RESUME_PART], state[RESUME_BYTE] = 0, 0
    return False
