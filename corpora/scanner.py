"""The compiled scanner: splits UTF-8 text into tokens, lower-cases them, and assigns each distinct one a raw id.

A state machine finds the tokens: a table has its move for each state and class of code points (see `word_break`). In a
state from HELD on, the end of the token, such as the apostrophe of "don't", belongs to it only if a letter follows;
the scanner keeps where the token ends otherwise. Runs of ASCII words bypass the machine (see `ascii_words`).

The bytes of a token are written to the free end of the arena of all words (see `word_lookup`) while they are scanned.
If the word is known, the space is reused; a token that is cut by the end of a block waits there for its rest.
"""

from typing import Any

from llvmlite import ir
from numba import types

from embeddings.corpora.ascii_words import scan_ascii
from embeddings.corpora.characters import CHANGES, CLASS_MASK, PAIR, STARTS_ASCII
from embeddings.corpora.line_boundaries import LINE_FEED, end_part, skip_code_point, start_part
from embeddings.corpora.scan_state import (
    ARENA_END,
    BATCH_SIZE,
    HELD_SIZE,
    LINE_IS_OPEN,
    MACHINE,
    MAX_TOKEN,
    MAX_TYPES,
    N_BATCH,
    N_TYPES,
    PENDING_SIZE,
    RESUME_BYTE,
    RESUME_PART,
    TOO_LONG,
)
from embeddings.corpora.word_break import CLASS_BITS, FINISH, HELD, HOLD, NOTHING, SKIP, STATE_MASK
from embeddings.corpora.word_lookup import add_token, look_up, move_bytes
from embeddings.kernels.jit import entry_point, inline, intrinsic
from embeddings.kernels.vector_emitter import int64

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

CODE_POINT_MASK = (1 << PAIR) - 1
PAIR_MASK = (1 << 2 * PAIR) - 1  # integers of any size become int64 by it


@inline
def code_point(text: Array, i: Int, lead: Int) -> tuple[Int, Int]:
    """Decode the code point at `i` of valid UTF-8; returns it with its number of bytes."""
    if lead < 0x80:
        return lead, 1
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | text[i + 1] & 0x3F, 2
    middle = (text[i + 1] & 0x3F) << 6 | text[i + 2] & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | middle, 3
    return (lead & 0x07) << 18 | middle << 6 | text[i + 3] & 0x3F, 4


