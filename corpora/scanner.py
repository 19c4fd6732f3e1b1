"""The compiled scanner: splits UTF-8 text into tokens, lower-cases them, and assigns each distinct one a raw id.

A state machine finds the tokens: a table has its move for each state and class of code points (see `word_break`). In a
state from HELD on, the end of the token, such as the apostrophe of "don't", belongs to it only if a letter follows;
the scanner keeps where the token ends otherwise.

Words are looked up by a 32-bit hash in an open-addressing table. The bytes of a token are written to the free end of
the arena of all words while they are scanned. If the word is known, the space is reused; a token that is cut by the
end of a block waits there for its rest.
"""

from typing import Any

import numpy as np

from embeddings.corpora.characters import PAIR
from embeddings.corpora.word_break import CLASS_BITS, FINISH, HELD, HOLD, NOTHING, SKIP, SPACE, STATE_MASK
from embeddings.kernels.jit import entry_point, inline

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

# indices of `state`, an int64 array that is kept from block to block
(
    N_TYPES,  # distinct words so far
    ARENA_END,  # start of the free space in the arena
    PENDING_SIZE,  # bytes of the unfinished token that waits there
    PENDING_HASH,  # and its hash
    LINE_IS_BLANK,  # the line has only white space so far
    DOCUMENT_IS_DUE,  # the next line that is not blank starts a document
    LINE_IS_OPEN,  # the text so far does not end with a line end
    ITEM_LINE,  # the first line of the current item
    N_TOKENS,  # so far
    N_LINES,  # complete so far
    N_IDS,  # written to `out` for this block; likewise:
    N_ENDS,
    N_STARTS,
    SHIFT,  # from a 32-bit hash to a slot
    SEED,  # the hash of an empty token
    TOO_LONG,  # a token was longer than MAX_TOKEN
    N_RAW,  # raw ids assigned so far; more than N_TYPES after words were pruned
    MAX_TYPES,  # the scanner stops when there are more types, so that the table can be pruned
    RESUME_PART,  # then it resumes in this part
    RESUME_BYTE,  # at this byte
    MACHINE,  # the state of the machine that finds tokens
    HELD_SIZE,  # bytes of the unfinished token up to where it ends if nothing continues it
    HELD_HASH,  # and their hash
) = range(23)
STATE_SIZE = 23
# columns of a word's record: hash | raw id << 32, start in the arena, occurrences
HASH_AND_RAW, START, COUNT = range(3)
RAW_SHIFT = 32
# kinds of text: in files blank lines separate documents; each item is one document
FILES, ITEMS = range(2)

MAX_TOKEN = 1 << 20  # bytes of a token
FNV_PRIME = 16777619
LOW_32 = 0xFFFFFFFF
HASH_MULTIPLIER = 0x5E3779B1
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
def fnv_step(hash_code: Int, byte: Int) -> Int:
    """One step of 32-bit FNV-1a (Fowler, Noll and Vo), which cannot overflow int64."""
    return (hash_code ^ byte) * FNV_PRIME & LOW_32


@inline
def write_utf8(arena: Array, end: Int, hash_code: Int, point: Int) -> tuple[Int, Int]:
    """Write a code point as UTF-8 at `end` of the arena; returns the new end and hash."""
    if point < 0x80:
        arena[end] = point
        return end + 1, fnv_step(hash_code, point)
    if point < 0x800:
        width, byte = 2, 0xC0 | point >> 6
    elif point < 0x10000:
        width, byte = 3, 0xE0 | point >> 12
    else:
        width, byte = 4, 0xF0 | point >> 18
    for k in range(width):
        arena[end + k] = byte
        hash_code = fnv_step(hash_code, byte)
        byte = 0x80 | point >> 6 * (width - 2 - k) & 0x3F if k + 1 < width else 0
    return end + width, hash_code


@inline
def append_code_point(arena: Array, end: Int, hash_code: Int, points: Int) -> tuple[Int, Int]:
    """Append one code point, or two (first | second << PAIR), to the token."""
    if points < 0x80:
        arena[end] = points
        return end + 1, fnv_step(hash_code, points)
    end, hash_code = write_utf8(arena, end, hash_code, points & CODE_POINT_MASK)
    if points > CODE_POINT_MASK:
        end, hash_code = write_utf8(arena, end, hash_code, points >> PAIR)
    return end, hash_code


