"""Blocks of bzip2 files, each made a file of its own, so that several can be decompressed at a time.

A file is unusual if it is damaged, or if anything follows its end. Then UnusualError is raised, and the standard
library, which has its own errors, reads the file from its beginning.
"""

import bz2
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

Read = Callable[[int], bytes]  # returns up to the given number of bytes, b"" only at the end

MAX_BLOCK = 1 << 26  # bytes, compressed or not; the content is at most 900 kB before bzip2 expands runs of a byte
CHUNK = 1 << 20  # bytes read at once


class UnusualError(Exception):
    """A file cannot be read in blocks."""


def require(is_usual: bool) -> None:
    """Raise UnusualError if a part of a file is not as usual."""
    if not is_usual:
        raise UnusualError


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
        require(header[:3] == b"BZh" and header[3:] in b"123456789")
        while bits(data, start, MARKER_BITS) == BLOCK:
            searched = start + MARKER_BITS + CHECKSUM_BITS
            while (stop := next_marker(data, searched)) is None:
                searched = max(searched, 8 * len(data) - MARKER_BITS)
                more = read(CHUNK)
                require(len(data) <= MAX_BLOCK and len(more) > 0)
                data += more
            checksum = bits(data, start + MARKER_BITS, CHECKSUM_BITS)
            total = (total << 1 & 0xFFFFFFFF | total >> 31) ^ checksum
            size = stop - start + MARKER_BITS + CHECKSUM_BITS
            block = (bits(data, start, stop - start) << MARKER_BITS | END) << CHECKSUM_BITS | checksum
            yield header + (block << -size % 8).to_bytes((size + 7) // 8, "big")
            data, start = data[stop // 8 :] + read(CHUNK * (len(data) - stop // 8 < CHUNK)), stop % 8
        require(bits(data, start, MARKER_BITS + CHECKSUM_BITS) == END << CHECKSUM_BITS | total)
        data = data[(start + MARKER_BITS + CHECKSUM_BITS + 7) // 8 :]
        data += read(CHUNK * (len(data) < CHUNK))


def decompress_block(block: bytes) -> bytes:
    """Return the content of a block."""
    decoder = bz2.BZ2Decompressor()
    data = decoder.decompress(block, MAX_BLOCK)
    require(decoder.eof and not decoder.unused_data)
    return data


def decompress_blocks(read: Read, start_again: Callable[[], Read], threads: int) -> Generator[bytes, None, None]:
    """Yield the decompressed content of a bzip2 file in parts.

    Arguments:
        read: reads the compressed file; returns less than asked for at its end only.
        start_again: returns what reads the decompressed content from its beginning, without blocks.
        threads: blocks that are decompressed at a time.
    """
    n_read = 0
    with ThreadPoolExecutor(threads, "decompression") as pool:
        jobs = (pool.submit(decompress_block, block) for block in bzip2_blocks(read))
        try:
            pending = deque(islice(jobs, threads + 1))
            while pending:
                data = pending.popleft().result()
                n_read += len(data)
                yield from (data[at : at + CHUNK] for at in range(0, len(data), CHUNK))
                pending.extend(islice(jobs, 1))
            return
        except (UnusualError, OSError):  # OSError: of the standard library, for a damaged block
            pool.shutdown(cancel_futures=True)
    read = start_again()
    while data := read(CHUNK):
        if len(data) > n_read:
            yield data[n_read:]
        n_read = max(0, n_read - len(data))
