"""Reads eight bytes of text at a time: where words end, and keys that tell words apart. Compiled.

White space separates words: space, tab, line feed, vertical tab, form feed, carriage return and NUL.

The key of a word of up to 8 bytes is the word itself, followed by zeros; its first byte is not 0. The key of a longer
word is a hash whose first byte is 0, so that it never equals a key of the other kind.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from embeddings.compilation.checked_build import IS_CHECKED, require
from embeddings.compilation.jit import entry_point, inline, intrinsic
from embeddings.compilation.vector_emitter import INT64, int64

WORD_BYTES = 8
SPACES = np.uint64(0x2121212121212121)  # the byte after the last one that can be white space, in every byte
HIGH_BITS_OF_BYTES = np.uint64(0x8080808080808080)
ALL_BITS, FIRST_BYTE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFF)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
ONE, THREE, EIGHT, HALF, FULL = np.uint64(1), np.uint64(3), np.uint64(8), np.uint64(32), np.uint64(64)


@intrinsic
def load_bytes(typingctx: Any, text: Any, start: Any) -> Any:
    """The 8 bytes `text[start:start + 8]` as a little-endian uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        if IS_CHECKED:
            stop = builder.add(args[1], int64(WORD_BYTES))
            require(context, builder, builder.icmp_signed(">=", args[1], int64(0)), "bytes before the start of a text")
            require(context, builder, builder.icmp_signed("<=", stop, array.nitems), "bytes beyond the end of a text")
        place = builder.add(builder.ptrtoint(array.data, INT64), args[1])
        return builder.load(builder.inttoptr(place, INT64.as_pointer()), align=1)

    return types.uint64(text, types.int64), codegen


@intrinsic
def trailing_zeros(typingctx: Any, bits: Any) -> Any:
    """The number of zeros below the lowest one bit of a uint64 that is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@inline
def is_space(byte: np.uint8) -> bool:
    """Whether a byte separates words."""
    return bool(byte <= 32 and (byte == 32 or 9 <= byte <= 13 or byte == 0))


@inline
def word_end(text: np.ndarray, first: int, stop: int) -> int:
    """The end of the word that begins at `first`: the next white space, or `stop`."""
    at = first
    while at < stop and at + WORD_BYTES <= text.shape[0]:
        word = load_bytes(text, at)
        below = (word - SPACES) & ~word & HIGH_BITS_OF_BYTES  # exact up to the lowest one, which is then checked
        while below != 0:
            end: int = at + np.int64(trailing_zeros(below) >> THREE)  # type: ignore[assignment]
            if end >= stop:
                return stop
            if is_space(text[end]):
                return end
            below &= below - ONE
        at += WORD_BYTES
    while at < stop and not is_space(text[at]):
        at += 1
    return at if at < stop else stop


@inline
def word_key(text: np.ndarray, first: int, last: int) -> np.uint64:
    """The key of a word."""
    if last - first > WORD_BYTES:
        key = np.uint64(last - first)
        for at in range(first, last - WORD_BYTES, WORD_BYTES):
            key = spread_bits(key ^ load_bytes(text, at))
        return np.uint64(spread_bits(key ^ load_bytes(text, last - WORD_BYTES)) & ~FIRST_BYTE)
    if first + WORD_BYTES <= text.shape[0] and last > first:
        unused = FULL - EIGHT * np.uint64(last - first)
        return np.uint64(load_bytes(text, first) & (ALL_BITS >> unused))
    key = np.uint64(0)
    for at in range(last - 1, first - 1, -1):
        key = (key << EIGHT) | np.uint64(text[at])
    return key


@inline
def spread_bits(key: np.uint64) -> np.uint64:
    """Spread the bits of a key."""
    key *= MULTIPLIER
    return key ^ (key >> HALF)


@inline
def equal_bytes(a: np.ndarray, a_start: int, b: np.ndarray, b_start: int, length: int) -> bool:
    """Whether two words of this length are equal."""
    at = 0
    while at + WORD_BYTES <= length and load_bytes(a, a_start + at) == load_bytes(b, b_start + at):
        at += WORD_BYTES
    while at < length and a[a_start + at] == b[b_start + at]:
        at += 1
    return bool(at == length)


@inline
def slot_number(key: np.uint64, slots: int) -> int:
    """The first slot of a key in a hash table whose size is a power of 2, from the highest bits of a product.

    Lower bits would not depend on all bytes of the key.
    """
    slot: int = np.int64((((key * MULTIPLIER) >> HALF) * np.uint64(slots)) >> HALF)  # type: ignore[assignment]
    return slot


COUNT_BYTES = 8


@entry_point
def split_entries(
    data: np.ndarray, text: np.ndarray, lengths: np.ndarray, counts: np.ndarray, kinds: np.ndarray, ends: np.ndarray
) -> None:
    """Split the dictionary of a fastText file: the complete entries at the start of `data`, if there is room for them.

    An entry is a word, a NUL, its count as little-endian int64, and one byte, its kind.

    Arguments:
        data: uint8, a part of the dictionary that begins with an entry.
        text: uint8, at least as long as `data`; set to the words, without separators.
        lengths, counts, kinds: int64, int64 and int8 (entries,).
        ends: int64 (3,), set to the number of entries, and to their ends in `data` and `text`.
    """
    start, position = 0, 0
    for entry in range(lengths.shape[0]):
        end = start
        while end < data.shape[0] and data[end] != 0:
            end += 1
        if end + COUNT_BYTES + 1 >= data.shape[0]:
            return
        for i in range(start, end):
            text[position] = data[i]
            position += 1
        count = np.uint64(0)
        for i in range(COUNT_BYTES, 0, -1):
            count = (count << np.uint64(8)) | np.uint64(data[end + i])
        lengths[entry], counts[entry], kinds[entry] = end - start, np.int64(count), np.int8(data[end + COUNT_BYTES + 1])
        start = end + COUNT_BYTES + 2
        ends[0], ends[1], ends[2] = entry + 1, start, position
