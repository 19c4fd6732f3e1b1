"""A share of an encoded corpus, on a machine that does not hold the rest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from embeddings.training.shuffle import Chunk
from embeddings.training.stream import TokenStream


class WholeCorpusNeeded(Exception):
    """A plan reads the corpus other than through its stream, so that a share of it is not enough."""


@dataclass(frozen=True)
class CorpusShare:
    """Consecutive tokens of a corpus, which only `TrainingData.window_stream` reads.

    Arguments:
        tokens: their ids, int32 (tokens,).
        lines: where lines begin in them, int64 (lines + 1,); the first and the last line may be cut.
        meta, fingerprint, max_undercount, phrases: as those of the `EncodedCorpus`, of all of it.

    Raises:
        WholeCorpusNeeded: anything else of an `EncodedCorpus` is read.
    """

    tokens: np.ndarray
    lines: np.ndarray
    meta: Mapping[str, Any]
    fingerprint: str
    max_undercount: int = 0
    phrases: Any = None

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise WholeCorpusNeeded(name)


def cut_lines(lines: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Where lines begin in tokens begin to end, counted from `begin`, (lines + 1,)."""
    first, last = np.searchsorted(lines, [begin, end])
    inner = np.asarray(lines[first:last])
    starts = inner if len(inner) and inner[0] == begin else np.append(begin, inner)
    return np.append(starts, end).astype(np.int64) - begin if end > begin else np.zeros(1, np.int64)


def share_bounds(tokens: int, lines: np.ndarray, shares: int) -> list[int]:
    """Where the shares of a corpus begin and end, (shares + 1): as `TokenStream.bounds`.

    Arguments:
        tokens: of the corpus.
        lines: where lines begin, in ascending order; those next to an equal division are enough.
    """

    @dataclass
    class Source:
        ids: np.ndarray
        lines: np.ndarray

    no_memory = np.broadcast_to(np.int32(0), (tokens,))
    return TokenStream(Source(no_memory, lines), make_block=lambda: None).bounds(shares)


class ShareOfStream(TokenStream):
    """The part of a stream of words that a machine holds.

    Arguments:
        stream: reads the tokens that are held.
        all_bounds: where the shares begin and end in the whole corpus, (shares + 1).
        offset: where the held tokens begin in the whole corpus.
    """

    def __init__(self, stream: TokenStream, all_bounds: list[int], offset: int) -> None:
        super().__init__(stream.source, stream.make_block, stream.fill_from, stream.is_valid_block)
        object.__setattr__(self, "all_bounds", all_bounds)
        object.__setattr__(self, "offset", offset)

    all_bounds: list[int]
    offset: int

    def bounds(self, shares: int) -> list[int]:
        """Where the shares begin and end in the held tokens; others are empty."""
        return [min(max(bound - self.offset, 0), self.units) for bound in self.all_bounds]


class RemoteStream(ShareOfStream):
    """What workers on other machines read, of which this one holds nothing."""

    @property
    def units(self) -> int:
        """Words of the whole corpus."""
        return self.all_bounds[-1]

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """No chunks."""
        return iter(())
