"""The compiled scanner: splits UTF-8 text into tokens, lower-cases them, and assigns each distinct one a raw id.

A state machine finds the tokens: a table has its move for each state and class of code points (see `word_break`). In a
state from HELD on, the end of the token, such as the apostrophe of "don't", belongs to it only if a letter follows;
the scanner keeps where the token ends otherwise. Runs of ASCII words bypass the machine.

The bytes of a token are written to the free end of the arena of all words while they are scanned.
If the word is known, the space is reused; a token that is cut by the end of a block waits there for its rest.

The bytes of all words are in one array, the arena. Words are read from it eight bytes at a time, so that there must be
`SLACK` bytes after the last one.

Tokens are looked up in batches: the memory that they need is requested for all of them before the first one is looked
up. Until then their bytes stand in the free part of the arena, in the order of the text.

In a file blank lines separate documents; each item, such as a row of a table, is one document.

Most ASCII words end before a byte after which the machine always returns to its first state, such as a space. Vector
instructions find where the words of a window of 64 bytes start and end, as bits of an integer.
"""

from functools import reduce
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.compilation.checked_build import IS_CHECKED, require
from embeddings.compilation.jit import entry_point, inline, intrinsic, noinline
from embeddings.compilation.vector_emitter import INT64, int64
from embeddings.corpora.scanner_tables import CHANGES, CLASS_MASK, JOINS, N_RANGES, PAIR, RANGES, STARTS_ASCII
from embeddings.corpora.word_break import CLASS_BITS, FINISH, HELD, HOLD, NOTHING, SKIP, SPACE, STATE_MASK
from embeddings.kernels.word_bytes import WORD_BYTES

(
    N_TYPES,  # distinct words so far
    ARENA_END,  # start of the free space in the arena
    PENDING_SIZE,  # bytes of the unfinished token that waits there
    HELD_SIZE,  # and of it up to where it ends if nothing continues it
    MACHINE,  # the state of the machine that finds tokens
    LINE_IS_BLANK,  # the line has only white space so far
    DOCUMENT_IS_DUE,  # the next line that is not blank starts a document
    LINE_IS_OPEN,  # the text so far does not end with a line end
    ITEM_LINE,  # the first line of the current item
    N_TOKENS,  # so far, those of the batch included
    N_LINES,  # complete so far
    BATCH_SIZE,  # tokens to be looked up together
    N_BATCH,  # tokens that wait for it
    N_IDS,  # written to `out` for this block; likewise:
    N_ENDS,
    N_STARTS,
    SHIFT,  # from a 32-bit hash to a slot
    SEED,  # of hashes, an odd number
    TOO_LONG,  # a token was longer than MAX_TOKEN
    N_RAW,  # raw ids assigned so far; more than N_TYPES after words were pruned
    MAX_TYPES,  # the scanner stops when there are more types, so that the table can be pruned
    RESUME_PART,  # then it resumes in this part
    RESUME_BYTE,  # at this byte
) = range(23)
BATCH = 23  # start of the tokens of the batch: for each its start in the arena, length and hash
BATCH_COLUMNS, MAX_BATCH = 3, 32
STATE_SIZE = BATCH + BATCH_COLUMNS * MAX_BATCH
# kinds of text: in files blank lines separate documents; each item is one document
FILES, ITEMS = range(2)
MAX_TOKEN = 1 << 20  # bytes of a token


Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

# columns of a word's record: hash | raw id << 32, start in the arena, occurrences, first 8 bytes
HASH_AND_RAW, START, COUNT, PREFIX = range(4)
N_COLUMNS = 4
RAW_SHIFT = 32
LOW_32 = 0xFFFFFFFF
SLACK = WORD_BYTES - 1


@intrinsic
def prefetch_item(typingctx: Any, array: Any, index: Any) -> Any:
    """Request the cache line of `array[index]`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        items = context.make_array(signature.args[0])(context, builder, args[0])
        offset = builder.mul(args[1], builder.extract_value(items.strides, 0))
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.inttoptr(builder.add(builder.ptrtoint(items.data, INT64), offset), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, *(ir.Constant(flag, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@intrinsic
def load_part(typingctx: Any, arena: Any, start: Any, length: Any) -> Any:
    """Load the first bytes of a word, at most 8, as a little-endian int64; zeros follow."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        items = context.make_array(signature.args[0])(context, builder, args[0])
        if IS_CHECKED:
            is_after = builder.icmp_signed(">=", args[1], int64(0))
            is_before = builder.icmp_signed("<=", builder.add(args[1], int64(WORD_BYTES)), items.nitems)
            require(context, builder, builder.and_(is_after, is_before), "a word exceeds the arena")
        place = builder.add(builder.ptrtoint(items.data, INT64), args[1])
        word = builder.load(builder.inttoptr(place, INT64.as_pointer()), align=1)
        above = builder.shl(int64(-1), builder.mul(args[2], int64(8)))
        part = builder.and_(word, builder.not_(above))
        return builder.select(builder.icmp_signed("<", args[2], int64(WORD_BYTES)), part, word)

    return types.int64(arena, types.int64, types.int64), codegen


