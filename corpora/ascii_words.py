"""Encodes words of ASCII letters and numbers without the state machine, 64 bytes of text at a time. Compiled.

Most ASCII words end before a byte after which the machine always returns to its first state, such as a space. Vector
instructions find where the words of a window of 64 bytes start and end, as bits of an integer.
"""

from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.corpora.characters import N_RANGES
from embeddings.corpora.line_boundaries import LINE_FEED
from embeddings.corpora.word_lookup import add_token, is_batch_full
from embeddings.kernels.checked_build import IS_CHECKED
from embeddings.kernels.checked_emitter import require
from embeddings.kernels.jit import inline, intrinsic
from embeddings.kernels.vector_emitter import INT64, int64
from embeddings.kernels.word_bytes import ALL_BITS, ONE, trailing_zeros

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

WINDOW = 64
ZERO, LAST_BIT = np.uint64(0), np.uint64(1 << 63)
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
def read_window(typingctx: Any, text: Any, start: Any, arena: Any, end: Any, ranges: Any) -> Any:
    """Write `text[start:start + 64]` in lower case to the arena at `end`, and classify these bytes, one bit each.

    ranges: uint8, the first byte and the length of N_RANGES ranges of bytes of words, then of the capitals. Returns
    uint64: which bytes are of words, which not ASCII, which line feeds, and which line feeds or spaces.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        text, arena, ranges = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2, 4))
        window = builder.load(vector_pointer(context, builder, text, args[1]), align=1)

        def in_range(number: int) -> Any:
            items = (builder.gep(ranges.data, [int64(2 * number + i)]) for i in range(2))
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

    return types.UniTuple(types.uint64, 4)(text, types.int64, arena, types.int64, ranges), codegen


@inline
def bits_from(place: Int) -> Int:
    """Return the bits of a window from this place on, which is below 64."""
    return ALL_BITS << np.uint64(place)


@inline
def has_bit(bits: Int, place: Int) -> bool:
    """Whether the bit of this place is set."""
    return bool(bits >> np.uint64(place) & ONE != ZERO)


@inline
def scan_ascii(
    text: Array, i: Int, stop: Int, start: Int, byte_tables: Any, table: Any, out: Any, state: Array
) -> tuple[Int, Int]:
    """Add words to the batch from byte `i` on, where one begins, until the batch is full.

    start: of the free part of the arena after the batch. Returns where the first byte is that needs the machine, or
    is left because the batch is full, and the new start.
    """
    is_blocked = False
    while not is_blocked and i + WINDOW <= text.shape[0] and not is_batch_full(state):
        place, used, is_blocked = scan_window(text, i, stop, start, byte_tables, table, out, state)
        i, start = i + place, start + used
    return i, start


@inline
def scan_window(
    text: Array, i: Int, stop: Int, free: Int, byte_tables: Any, table: Any, out: Any, state: Array
) -> tuple[Int, Int, bool]:
    """Add the words of a window to the batch.

    Returns how much of the text and of the free part of the arena it took, and whether the machine has to go on.
    """
    joins, ranges = byte_tables
    words, foreign, line_feeds, separators = read_window(text, i, table[2], free, ranges)
    if stop - i < WINDOW:
        outside = bits_from(stop - i)
        words, foreign = words & ~outside, foreign | outside
    special = foreign | line_feeds
    hard = foreign | ((words | foreign) >> ONE & ~words & ~separators)
    place, used, is_blocked = np.int64(0), np.int64(0), False
    while not is_batch_full(state):
        rest = words & bits_from(place)
        if rest == ZERO:
            is_blocked = place == 0
            break
        start = np.int64(trailing_zeros(rest))
        end = np.int64(trailing_zeros(~words & bits_from(start) | LAST_BIT))
        is_blocked = special & bits_from(place) & ~bits_from(start) != ZERO
        if is_blocked:
            break
        if end == WINDOW - 1:  # the word may go on
            place, is_blocked = start, start == 0
            break
        if has_bit(hard, end) and (has_bit(foreign, end) or joins[text[i + end]]):
            place, is_blocked = start, True
            break
        add_token(table, out, state, free + start, free + end)
        place = used = end
    return place, used, is_blocked
