"""Encodes words of ASCII letters and numbers without the state machine, 64 bytes of text at a time. Compiled.

Most ASCII words end before a byte after which the machine always returns to its first state, such as a space. Vector
instructions find where the words of a window of 64 bytes start and end, as bits of an integer.
"""

from functools import reduce
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.corpora.characters import JOINS, N_RANGES, RANGES
from embeddings.corpora.line_boundaries import LINE_FEED
from embeddings.corpora.scan_state import BATCH_SIZE, N_BATCH
from embeddings.corpora.word_lookup import add_token
from embeddings.kernels.checked_build import IS_CHECKED
from embeddings.kernels.checked_emitter import require
from embeddings.kernels.jit import inline, intrinsic
from embeddings.kernels.vector_emitter import INT64, int64

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

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