@intrinsic
def move_bytes(typingctx: Any, arena: Any, to: Any, start: Any, length: Any) -> Any:
    """Move the bytes `arena[start:start + length]`; the places may overlap."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        items = context.make_array(signature.args[0])(context, builder, args[0])
        target, source = (builder.gep(items.data, [place]) for place in args[1:3])
        cgutils.raw_memmove(builder, target, source, args[3], 1)
        return context.get_dummy_value()

    return types.void(arena, types.int64, types.int64, types.int64), codegen


@inline
def hash_word(arena: Array, start: Int, length: Int, seed: Int) -> Int:
    """Return a 32-bit hash, the upper half of products with a random odd number (Dietzfelbinger et al. 1997)."""
    key = 0
    for at in range(0, length, WORD_BYTES):
        key = (key ^ load_part(arena, start + at, length - at)) * seed
        key ^= key >> 32 & LOW_32
    return key >> 32 & LOW_32


@inline
def equal_rest(arena: Array, one: Int, other: Int, length: Int) -> bool:
    """Whether two words in the arena of this length are equal after the first 8 bytes."""
    for at in range(WORD_BYTES, length, WORD_BYTES):
        if load_part(arena, one + at, length - at) != load_part(arena, other + at, length - at):
            return False
    return True


@inline
def add_token(slots: Array, arena: Array, state: Array, start: Int, end: Int) -> None:
    """Add the token `arena[start:end]` to the batch."""
    hash_code = hash_word(arena, start, end - start, state[SEED])
    prefetch_item(slots, hash_code >> state[SHIFT])
    token = BATCH + BATCH_COLUMNS * state[N_BATCH]
    state[token], state[token + 1], state[token + 2] = start, end - start, hash_code
    state[N_BATCH] += 1
    state[N_TOKENS] += 1
    state[LINE_IS_BLANK] = 0


@noinline
def look_up(table: Any, ids: Array, state: Array) -> None:
    """Write the raw ids of the tokens of the batch; the arena then ends with the last new word."""
    slots, records, arena = table
    shift, stop = state[SHIFT], BATCH + BATCH_COLUMNS * state[N_BATCH]
    for token in range(BATCH, stop, BATCH_COLUMNS):
        word = slots[state[token + 2] >> shift]
        if word >= 0:
            prefetch_item(records, word)
            prefetch_item(records, word + 1)
    for token in range(BATCH, stop, BATCH_COLUMNS):
        start, length, hash_code = state[token], state[token + 1], state[token + 2]
        prefix, slot = load_part(arena, start, length), hash_code >> shift
        word = slots[slot]
        while word >= 0 and not (
            records[word, PREFIX] == prefix
            and records[word, HASH_AND_RAW] & LOW_32 == hash_code
            and records[word + 1, START] - records[word, START] == length
            and equal_rest(arena, records[word, START], start, length)
        ):
            slot = (slot + 1) & (slots.shape[0] - 1)
            word = slots[slot]
        if word < 0:
            word = slots[slot] = state[N_TYPES]
            end, raw = state[ARENA_END], state[N_RAW]
            move_bytes(arena, end, start, length)
            records[word, HASH_AND_RAW], records[word, COUNT] = hash_code | raw << RAW_SHIFT, 0
            records[word, PREFIX], records[word + 1, START] = prefix, end + length
            state[N_TYPES], state[N_RAW], state[ARENA_END] = word + 1, raw + 1, end + length
        records[word, COUNT] += 1
        ids[state[N_IDS]] = records[word, HASH_AND_RAW] >> RAW_SHIFT
        state[N_IDS] += 1
    state[N_BATCH] = 0


LINE_FEED = 10


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
    if point == LINE_FEED:
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


WINDOW = 64
LAST_BIT = -1 << 63
VECTOR = ir.VectorType(ir.IntType(8), WINDOW)
SPACE_BYTE, LOWER_BIT = 32, 32


def constant(byte: int) -> Any:
    """Return a vector with this byte in every lane."""
    return ir.Constant(VECTOR, [byte] * WINDOW)


def broadcast(builder: Any, byte: Any) -> Any:
    """Return a vector with this byte in every lane."""
    first = builder.insert_element(constant(0), byte, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), WINDOW), [0] * WINDOW)
    return builder.shuffle_vector(first, first, lanes)


def vector_pointer(context: Any, builder: Any, array: Any, start: Any) -> Any:
    """Return a pointer to a vector in an array of bytes, from the byte `start` on."""
    if IS_CHECKED:
        is_after = builder.icmp_signed(">=", start, int64(0))
        is_before = builder.icmp_signed("<=", builder.add(start, int64(WINDOW)), array.nitems)
        require(context, builder, builder.and_(is_after, is_before), "a window exceeds its array")
    return builder.inttoptr(builder.add(builder.ptrtoint(array.data, INT64), start), VECTOR.as_pointer())


@intrinsic
def read_window(typingctx: Any, text: Any, start: Any, arena: Any, end: Any, byte_table: Any) -> Any:
    """Write `text[start:start + 64]` in lower case to the arena at `end`, and classify these bytes, one bit each.

    Returns int64: which bytes are of words, which not ASCII, which line feeds, and which line feeds or spaces.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        text, arena, byte_table = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2, 4))
        window = builder.load(vector_pointer(context, builder, text, args[1]), align=1)

        def in_range(number: int) -> Any:
            items = (builder.gep(byte_table.data, [int64(RANGES + 2 * number + i)]) for i in range(2))
            first, length = (broadcast(builder, builder.load(item)) for item in items)
            return builder.icmp_unsigned("<", builder.sub(window, first), length)

        lower = builder.select(in_range(N_RANGES), builder.or_(window, constant(LOWER_BIT)), window)
        builder.store(lower, vector_pointer(context, builder, arena, args[3]), align=1)
        words = reduce(builder.or_, map(in_range, range(N_RANGES)))
        foreign = builder.icmp_signed("<", window, constant(0))
        line_feeds = builder.icmp_unsigned("==", window, constant(LINE_FEED))
        separators = builder.or_(line_feeds, builder.icmp_unsigned("==", window, constant(SPACE_BYTE)))
        masks = [builder.bitcast(bits, INT64) for bits in (words, foreign, line_feeds, separators)]
        return cgutils.pack_array(builder, masks)

    return types.UniTuple(types.int64, 4)(text, types.int64, arena, types.int64, byte_table), codegen


