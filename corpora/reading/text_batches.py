"""Texts of a file in batches: each line of plain text, or each row of a table."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_rows import TextBlock

if TYPE_CHECKING:
    from embeddings.corpora.reading.reader import Block

Batch = tuple[bytes, NDArray[np.int64]]


def text_batches(blocks: "Iterable[Block]") -> Iterator[Batch]:
    """Yield complete texts of the blocks of one source: their UTF-8, and where each begins, (texts + 1,).

    A line of plain text includes its line feed; after the last line feed, there is a line only if it is not empty.
    """
    pieces: list[bytes] = []  # of a text that continues in the next block
    for block in blocks:
        if not isinstance(block, TextBlock):  # tags, which are not used
            continue
        ends = text_ends(block, is_continued=any(pieces))
        pieces.append(block.data)
        if len(ends):
            before = sum(map(len, pieces[:-1]))
            data, stop = b"".join(pieces), before + int(ends[-1])
            yield data[:stop], np.concatenate([[0], ends + before])
            pieces = [data[stop:]]


def text_ends(block: TextBlock, *, is_continued: bool) -> NDArray[np.int64]:
    """Where texts end in a block; `is_continued`: its first text has begun in an earlier block."""
    if block.items:
        ends = np.asarray(block.parts, np.int64)
        return ends if block.is_complete else ends[:-1]
    ends = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord("\n")) + 1
    if block.is_complete and (is_continued or block.data) and not block.data.endswith(b"\n"):
        return np.append(ends, len(block.data))
    return ends
