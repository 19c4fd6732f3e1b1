"""A share of an encoded corpus, on a machine that does not hold the rest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from embeddings.kernels.block import END, LINE, POSITION
from embeddings.training.stream import Chunk, TokenStream


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