@intrinsic
def lowest_bit(typingctx: Any, bits: Any) -> Any:
    """Return the number of the lowest one bit of an integer that is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@inline
def scan_ascii(
    text: Array, i: Int, stop: Int, free: Int, byte_table: Array, slots: Array, arena: Array, state: Array
) -> tuple[Int, Int]:
    """Add words to the batch from byte `i` on, where one begins, until the batch is full.

    free: where the part of the arena after the batch starts. Returns where the first byte is that needs the machine, or
    that is left because the batch is full, and the new start of the free part.
    """
    is_blocked = False
    while not is_blocked and i + WINDOW <= text.shape[0] and state[N_BATCH] < state[BATCH_SIZE]:
        words, foreign, line_feeds, separators = read_window(text, i, arena, free, byte_table)
        if stop - i < WINDOW:
            outside = -1 << stop - i
            words, foreign = words & ~outside, foreign | outside
        hard = foreign | ((words | foreign) >> 1 & ~words & ~separators)
        place, used = 0, 0
        while state[N_BATCH] < state[BATCH_SIZE]:
            from_place = -1 << place
            if words & from_place == 0:
                is_blocked = place == 0
                break
            start = lowest_bit(words & from_place)
            from_start = -1 << start
            end = lowest_bit(~words & from_start | LAST_BIT)
            is_blocked = (foreign | line_feeds) & from_place & ~from_start != 0
            if is_blocked:
                break
            if end == WINDOW - 1:  # the word may go on
                place, is_blocked = start, start == 0
                break
            if hard >> end & 1 and (foreign >> end & 1 or byte_table[text[i + end]] & JOINS):
                place, is_blocked = start, True
                break
            add_token(slots, arena, state, free + start, free + end)
            place = used = end
        i, free = i + place, free + used
    return i, free


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
