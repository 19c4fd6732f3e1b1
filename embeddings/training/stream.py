"""Streams: what the threads of a run read, cut into shares, chunks and blocks; a machine may hold a share only.

A share is cut into segments of about `SEGMENT` words. Segments come in random order, and the sentences of
`SEGMENTS_PER_CHUNK` segments are shuffled together, so memory is bounded and a corpus larger than memory is still read
in long sequential reads. A sentence longer than a segment is not copied but forms a chunk of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from embeddings.kernels.block import END, FIRST, LAST, LINE, POSITION, fill_block, is_valid_block, rewind
from embeddings.kernels.line_operations import gather_lines

SEGMENT = 1 << 14  # words
SEGMENTS_PER_CHUNK = 64


class Chunk(NamedTuple):
    """The next part for a thread to read: words `begin` to `end` of a source."""

    source: Any
    begin: int
    end: int


def segment_sentences(lines: np.ndarray, begin: int, end: int, segment: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and stops of the sentences that start in a segment; the first one starts no earlier than the share."""
    low, high = begin + segment * SEGMENT, min(begin + (segment + 1) * SEGMENT, end)
    first, last = np.searchsorted(lines, [low, high])
    starts, stops = lines[first:last], lines[first + 1 : last + 1]
    # Otherwise the words before the first sentence start would be read by no thread.
    if segment == 0 and (first == last or starts[0] > begin):  # the share begins within a sentence
        starts, stops = np.append(begin, starts), np.append(lines[first], stops)
    return starts, np.minimum(stops, end)


MIN_SHARE = 50  # words of a share, as no window crosses its borders