@inline
def equal_bytes(arena: Array, one: Int, other: Int, length: Int) -> bool:
    """Whether two strings in the arena are equal."""
    for k in range(length):  # noqa: SIM110 - all() does not compile
        if arena[one + k] != arena[other + k]:
            return False
    return True


@inline
def intern(table: Any, state: Array, length: Int, hash_code: Int) -> Int:
    """Count the token of `length` bytes at the arena's end and return its raw id; a new word stays in the arena."""
    slots, records, arena = table
    start = state[ARENA_END]
    last = slots.shape[0] - 1
    slot = (hash_code * HASH_MULTIPLIER & LOW_32) >> state[SHIFT]
    word = slots[slot]
    while word >= 0:
        record = records[word]
        same_length = records[word + 1, START] - record[START] == length
        if (
            same_length
            and record[HASH_AND_RAW] & LOW_32 == hash_code
            and equal_bytes(arena, record[START], start, length)
        ):
            record[COUNT] += 1
            return record[HASH_AND_RAW] >> RAW_SHIFT
        slot = (slot + 1) & last
        word = slots[slot]
    word, raw = state[N_TYPES], state[N_RAW]
    slots[slot] = word
    records[word, HASH_AND_RAW] = hash_code | raw << RAW_SHIFT
    records[word, COUNT] = 1
    records[word + 1, START] = start + length
    state[N_TYPES] = word + 1
    state[N_RAW] = raw + 1
    state[ARENA_END] = start + length
    return raw


@inline
def end_token(table: Any, out: Any, state: Array, end: Int, hash_code: Int) -> None:
    """Write the id of the token that ends at `end`, if it is not empty."""
    length = end - state[ARENA_END]
    if length > 0:
        if length > MAX_TOKEN:
            state[TOO_LONG] = 1
        out[0][state[N_IDS]] = intern(table, state, length, hash_code)
        state[N_IDS] += 1
        state[N_TOKENS] += 1
        state[LINE_IS_BLANK] = 0


@inline
def finish_token(table: Any, out: Any, state: Array, end: Int, hash_code: Int) -> tuple[Int, Int]:
    """End the token at `end`; returns the start and hash of the next, empty token."""
    end_token(table, out, state, end, hash_code)
    return state[ARENA_END], state[SEED]


@inline
def token_end(machine: Int, token: tuple[Int, Int], held: tuple[Int, Int]) -> tuple[Int, Int]:
    """Return the end and hash of a token that nothing continues."""
    if machine >= HELD:
        return held
    return token


@inline
def save_position(state: Array, token: tuple[Int, Int], held: tuple[Int, Int], machine: Int, place: Any) -> None:
    """Save the unfinished token, the state of the machine, and the part and byte at which to resume."""
    state[PENDING_SIZE], state[PENDING_HASH] = token[0] - state[ARENA_END], token[1]
    state[HELD_SIZE], state[HELD_HASH] = held[0] - state[ARENA_END], held[1]
    state[MACHINE] = machine
    part, byte = place
    state[RESUME_PART], state[RESUME_BYTE] = part, byte


@inline
def end_line(out: Any, state: Array, kind: Int) -> None:
    """Write the end of a line and, in a file, the start of a document if the line starts one."""
    if kind == FILES and state[LINE_IS_BLANK]:
        state[DOCUMENT_IS_DUE] = 1
    elif kind == FILES and state[DOCUMENT_IS_DUE]:
        start_document(out, state)
    out[1][state[N_ENDS]] = state[N_TOKENS]
    state[N_ENDS] += 1
    state[N_LINES] += 1
    state[LINE_IS_BLANK] = 1
    state[LINE_IS_OPEN] = 0


@inline
def start_document(out: Any, state: Array) -> None:
    """Write the start of a document at the current line."""
    out[2][state[N_STARTS]] = state[N_LINES]
    state[N_STARTS] += 1
    state[ITEM_LINE] = state[N_LINES]
    state[DOCUMENT_IS_DUE] = 0


@inline
def skip_code_point(out: Any, state: Array, kind: Int, point: Int, character_class: Int) -> None:
    """Handle a code point outside of tokens."""
    if point == 10:
        end_line(out, state, kind)
    elif character_class != SPACE:
        state[LINE_IS_BLANK] = 0


