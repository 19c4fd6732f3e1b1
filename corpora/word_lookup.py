"""Looks words up by a 32-bit hash in an open-addressing table, and adds the new ones. Compiled.

The bytes of all words are in one array, the arena. Words are read from it eight bytes at a time, so that there must be
`SLACK` bytes after the last one.

Tokens are looked up in batches: the memory that they need is requested for all of them before the first one is looked
up. Until then their bytes stand in the free part of the arena, in the order of the text.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.corpora.scan_state import (
    ARENA_END,
    BATCH,
    BATCH_COLUMNS,
    LINE_IS_BLANK,
    N_BATCH,
    N_IDS,
    N_RAW,
    N_TOKENS,
    N_TYPES,
    SEED,
    SHIFT,
)
from embeddings.kernels.checked_build import IS_CHECKED
from embeddings.kernels.checked_emitter import require
from embeddings.kernels.jit import inline, intrinsic, noinline
from embeddings.kernels.vector_emitter import INT64, int64
from embeddings.kernels.word_bytes import WORD_BYTES

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
