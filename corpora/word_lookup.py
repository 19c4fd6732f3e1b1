"""Looks words up by a 32-bit hash in an open-addressing table, and adds the new ones. Compiled.

The bytes of all words are in one array, the arena. Words are read from it eight bytes at a time, so that there must be
`SLACK` bytes after the last one.

Tokens are looked up in batches: the memory that they need is requested for all of them before the first one is looked
up. Until then their bytes stand in the free part of the arena, in the order of the text.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.corpora.scan_state import (
    ARENA_END,
    BATCH_SIZE,
    LINE_IS_BLANK,
    MAX_TYPES,
    N_BATCH,
    N_IDS,
    N_RAW,
    N_TOKENS,
    N_TYPES,
    SEED,
    SHIFT,
)
from embeddings.kernels.jit import inline, intrinsic, noinline
from embeddings.kernels.vector_emitter import INT64
from embeddings.kernels.word_bytes import ALL_BITS, EIGHT, FULL, HALF, ONE, WORD_BYTES, load_bytes

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

# columns of a word's record: hash | raw id << 32, start in the arena, occurrences, first 8 bytes
HASH_AND_RAW, START, COUNT, PREFIX = range(4)
N_COLUMNS = 4
RAW_SHIFT = 32
LOW_32 = 0xFFFFFFFF
SLACK = WORD_BYTES - 1
MAX_BATCH = 32
BATCH_COLUMNS = 3  # start in the arena, length, hash


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


@inline
def load_part(arena: Array, start: Int, length: Int) -> Int:
    """Load the first bytes of a word, at most 8 and at least 1; zeros follow."""
    word = load_bytes(arena, start)
    if length < WORD_BYTES:
        word &= ALL_BITS >> (FULL - EIGHT * np.uint64(length))
    return word


@inline
def hash_word(arena: Array, start: Int, length: Int, seed: Int) -> Int:
    """Return a 32-bit hash, the upper half of products with a random odd number (Dietzfelbinger et al. 1997)."""
    multiplier = np.uint64(seed) | ONE
    key = np.uint64(0)
    for at in range(0, length, WORD_BYTES):
        key = (key ^ load_part(arena, start + at, length - at)) * multiplier
        key ^= key >> HALF
    return np.int64(key >> HALF)


@inline
def equal_rest(arena: Array, one: Int, other: Int, length: Int) -> bool:
    """Whether two words in the arena of this length are equal after the first 8 bytes."""
    for at in range(WORD_BYTES, length, WORD_BYTES):
        if load_part(arena, one + at, length - at) != load_part(arena, other + at, length - at):
            return False
    return True


@inline
def add_token(table: Any, out: Any, state: Array, start: Int, end: Int) -> None:
    """Add the token `arena[start:end]` to the batch."""
    slots, _, arena = table
    row, hash_code = out[3][state[N_BATCH]], hash_word(arena, start, end - start, state[SEED])
    prefetch_item(slots, hash_code >> state[SHIFT])
    row[0], row[1], row[2] = start, end - start, hash_code
    state[N_BATCH] += 1
    state[N_TOKENS] += 1
    state[LINE_IS_BLANK] = 0


@inline
def is_batch_full(state: Array) -> bool:
    """Whether the tokens of the batch have to be looked up."""
    return bool(state[N_BATCH] >= state[BATCH_SIZE])


@inline
def has_too_many_types(state: Array) -> bool:
    """Whether the table has to be pruned."""
    return bool(state[N_TYPES] > state[MAX_TYPES])


@noinline
def look_up(table: Any, ids: Array, batch: Array, state: Array) -> None:
    """Write the raw ids of the tokens of the batch; the arena then ends with the last new word."""
    slots, records, _ = table
    for k in range(state[N_BATCH]):
        word = slots[batch[k, 2] >> state[SHIFT]]
        if word >= 0:
            prefetch_item(records, word)
            prefetch_item(records, word + 1)
    for k in range(state[N_BATCH]):
        ids[state[N_IDS] + k] = intern(table, state, batch[k])
    state[N_IDS] += state[N_BATCH]
    state[N_BATCH] = 0


@inline
def intern(table: Any, state: Array, token: Array) -> Int:
    """Count a token and return its raw id; a new word moves to the end of the arena."""
    slots, records, arena = table
    start, length, hash_code = token[0], token[1], token[2]
    prefix = np.int64(load_part(arena, start, length))
    last = slots.shape[0] - 1
    slot = hash_code >> state[SHIFT]
    word = slots[slot]
    while word >= 0:
        record = records[word]
        if (
            record[PREFIX] == prefix
            and record[HASH_AND_RAW] & LOW_32 == hash_code
            and records[word + 1, START] - record[START] == length
            and equal_rest(arena, record[START], start, length)
        ):
            record[COUNT] += 1
            return record[HASH_AND_RAW] >> RAW_SHIFT
        slot = (slot + 1) & last
        word = slots[slot]
    slots[slot] = state[N_TYPES]
    return add_word(table, state, token, prefix)


@inline
def add_word(table: Any, state: Array, token: Array, prefix: Int) -> Int:
    """Move a new word to the end of the arena, which is not after it, and return its raw id."""
    _, records, arena = table
    start, length, hash_code = token[0], token[1], token[2]
    word, raw, end = state[N_TYPES], state[N_RAW], state[ARENA_END]
    if start > end:
        for k in range(length):
            arena[end + k] = arena[start + k]
    record = records[word]
    record[HASH_AND_RAW], record[COUNT], record[PREFIX] = hash_code | raw << RAW_SHIFT, 1, prefix
    records[word + 1, START] = end + length
    state[N_TYPES] = word + 1
    state[N_RAW] = raw + 1
    state[ARENA_END] = end + length
    return raw