@intrinsic
def write_code_point(typingctx: Any, arena: Any, end: Any, point: Any) -> Any:
    """Write a code point as UTF-8 at `end` of the arena, and zeros up to 4 bytes; returns the new end."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        items = context.make_array(signature.args[0])(context, builder, args[0])
        point, encoded, width = args[2], args[2], int64(1)
        for size, first, mark in ((2, 0x80, 0xC0), (3, 0x800, 0xE0), (4, 0x10000, 0xF0)):
            number = builder.or_(builder.lshr(point, int64(6 * size - 6)), int64(mark))
            for k in range(1, size):
                bits = builder.and_(builder.lshr(point, int64(6 * (size - 1 - k))), int64(0x3F))
                number = builder.or_(number, builder.shl(builder.or_(bits, int64(0x80)), int64(8 * k)))
            is_longer = builder.icmp_signed(">=", point, int64(first))
            encoded, width = builder.select(is_longer, number, encoded), builder.select(is_longer, int64(size), width)
        place = builder.bitcast(builder.gep(items.data, [args[1]]), ir.IntType(32).as_pointer())
        builder.store(builder.trunc(encoded, ir.IntType(32)), place, align=1)
        return builder.add(args[1], width)

    return types.int64(arena, types.int64, types.int64), codegen


@inline
def append_lower(arena: Array, end: Int, lower: Array, point: Int, character_class: Int) -> Int:
    """Append a code point, converted to lower case, to a token; returns the new end."""
    if character_class & CHANGES:
        points = lower[point] & PAIR_MASK
        point = points & CODE_POINT_MASK
        if points > CODE_POINT_MASK:
            end, point = write_code_point(arena, end, point), points >> PAIR
    return write_code_point(arena, end, point)


@inline
def save_token(arena: Array, state: Array, machine: Int, start: Int, end: Int, held: Int) -> None:
    """Move the unfinished token to the end of the arena, and save where it ends, and the state of the machine."""
    state[MACHINE] = machine
    state[PENDING_SIZE], state[HELD_SIZE] = end - start, held - start
    move_bytes(arena, state[ARENA_END], start, end - start)


@inline
def scan_part(text: Array, i: Int, stop: Int, characters: Any, table: Any, out: Any, state: Array, mode: Any) -> Int:
    """Encode text from byte `i` up to `stop`, or until there are too many types; returns where it stops.

    mode: FILES or ITEMS, and whether the last token ends there.
    """
    classes, lower, moves, byte_table = characters
    arena, machine, start = table[2], state[MACHINE], state[ARENA_END]
    end, held, blocked = start + state[PENDING_SIZE], start + state[HELD_SIZE], -1
    while i < stop or (mode[1] and machine != NOTHING):
        point, width, character_class, move = 0, 0, 0, SKIP
        if i < stop:
            point, width = code_point(text, i, text[i] & 0xFF)
            character_class = classes[point] & 0xFF
            move = moves[machine << CLASS_BITS | character_class & CLASS_MASK] & 0xFF
        if move < FINISH:
            i += width
            machine, held = move & STATE_MASK, end if move >= HOLD else held
            end = append_lower(arena, end, lower, point, character_class)
            continue
        if machine != NOTHING:
            end = held if machine >= HELD else end
            state[TOO_LONG] |= end - start > MAX_TOKEN
            add_token(table[0], arena, state, start, end)
            machine, start = NOTHING, end
        elif character_class & STARTS_ASCII and i != blocked:
            i, start = scan_ascii(text, i, stop, start, byte_table, table[0], arena, state)
            blocked = i
        else:
            i += width
            machine, end = move & STATE_MASK, start
            if move < SKIP:
                end = append_lower(arena, end, lower, point, character_class)
            else:
                skip_code_point(out, state, mode[0], point, character_class & CLASS_MASK)
        if state[N_BATCH] >= state[BATCH_SIZE]:
            look_up(table, out[0], state)
            start, blocked = state[ARENA_END], -1
            if state[N_TYPES] > state[MAX_TYPES]:
                break
    look_up(table, out[0], state)
    save_token(arena, state, machine, start, end, held)
    return i


@entry_point
def scan(
    text: Array, parts: Array, characters: Any, table: Any, out: Any, state: Array, mode: tuple[Int, bool]
) -> bool:
    """Encode a block of valid UTF-8 from the position in `state`; returns whether it stopped for too many types.

    parts: the end of each file or item in the text. mode: FILES or ITEMS, and whether the last part ends with the block
    or continues in the next one. Updates in place: `table` (slots, records and arena of the words), `out` (ids; line
    ends, in tokens; document starts, in lines) and `state`.
    """
    kind, is_complete = mode
    i = state[RESUME_BYTE]
    for part in range(state[RESUME_PART], parts.shape[0]):
        stop, ends_here = parts[part], is_complete or part + 1 < parts.shape[0]
        start_part(out, state, kind)
        i = scan_part(text, i, stop, characters, table, out, state, (kind, ends_here))
        state[RESUME_PART], state[RESUME_BYTE] = part, i
        if state[N_TYPES] > state[MAX_TYPES]:
            return True
        if stop > (parts[part - 1] if part else 0):
            state[LINE_IS_OPEN] = text[stop - 1] != LINE_FEED
        if ends_here:
            end_part(out, state, kind)
    state[RESUME_PART], state[RESUME_BYTE] = 0, 0
    return False


@entry_point
def intern_all(text: Array, ends: Array, table: Any, ids: Array, state: Array) -> bool:
    """Write the raw id of each token to `ids`, from the position in `state`; returns whether there are too many types.

    ends: the end of each token in the text.
    """
    arena, start = table[2], state[ARENA_END]
    i = state[RESUME_BYTE]
    for token in range(state[RESUME_PART], ends.shape[0]):
        end = start + ends[token] - i
        for k in range(end - start):
            arena[start + k] = text[i + k]
        add_token(table[0], arena, state, start, end)
        i, start = ends[token], end
        if state[N_BATCH] >= state[BATCH_SIZE] or token + 1 == ends.shape[0]:
            look_up(table, ids, state)
            start = state[ARENA_END]
            if state[N_TYPES] > state[MAX_TYPES]:
                state[RESUME_PART], state[RESUME_BYTE] = token + 1, i
                return True
    state[RESUME_PART], state[RESUME_BYTE] = 0, 0
    return False
