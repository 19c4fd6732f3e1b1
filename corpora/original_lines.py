"""Lines of a corpus as they stand in its sources, with case and punctuation, found by their numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.sources import File, Items, Source
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.tokenizers import Tokenizer, WordTokenizer
from embeddings.corpora.word_rules import WordRules

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus

MAX_LINE = 1 << 18  # bytes; longer lines are not kept
Span = tuple[int, int]


class OriginalLine(NamedTuple):
    """A line, and the name of the file that it is in, empty for other sources."""

    text: str
    file: str


def original_lines(corpus: "Corpus", numbers: NDArray[np.int64]) -> dict[int, OriginalLine]:
    """Read the sources again, up to the last of some lines, and return these lines by their numbers.

    Lines of more than `MAX_LINE` bytes, and all lines of sources that can be read once only, are missing.

    Arguments:
        numbers: ascending numbers of lines of the encoded corpus, from 0.
    """
    lines: dict[int, OriginalLine] = {}
    if not len(numbers) or corpus.labels is not None or corpus.pairs is not None:
        return lines
    if not all(map(can_read_again, corpus.sources)):
        return lines
    reader, finder = corpus.new_reader(), LineFinder(numbers)
    with reader.opener:
        for source in corpus.sources:
            for block in reader.read(source):
                finder.add(block)
                if finder.line > numbers[-1]:
                    break
            file = source.name if isinstance(source, File) else ""
            for number, pieces in finder.take().items():
                lines[number] = OriginalLine(b"".join(pieces).decode().removesuffix("\r"), file)
            if finder.line > numbers[-1]:
                break
    return lines


def can_read_again(source: Source) -> bool:
    """Whether a source has the same text when it is read again: not a pipe, an iterator or a reader of batches."""
    if isinstance(source, File):
        return source.is_regular
    data = source.items if isinstance(source, Items) else source.data
    return not (hasattr(data, "__next__") or hasattr(data, "read_next_batch"))


class LineFinder:
    """Keeps some lines of text that is added block by block; `line` is the number of the first line of the next block.

    Lines are counted as in an encoded corpus. Lists of tokens are counted but not kept.
    """

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self.numbers = numbers
        self.line = 0
        self.is_open = False  # the text of a file so far does not end with a line end
        self.pieces: dict[int, list[bytes]] = {}

    def add(self, block: TextBlock) -> None:
        """Add the next block of a source."""
        if block.token_lists is not None:
            self.line += len(block)
        elif block.parts_are_documents:
            self.add_rows(block)
        else:
            self.add_text(block)

    def take(self) -> dict[int, list[bytes]]:
        """Return the pieces of the lines so far without those that are too long or begin with the next source."""
        pieces, self.pieces = self.pieces, {}
        complete = {number: parts for number, parts in pieces.items() if number < self.line}
        return {number: parts for number, parts in complete.items() if sum(map(len, parts)) <= MAX_LINE}

    def wanted(self, count: int) -> list[int]:
        """Return which of the next lines are kept, counted from 0."""
        start, stop = np.searchsorted(self.numbers, [self.line, self.line + count])
        return [int(number - self.line) for number in self.numbers[start:stop]]

    def add_rows(self, block: TextBlock) -> None:
        """Add whole rows; each has one line at least."""
        data, starts = np.frombuffer(block.data, np.uint8), block.starts
        line_ends = np.flatnonzero(data == ord("\n"))
        borders = np.searchsorted(line_ends, starts)
        is_empty = np.diff(starts) == 0
        ends_line = np.zeros(len(block), np.bool_)
        ends_line[~is_empty] = data[starts[1:][~is_empty] - 1] == ord("\n")
        counts = np.diff(borders) + ~ends_line
        firsts = np.cumsum(counts) - counts
        for number in self.wanted(int(counts.sum())):
            row = int(np.searchsorted(firsts, number, side="right")) - 1
            lines = block.data[starts[row] : starts[row + 1]].split(b"\n")
            self.pieces[self.line + number] = [lines[number - int(firsts[row])]]
        self.line += int(counts.sum())

    def add_text(self, block: TextBlock) -> None:
        """Add a part of a file, whose last line may continue in the next block."""
        data = block.data
        line_ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).tolist()
        for number in self.wanted(len(line_ends) + 1):
            start = line_ends[number - 1] + 1 if number else 0
            stop = line_ends[number] if number < len(line_ends) else len(data)
            pieces = self.pieces.setdefault(self.line + number, [])
            if sum(map(len, pieces)) <= MAX_LINE:
                pieces.append(data[start:stop])
        self.line += len(line_ends)
        self.is_open = not data.endswith(b"\n") if data else self.is_open
        if block.is_complete:
            self.line += self.is_open
            self.is_open = False


def word_spans(
    rules: WordRules, text: str, words: Sequence[str | None], joiner: str | None = None
) -> list[Span] | None:
    """Return where the words of a line start and end in its text; None if they cannot be found.

    Arguments:
        text: the line as in its source.
        words: the words of the line in the encoded corpus; None for words that are not in its vocabulary.
        joiner: the string between the words of phrases; None without phrases.
    """
    spans = token_spans(rules.tokenizer, text)
    if spans is None or len(spans) == len(words):
        return spans
    if joiner is None:
        return None
    tokens = rules.normalize_all([text[start:end] for start, end in spans])
    result, place = [], 0
    for word in words:
        sizes = range(1, min(len(word or "") + 1, len(tokens) - place) + 1)
        is_found = (size for size in sizes if word in (None, joiner.join(tokens[place : place + size])))
        size = next(is_found, 0)
        if not size:
            return None
        result.append((spans[place][0], spans[place + size - 1][1]))
        place += size
    return result if place == len(tokens) else None


def token_spans(tokenizer: Tokenizer, text: str) -> list[Span] | None:
    """Return where the tokens of a text start and end; None if a token does not occur in the text as it is."""
    if isinstance(tokenizer, WordTokenizer):
        return tokenizer.spans(text)
    spans, place = [], 0
    for token in tokenizer(text):
        start = text.find(token, place)
        if start < 0:
            return None
        place = start + len(token)
        spans.append((start, place))
    return spans
