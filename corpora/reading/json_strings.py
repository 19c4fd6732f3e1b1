"""Strings of JSON in UTF-8: where they end, and their text without escapes. Compiled."""

from typing import Any

from embeddings.compilation.jit import inline
from embeddings.corpora.reading.cell_bytes import copy_bytes

Array = Any
Int = Any

SPACE, QUOTE, BACKSLASH, ZERO, LOWER_A, LOWER_U, LOWER_BIT = *(ord(character) for character in ' "\\0au'), 32
PLAIN = tuple(b'"\\/bfnrt')  # after a backslash, and what they stand for
MEANT = tuple(b'"\\/\b\f\n\r\t')


@inline
def code_unit(text: Array, i: Int, stop: Int) -> Int:
    r"""Return the number of an escape \uXXXX at `i`; negative if there is none."""
    if i + 6 > stop or text[i] != BACKSLASH or text[i + 1] != LOWER_U:
        return -1
    unit = 0
    for k in range(i + 2, i + 6):
        letter = (text[k] | LOWER_BIT) - LOWER_A
        if ZERO <= text[k] < ZERO + 10:
            unit = unit << 4 | text[k] - ZERO
        elif 0 <= letter < 6:
            unit = unit << 4 | letter + 10
        else:
            return -1
    return unit


@inline
def code_point(text: Array, i: Int, stop: Int) -> tuple[Int, Int]:
    r"""Return the code point of the escape \uXXXX at `i`, or of a pair of surrogates, and its size; or -1."""
    unit = code_unit(text, i, stop)
    if unit < 0xD800 or unit > 0xDFFF:
        return unit, 6
    low = code_unit(text, i + 6, stop)
    if unit > 0xDBFF or low < 0xDC00 or low > 0xDFFF:
        return -1, 6
    return 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF), 12


@inline
def meaning(byte: Int) -> Int:
    """Return what a byte after a backslash stands for; negative if it is not such a byte."""
    for k in range(len(PLAIN)):
        if byte == PLAIN[k]:
            return MEANT[k]
    return -1


@inline
def skip_string(text: Array, i: Int, stop: Int) -> tuple[Int, bool]:
    """Return the place of the quote that closes the string at `i`, and whether it has escapes; negative if unusual."""
    has_escapes = False
    if i >= stop or text[i] != QUOTE:
        return -1, has_escapes
    i += 1
    while i < stop and text[i] != QUOTE:
        size = 1
        if text[i] < SPACE:
            return -1, has_escapes
        if text[i] == BACKSLASH:
            point, size = code_point(text, i, stop)
            if point < 0 and i + 1 < stop:
                point, size = meaning(text[i + 1]), 2
            if point < 0:
                return -1, has_escapes
            has_escapes = True
        i += size
    return (i if i < stop else -1), has_escapes


@inline
def write_utf8(out: Array, end: Int, point: Int) -> Int:
    """Write a code point; returns the place after it."""
    if point < 0x80:
        out[end] = point
        return end + 1
    size = 2 + (point >= 0x800) + (point >= 0x10000)
    out[end] = (0xF00 >> size & 0xFF) | point >> 6 * (size - 1)
    for k in range(1, size):
        out[end + k] = 0x80 | (point >> 6 * (size - 1 - k) & 0x3F)
    return end + size


@inline
def decode_string(text: Array, i: Int, stop: Int, out: Array, end: Int) -> Int:
    """Write a string without its escapes; returns the place after it."""
    while i < stop:
        start = i
        while i < stop and text[i] != BACKSLASH:
            i += 1
        copy_bytes(out, end, text, start, i - start)
        end += i - start
        if i < stop:
            point, size = meaning(text[i + 1]), 2
            if point < 0:
                point, size = code_point(text, i, stop)
            end, i = write_utf8(out, end, point), i + size
    return end