@inline
def start_part(out: Any, state: Array, kind: Int) -> None:
    """Start a document with each item, unless the item continues from the last block."""
    if kind == ITEMS and state[DOCUMENT_IS_DUE]:
        start_document(out, state)


@inline
def end_part(out: Any, state: Array, kind: Int) -> None:
    """End the last line of a file or item if it has no line end; an empty item is one empty line."""
    if state[LINE_IS_OPEN] or (kind == ITEMS and state[N_LINES] == state[ITEM_LINE]):
        end_line(out, state, kind)
    state[DOCUMENT_IS_DUE] = 1


@entry_point
def scan(
    text: Array, parts: Array, characters: Any, table: Any, out: Any, state: Array, mode: tuple[Int, bool]
) -> bool:
    """Encode a block of valid UTF-8 from the position in `state`; returns whether it stopped for too many types.

    parts: the end of each file or item in the text. mode: FILES or ITEMS, and whether the last part ends with the block
    or continues in the next one. Updates in place: `table` (slots, records and arena of the words), `out` (ids; line
    ends, in tokens; document starts, in lines) and `state`.
    """
    classes, lower, moves = characters
    arena, max_types = table[2], state[MAX_TYPES]
    kind, is_complete = mode
    end, hash_code, machine = state[ARENA_END] + state[PENDING_SIZE], state[PENDING_HASH], state[MACHINE]
    held_end, held_hash = state[ARENA_END] + state[HELD_SIZE], state[HELD_HASH]
    i = state[RESUME_BYTE]
    for part in range(state[RESUME_PART], parts.shape[0]):
        stop = parts[part]
        start_part(out, state, kind)
        while i < stop:
            point, width = code_point(text, i, np.int64(text[i]))
            i += width
            character_class = np.int64(classes[point])
            move = np.int64(moves[machine << CLASS_BITS | character_class])
            if move < HOLD:
                machine = move
                end, hash_code = append_code_point(arena, end, hash_code, np.int64(lower[point]))
                continue
            if move < FINISH:
                machine = move & STATE_MASK
                held_end, held_hash = end, hash_code
                end, hash_code = append_code_point(arena, end, hash_code, np.int64(lower[point]))
                continue
            end, hash_code = token_end(machine, (end, hash_code), (held_end, held_hash))
            machine = move & STATE_MASK
            end, hash_code = finish_token(table, out, state, end, hash_code)
            if move < SKIP:
                end, hash_code = append_code_point(arena, end, hash_code, np.int64(lower[point]))
            else:
                skip_code_point(out, state, kind, point, character_class)
            if state[N_TYPES] > max_types:
                save_position(state, (end, hash_code), (held_end, held_hash), machine, (part, i))
                return True
        if stop > (parts[part - 1] if part else 0):
            state[LINE_IS_OPEN] = text[stop - 1] != 10
        if is_complete or part + 1 < parts.shape[0]:
            end, hash_code = token_end(machine, (end, hash_code), (held_end, held_hash))
            machine = np.int64(NOTHING)
            end, hash_code = finish_token(table, out, state, end, hash_code)
            end_part(out, state, kind)
            if state[N_TYPES] > max_types:
                save_position(state, (end, hash_code), (held_end, held_hash), machine, (part + 1, i))
                return True
    save_position(state, (end, hash_code), (held_end, held_hash), machine, (0, 0))
    return False


@entry_point
def intern_all(text: Array, ends: Array, table: Any, ids: Array, state: Array) -> bool:
    """Write the raw id of each token to `ids`, from the position in `state`; returns whether there are too many types.

    ends: the end of each token in the text.
    """
    arena = table[2]
    i = state[RESUME_BYTE]
    for token in range(state[RESUME_PART], ends.shape[0]):
        end = state[ARENA_END]
        hash_code = state[SEED]
        length = ends[token] - i
        for k in range(length):
            arena[end + k] = text[i + k]
            hash_code = fnv_step(hash_code, np.int64(text[i + k]))
        ids[token] = intern(table, state, length, hash_code)
        i += length
        if state[N_TYPES] > state[MAX_TYPES]:
            state[RESUME_PART], state[RESUME_BYTE] = token + 1, i
            return True
    state[RESUME_PART], state[RESUME_BYTE] = 0, 0
    return False
