"""Cuts the text of sources into chunks that can be scanned independently of each other.

A chunk ends where no token is open: at the end of a file, of an item or of a line, or, if a line is long, after a
space. The lines before it decide whether a document starts at its first line, so its `LineState` belongs to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from embeddings.corpora.characters import ScannedTokenizer
from embeddings.corpora.reading.text_rows import TextBlock

MAX_GROWTH = 2  # times the usual size, after which a line is divided


@dataclass(frozen=True)
class LineState:
    """What the scanner knows at a place in the text; by default, at the start of a file or item."""

    line_is_blank: bool = True  # so far
    document_is_due: bool = True  # the line, or the next one that is not blank, starts a document
    line_is_open: bool = False


class NamedBlock(NamedTuple):
    """A block of text and the name of its source, for messages."""

    block: TextBlock
    name: str


@dataclass(frozen=True)
class Chunk:
    """Consecutive blocks of text.

    start: the state of the scanner at its start; None if the chunk before it ends within a token. is_open: it ends so.
    """

    blocks: list[NamedBlock]
    start: LineState | None
    is_open: bool


class ChunkCutter:
    """Cuts blocks of text into chunks of about `size` bytes."""

    def __init__(self, tokenizer: ScannedTokenizer, size: int) -> None:
        self.tokenizer = tokenizer
        self.size = size
        self.can_cut_at_spaces = not tokenizer(" ")
        self.blocks: list[NamedBlock] = []
        self.filled = 0  # bytes of these blocks
        self.start: LineState | None = LineState()
        self.state = LineState()

    def add(self, block: TextBlock, name: str) -> Iterator[Chunk]:
        """Add a block of the source with this name; yields the chunk that it completes, if any."""
        if self.filled + block_size(block) < self.size:
            self.append(block, name)
            return
        stop = self.find_cut(block)
        if stop is None:
            self.append(block, name)
        elif stop in (0, len(block.data)):
            self.append(block, name)
            yield self.cut(is_open=not (stop or block.is_complete))
        else:
            self.append(TextBlock(block.data[:stop], (stop,), items=False, is_complete=False), name)
            yield self.cut(is_open=False)
            rest = block.data[stop:]
            self.append(TextBlock(rest, (len(rest),), items=False, is_complete=False), name)

    def find_cut(self, block: TextBlock) -> int | None:
        """Return where in a block the chunk may end: 0 for within a token at its end, None for nowhere."""
        if block.is_complete:
            return len(block.data)
        if block.items or len(block.parts) > 1:
            return None
        is_long = self.filled + len(block.data) >= MAX_GROWTH * self.size
        stop = block.data.rfind(b"\n") + 1
        if not stop and is_long and self.can_cut_at_spaces:
            stop = block.data.rfind(b" ") + 1
        return stop if stop or is_long else None

    def append(self, block: TextBlock, name: str) -> None:
        """Append a block to the chunk."""
        self.blocks.append(NamedBlock(block, name))
        self.filled += block_size(block)
        self.state = LineState() if block.is_complete or block.items else self.state_after(block.data)

    def cut(self, *, is_open: bool) -> Chunk:
        """Return the blocks so far as a chunk, and begin another one."""
        chunk = Chunk(self.blocks, self.start, is_open)
        self.start = None if is_open else self.state
        self.blocks, self.filled = [], 0
        return chunk

    def state_after(self, data: bytes) -> LineState:
        """Return the state after more text of a file."""
        if not data:
            return self.state
        last = data.rfind(b"\n")
        if last < 0:
            is_blank = self.state.line_is_blank and self.is_blank(data)
            return LineState(is_blank, self.state.document_is_due, line_is_open=True)
        first = data.rfind(b"\n", 0, last) + 1
        was_blank = (first > 0 or self.state.line_is_blank) and self.is_blank(data[first:last])
        return LineState(self.is_blank(data[last + 1 :]), was_blank, last + 1 < len(data))

    def is_blank(self, data: bytes) -> bool:
        """Whether text within a line has only white space, none of which is part of a token."""
        text = data.decode()
        return not text or (text.isspace() and not self.tokenizer(text))


def block_size(block: TextBlock) -> int:
    """Return the size of a block; the end of an item counts as a byte."""
    return len(block.data) + len(block.parts)
