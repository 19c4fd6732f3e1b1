"""The sentences of a thread's share in a random order, a different one in each epoch.

A share is cut into segments of about `SEGMENT` words. Segments come in random order, and the sentences of
`SEGMENTS_PER_CHUNK` segments are shuffled together, so memory is bounded and a corpus larger than memory is still read
in long sequential reads. A sentence longer than a segment is not copied but forms a chunk of its own.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.block import BlockSource
from embeddings.kernels.line_operations import gather_lines

SEGMENT = 1 << 14  # words
SEGMENTS_PER_CHUNK = 64


class Chunk(NamedTuple):
    """What a thread reads next: words `begin` to `end` of a source."""

    source: Any
    begin: int
    end: int


def shuffled_chunks(source: BlockSource, begin: int, end: int, rng: np.random.Generator) -> Iterator[Chunk]:
    """Chunks that hold each sentence of `ids[begin:end]` once; a sentence cut by the share's border counts as one."""
    segments = rng.permutation(-(-(end - begin) // SEGMENT))
    for first in range(0, len(segments), SEGMENTS_PER_CHUNK):
        numbers = segments[first : first + SEGMENTS_PER_CHUNK]
        bounds = [segment_sentences(source.lines, begin, end, int(number)) for number in numbers]
        starts, stops = (np.concatenate(part) for part in zip(*bounds, strict=True))
        order = rng.permutation(len(starts))
        starts, stops = starts[order], stops[order]
        is_long = stops - starts > SEGMENT
        for start, stop in zip(starts[is_long].tolist(), stops[is_long].tolist(), strict=True):
            yield Chunk(source, start, stop)
        yield gathered_chunk(source, starts[~is_long], stops[~is_long])


def segment_sentences(lines: np.ndarray, begin: int, end: int, segment: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and stops of the sentences that start in a segment; the first one starts no earlier than the share."""
    low, high = begin + segment * SEGMENT, min(begin + (segment + 1) * SEGMENT, end)
    first, last = np.searchsorted(lines, [low, high])
    starts, stops = lines[first:last], lines[first + 1 : last + 1]
    if segment == 0 and (first == last or starts[0] > begin):  # the share begins within a sentence
        starts, stops = np.append(begin, starts), np.append(lines[first], stops)
    return starts, np.minimum(stops, end)


def gathered_chunk(source: BlockSource, starts: np.ndarray, stops: np.ndarray) -> Chunk:
    """A chunk of copies of these sentences, one after another."""
    words = int((stops - starts).sum())
    ids, lines = np.empty(words, source.ids.dtype), np.empty(len(starts) + 1, np.int64)
    gather_lines(source.ids, starts, stops, ids, lines)
    if not source.ids.flags.writeable:  # read-only arrays have a different type in numba: avoids a second compilation
        ids.flags.writeable = False
    if not source.lines.flags.writeable:
        lines.flags.writeable = False
    chunk_source = source._replace(ids=ids, lines=lines)
    if len(getattr(source, "document_rows", ())):  # lines are documents
        rows = source.document_rows[np.searchsorted(source.lines, starts, side="right") - 1]
        chunk_source = chunk_source._replace(document_rows=rows)
    return Chunk(chunk_source, 0, words)