class Stream(ABC):
    """Units that can be counted, such as words of text, in an order that can be resumed at any block.

    Each thread reads a share of the units in each epoch, in one or more chunks, through a block of its own: a
    NamedTuple of arrays, which with the random state holds all that decides what is read next.

    source: what chunks are parts of.
    """

    source: Any

    @property
    def unit(self) -> str:
        """The name of the units, in the plural."""
        return "words"

    @property
    @abstractmethod
    def units(self) -> int:
        """How many units one epoch reads."""

    @abstractmethod
    def new_block(self) -> Any:
        """A block for one thread, a NamedTuple of arrays."""

    @abstractmethod
    def fill(self, block: Any, chunk: Chunk, random: np.ndarray) -> int:
        """Read the next units of a chunk into a block; returns how many, an int.

        A block may hold the rest of earlier units, so 0 ends the chunk only if the block is empty. A stream that gives
        no units 1,000 times in a row is refused.

        Arguments:
            random: uint64 (2,), a key and a counter.
        """

    @abstractmethod
    def is_empty(self, block: Any) -> bool:
        """Whether a block that `fill` returned holds nothing to learn from."""

    @abstractmethod
    def rewind(self, block: Any, chunk: Chunk) -> None:
        """Move a block to the start of a chunk."""

    @abstractmethod
    def is_valid(self, block: Any, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""

    def localize(self, block: Any, chunk: Chunk) -> None:  # noqa: B027 (optional)
        """Convert a block that was read from a file, if places in this stream are not those in the whole corpus."""

    @property
    def empty_chunk(self) -> Chunk:
        """A chunk of no units, by which kernels are compiled."""
        return Chunk(self.source, 0, 0)

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """The chunks of a share in an epoch, which together hold its units.

        Arguments:
            order: draws their order if the setting shuffle is on; `check_trainer` tests that a stream uses it.
        """
        return iter([Chunk(self.source, begin, end)]) if order is None else self.shuffled_chunks(begin, end, order)

    @abstractmethod
    def shuffled_chunks(self, begin: int, end: int, order: np.random.Generator) -> Iterator[Chunk]:
        """The units of a share in a random order."""

    @property
    def arrays(self) -> Sequence[np.ndarray]:
        """Arrays that are read and may be mapped from files, which are checked for truncation meanwhile."""
        return ()

    def bounds(self, shares: int) -> list[int]:
        """Where the shares of threads begin and end, (shares + 1)."""
        return [self.units * share // shares for share in range(shares + 1)]


@dataclass(frozen=True)
class TokenStream(Stream):
    """The words of a corpus.

    Arguments:
        source: has the fields `ids` and `lines` of `embeddings.kernels.block.BlockSource`.
        make_block: makes a block with the field `cursor` of `embeddings.kernels.block.Block`.
        fill_from: as `embeddings.kernels.block.fill_block`.
        is_valid_block: as `embeddings.kernels.block.is_valid_block`.
        unit: what the tokens are called, in the plural.
    """

    source: Any
    make_block: Callable[[], Any]
    fill_from: Callable[[Any, Any, np.ndarray], int] = fill_block
    is_valid_block: Callable[[Any, Any, int, int], bool] = is_valid_block
    unit: str = "words"

    @property
    def units(self) -> int:
        """Words of the corpus, in the vocabulary or not."""
        return len(self.source.ids)

    def new_block(self) -> Any:
        """A block for one thread."""
        return self.make_block()

    def fill(self, block: Any, chunk: Chunk, random: np.ndarray) -> int:
        """Read the next words of a chunk into a block; returns how many."""
        return self.fill_from(block, chunk.source, random)

    def is_empty(self, block: Any) -> bool:
        """Whether a block holds no centres."""
        return bool(block.cursor[FIRST] == block.cursor[LAST])

    def rewind(self, block: Any, chunk: Chunk) -> None:
        """Move a block to the start of a chunk."""
        rewind(block, *chunk)

    def is_valid(self, block: Any, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""
        return self.is_valid_block(block, *chunk)

    def shuffled_chunks(self, begin: int, end: int, order: np.random.Generator) -> Iterator[Chunk]:
        """Chunks that hold each sentence of a share once; a sentence cut by the share's border counts as one."""
        source = self.source
        segments = order.permutation(-(-(end - begin) // SEGMENT))
        for first in range(0, len(segments), SEGMENTS_PER_CHUNK):
            numbers = segments[first : first + SEGMENTS_PER_CHUNK]
            bounds = [segment_sentences(source.lines, begin, end, int(number)) for number in numbers]
            starts, stops = (np.concatenate(part) for part in zip(*bounds, strict=True))
            shuffled = order.permutation(len(starts))
            starts, stops = starts[shuffled], stops[shuffled]
            # Long sentences are read in place: copying them would make a chunk as large as the longest line.
            is_long = stops - starts > SEGMENT
            for start, stop in zip(starts[is_long].tolist(), stops[is_long].tolist(), strict=True):
                yield Chunk(source, start, stop)
            starts, stops = starts[~is_long], stops[~is_long]
            words = int((stops - starts).sum())
            ids, lines = np.empty(words, source.ids.dtype), np.empty(len(starts) + 1, np.int64)
            gather_lines(source.ids, starts, stops, ids, lines)
            # numba compiles kernels for writeable and for read-only arrays separately: the copies are like the source
            ids.flags.writeable, lines.flags.writeable = source.ids.flags.writeable, source.lines.flags.writeable
            copies = source._replace(ids=ids, lines=lines)
            if len(getattr(source, "document_rows", ())):  # lines are documents
                rows = source.document_rows[np.searchsorted(source.lines, starts, side="right") - 1]
                copies = copies._replace(document_rows=rows)
            yield Chunk(copies, 0, words)

    @property
    def arrays(self) -> Sequence[np.ndarray]:
        """Ids and lines."""
        return self.source.ids, self.source.lines

    def bounds(self, shares: int) -> list[int]:
        """Where the shares of threads begin and end, (shares + 1)."""
        return share_bounds(self.units, self.source.lines, shares)


def share_bounds(words: int, lines: np.ndarray, shares: int) -> list[int]:
    """Where the shares of a text begin and end, (shares + 1); each at the nearest line, if one is near.

    If a short text has fewer shares of `MIN_SHARE` words, the last shares are empty.

    Arguments:
        lines: where lines begin, in ascending order; those next to an equal division are enough.
    """
    used = max(1, min(shares, words // MIN_SHARE))
    bounds = [words * share // used for share in range(used + 1)] + [words] * (shares - used)
    max_distance = words // (20 * used)
    for k, bound in enumerate(bounds[1:-1], 1):
        right = int(np.searchsorted(lines, bound))
        nearest = min((int(lines[at]) for at in (right - 1, right)), key=lambda line: abs(line - bound))
        # A window that a border cuts costs less than shares of unequal length, for which the last thread is awaited.
        if abs(nearest - bound) <= max_distance:
            bounds[k] = nearest
    return bounds


@dataclass(frozen=True)
class ItemStream(Stream):
    """Items of a source that are read one after another, such as pairs of texts.

    The items of a block are 0 to `cursor[LAST]`; `cursor` is `new_cursor()`, and also holds the position of the next
    item in the source and the end of the chunk.

    Arguments:
        source: what `fill_from` reads.
        fill_from: reads the next items of a source into a block, given the random state; returns how many.
    """

    source: Any
    fill_from: ClassVar[Callable[[Any, Any, np.ndarray], int]]

    def fill(self, block: Any, chunk: Chunk, random: np.ndarray) -> int:
        """Read the next items of a chunk into a block; returns how many."""
        return type(self).fill_from(block, chunk.source, random)

    def is_empty(self, block: Any) -> bool:
        """Whether a block holds no items."""
        return not block.cursor[LAST]

    def rewind(self, block: Any, chunk: Chunk) -> None:
        """Move a block to the start of a chunk."""
        block.cursor[[POSITION, END, LAST]] = chunk.begin, chunk.end, 0

    def is_valid(self, block: Any, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""
        position, end = block.cursor[[POSITION, END]]
        return bool(chunk.begin <= position <= end == chunk.end)


def systematic_draws(cumulative_weights: np.ndarray, begin: int, end: int, offset: float) -> NDArray[np.int64]:
    """The numbers of the items of a share, each as often as its weight says, rounded up or down.

    As many items are drawn as there are, at equal distances in the sum of weights (systematic sampling).
    """
    places = (np.arange(begin, end) + offset) * (cumulative_weights[-1] / len(cumulative_weights))
    return np.asarray(np.searchsorted(cumulative_weights[:-1], places, side="right"))


class WholeCorpusNeeded(Exception):
    """A plan reads the corpus other than through its stream, so that a share of it is not enough."""


@dataclass(frozen=True)
class CorpusShare:
    """Consecutive tokens of a corpus, which only `TrainingData.window_stream` reads.

    Arguments:
        tokens: their ids, int32 (tokens,).
        lines: where lines begin in them, int64 (lines + 1,); the first and the last line may be cut.
        first_line: the number of the first line in the whole corpus.
        meta, fingerprint, max_undercount, phrases: as those of the `EncodedCorpus`, of all of it.

    Raises:
        WholeCorpusNeeded: anything else of an `EncodedCorpus` is read.
    """

    tokens: np.ndarray
    lines: np.ndarray
    first_line: int
    meta: Mapping[str, Any]
    fingerprint: str
    max_undercount: int = 0
    phrases: Any = None

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise WholeCorpusNeeded(name)


@dataclass(frozen=True, kw_only=True)
class ShareOfStream(TokenStream):
    """The part of a stream of words that a machine holds.

    Arguments:
        all_bounds: where the shares begin and end in the whole corpus, (shares + 1).
        offset, first_line: where the held tokens begin in the whole corpus.
    """

    all_bounds: list[int]
    offset: int = 0
    first_line: int = 0

    def localize(self, block: Any, chunk: Chunk) -> None:
        """Convert a place in the whole corpus to one in the held tokens."""
        self.move(block.cursor, chunk, -1)

    def move(self, cursor: np.ndarray, chunk: Chunk | None, sign: int) -> None:
        """Convert the place in a cursor: to the whole corpus with the sign 1, to the held tokens with -1.

        A chunk of sentences in a random order is a copy, with places of its own.
        """
        if chunk is not None and chunk.source is self.source:
            cursor[[POSITION, END]] += sign * self.offset
            cursor[LINE] += sign * self.first_line

    def bounds(self, shares: int) -> list[int]:
        """Where the shares begin and end in the held tokens; others are empty."""
        return [min(max(bound - self.offset, 0), self.units) for bound in self.all_bounds]


class RemoteStream(ShareOfStream):
    """The text of a corpus that is read by workers on other machines only."""

    @property
    def units(self) -> int:
        """Words of the whole corpus."""
        return self.all_bounds[-1]

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """No chunks."""
        return iter(())
