"""The sentences of a thread's share in a random order, another in every epoch.

A share is cut into runs of about `RUN` words. The runs come in random order, `TOGETHER` of them at a time, and the
sentences of these are mixed: memory is bounded, and a corpus larger than memory is still read in stretches. A
sentence longer than a run is not copied but read where it stands, by itself.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import BlockSource
from embeddings.kernels.shuffled_lines import gather_lines

RUN = 1 << 14  # words
TOGETHER = 64


class Piece(NamedTuple):
    """What is read next: words `begin` to `end` of a source."""

    source: BlockSource
    begin: int
    end: int


def shuffled(source: BlockSource, begin: int, end: int, rng: np.random.Generator) -> Iterator[Piece]:
    """The pieces of `ids[begin:end]`: each sentence in it once. What the cut left of a sentence counts as one."""
    runs = rng.permutation(-(-(end - begin) // RUN))
    for first in range(0, len(runs), TOGETHER):
        found = [sentences(source.lines, begin, end, int(run)) for run in runs[first : first + TOGETHER]]
        starts, stops = (np.concatenate(part) for part in zip(*found, strict=True))
        order = rng.permutation(len(starts))
        starts, stops = starts[order], stops[order]
        long = stops - starts > RUN
        for start, stop in zip(starts[long].tolist(), stops[long].tolist(), strict=True):
            yield Piece(source, start, stop)
        yield together(source, starts[~long], stops[~long])


def sentences(lines: np.ndarray, begin: int, end: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the sentences start and stop that start in a run; the share's first one starts where the share does."""
    low, high = begin + run * RUN, min(begin + (run + 1) * RUN, end)
    first, last = np.searchsorted(lines, [low, high])
    starts, stops = lines[first:last], lines[first + 1 : last + 1]
    if run == 0 and (first == last or starts[0] > begin):  # the share begins within a sentence
        starts, stops = np.append(begin, starts), np.append(lines[first], stops)
    return starts, np.minimum(stops, end)


def together(source: BlockSource, starts: np.ndarray, stops: np.ndarray) -> Piece:
    """These sentences one after another, in a copy."""
    words = int((stops - starts).sum())
    ids, lines = np.empty(words, source.ids.dtype), np.empty(len(starts) + 1, np.int64)
    gather_lines(source.ids, starts, stops, ids, lines)
    if not source.ids.flags.writeable:  # a type of its own to the compiler, which has code for one of them
        ids.flags.writeable = False
    if not source.lines.flags.writeable:
        lines.flags.writeable = False
    moved = source._replace(ids=ids, lines=lines)
    if len(getattr(source, "rows", ())):  # lines are documents
        moved = moved._replace(rows=source.rows[np.searchsorted(source.lines, starts, side="right") - 1])
    return Piece(moved, 0, words)
