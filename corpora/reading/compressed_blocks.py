"""Blocks of bzip2 and xz files, each made a file of its own, so that several can be decompressed at a time.

A file is unusual if its blocks state no size, if it is damaged, or if anything follows its end. Then UnusualError is
raised, and the standard library, which has its own errors, reads the file from its beginning.
"""

import bz2
import lzma
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any
from zlib import crc32

Read = Callable[[int], bytes]  # returns up to the given number of bytes, b"" only at the end

MAX_BLOCK = 1 << 26  # bytes, compressed or not: `xz` makes blocks of 24 MiB, of bzip2's at most 900 kB are compressed
MAX_MEMORY = 1 << 27  # bytes of a decoder
CHUNK = 1 << 20  # bytes read at once


class UnusualError(Exception):
    """A file cannot be read in blocks."""


# ------------------------------------------------------------------------------------------------------------ bzip2
# A file is one or more streams: "BZh" and a level, blocks, END and the checksum of the checksums of the blocks, padded
# to a byte. A block is BLOCK, its checksum, and data; it begins and ends at any bit.

BLOCK, END = 0x314159265359, 0x177245385090
MARKER_BITS, CHECKSUM_BITS = 48, 32


def bits(data: bytes, start: int, count: int) -> int:
    """Return `count` bits from bit `start` on as a number."""
    stop = start + count
    value = int.from_bytes(data[start // 8 : (stop + 7) // 8], "big")
    return (value >> -stop % 8) & ((1 << count) - 1)


def next_marker(data: bytes, start: int) -> int | None:
    """Return the first bit of the first marker from bit `start` on; None if there is none."""
    found, end = None, len(data)
    for marker in (BLOCK, END):
        for shift in range(8):
            inner = (marker << 8 - shift).to_bytes(7, "big")[1:6]  # the bytes that the marker fills
            at = data.find(inner, start // 8, end)
            while at >= 0:
                first = 8 * (at - 1) + shift
                if first >= start and first + MARKER_BITS <= 8 * len(data) and bits(data, first, MARKER_BITS) == marker:
                    found, end = first, at + 4  # an earlier one is found before this byte
                    break
                at = data.find(inner, at + 1, end)
    return found


def bzip2_blocks(read: Read) -> Iterator[bytes]:
    """Yield the blocks of a bzip2 file, each as a file; `read` returns less than asked for at the end only."""
    data = read(CHUNK)
    while data:
        header, start, total = data[:4], 32, 0
        if header[:3] != b"BZh" or header[3:] not in b"123456789":
            raise UnusualError
        while bits(data, start, MARKER_BITS) == BLOCK:
            searched = start + MARKER_BITS + CHECKSUM_BITS
            while (stop := next_marker(data, searched)) is None:
                searched = max(searched, 8 * len(data) - MARKER_BITS)
                if len(data) > MAX_BLOCK or not (more := read(CHUNK)):
                    raise UnusualError
                data += more
            checksum = bits(data, start + MARKER_BITS, CHECKSUM_BITS)
            total = (total << 1 & 0xFFFFFFFF | total >> 31) ^ checksum
            size = stop - start + MARKER_BITS + CHECKSUM_BITS
            block = (bits(data, start, stop - start) << MARKER_BITS | END) << CHECKSUM_BITS | checksum
            yield header + (block << -size % 8).to_bytes((size + 7) // 8, "big")
            data, start = data[stop // 8 :] + read(CHUNK * (len(data) - stop // 8 < CHUNK)), stop % 8
        if bits(data, start, MARKER_BITS + CHECKSUM_BITS) != END << CHECKSUM_BITS | total:
            raise UnusualError
        data = data[(start + MARKER_BITS + CHECKSUM_BITS + 7) // 8 :]
        data += read(CHUNK * (len(data) < CHUNK))


# --------------------------------------------------------------------------------------------------------------- xz
# A file is one or more streams, with zeros between: a header, blocks, an index of their sizes and an end that repeats
# the header's flags. Blocks state their size if they were compressed in several threads.

XZ_MAGIC, XZ_END = b"\xfd7zXZ\0", b"YZ"
CHECK_SIZES = (0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64)  # of each kind of checksum
HAS_SIZES = 0b1100_0000


def write_varint(value: int) -> bytes:
    """Encode a number in groups of 7 bits, the lowest first."""
    groups = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])


def read_varint(data: bytes, start: int) -> tuple[int, int]:
    """Return a number, and where it ends."""
    value = 0
    for at, byte in enumerate(data[start : start + 9]):
        value |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            return value, start + at + 1
    raise UnusualError


def xz_end(sizes: list[tuple[int, int]], flags: bytes) -> bytes:
    """Return the index and the end of a stream with blocks of these sizes, compressed without padding, and not."""
    index = b"\0" + write_varint(len(sizes)) + b"".join(write_varint(size) for block in sizes for size in block)
    index += bytes(-len(index) % 4)
    end = (len(index) // 4).to_bytes(4, "little") + flags
    return index + le32(crc32(index)) + le32(crc32(end)) + end + XZ_END


def le32(value: int) -> bytes:
    """Four bytes, the lowest first."""
    return value.to_bytes(4, "little")


def xz_blocks(read: Read) -> Iterator[bytes]:
    """Yield the blocks of an xz file, each as a file; `read` returns less than asked for at the end only."""
    header = read(12)
    while header:
        flags = header[6:8]
        if header[:6] != XZ_MAGIC or header[8:] != le32(crc32(flags)):
            raise UnusualError
        check_size, sizes = CHECK_SIZES[flags[1] & 15], list[tuple[int, int]]()
        while (first := read(1)) not in (b"", b"\0"):
            start = first + read(first[0] * 4 + 3)
            if len(start) < 8 or start[1] & HAS_SIZES != HAS_SIZES:
                raise UnusualError
            compressed, at = read_varint(start, 2)
            uncompressed, _ = read_varint(start, at)
            if max(compressed, uncompressed) > MAX_BLOCK:
                raise UnusualError
            sizes.append((len(start) + compressed + check_size, uncompressed))
            yield header + start + read(compressed + -compressed % 4 + check_size) + xz_end(sizes[-1:], flags)
        end = xz_end(sizes, flags)
        if first + read(len(end) - 1) != end:
            raise UnusualError
        while (header := read(4)) == bytes(4):
            pass
        header += read(8)


# ------------------------------------------------------------------------------------------------------- in threads

BLOCKS = {"bz2": bzip2_blocks, "xz": xz_blocks}


def decompress_block(kind: str, block: bytes) -> bytes:
    """Return the content of a block."""
    decoder: Any = bz2.BZ2Decompressor() if kind == "bz2" else lzma.LZMADecompressor(memlimit=MAX_MEMORY)
    try:
        data: bytes = decoder.decompress(block, MAX_BLOCK)
    except (OSError, lzma.LZMAError) as error:
        raise UnusualError from error
    if not decoder.eof or decoder.unused_data:
        raise UnusualError
    return data


def decompress_blocks(
    kind: str, read: Read, start_again: Callable[[], Read], threads: int
) -> Generator[bytes, None, None]:
    """Yield the decompressed content of a file in parts.

    Arguments:
        kind: a key of `BLOCKS`.
        read: reads the compressed file; returns less than asked for at its end only.
        start_again: returns what reads the decompressed content from its beginning, without blocks.
        threads: blocks that are decompressed at a time.
    """
    n_read = 0
    with ThreadPoolExecutor(threads, "decompression") as pool:
        jobs = (pool.submit(decompress_block, kind, block) for block in BLOCKS[kind](read))
        try:
            pending = deque(islice(jobs, threads + 1))
            while pending:
                data = pending.popleft().result()
                n_read += len(data)
                yield from (data[at : at + CHUNK] for at in range(0, len(data), CHUNK))
                pending.extend(islice(jobs, 1))
            return
        except UnusualError:
            pool.shutdown(cancel_futures=True)
    read = start_again()
    while data := read(CHUNK):
        if len(data) > n_read:
            yield data[n_read:]
        n_read = max(0, n_read - len(data))
