"""Lines of a corpus as they stand in its sources, with case and punctuation, found by their numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.sources import File, Items, Source
from embeddings.corpora.reading.text_block import TextBlock, text_batches
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
    """Read the sources again, up to the last requested line, and return the requested lines by number.

    Lines of more than `MAX_LINE` bytes, and all lines of sources that can be read once only, and of labelled texts and
    pairs, are missing.

    Arguments:
        numbers: ascending numbers of lines of the encoded corpus, from 0.
    """
    lines: dict[int, OriginalLine] = {}
    if not len(numbers) or corpus.labels is not None or corpus.pairs is not None:
        return lines
    if not all(map(can_read_again, corpus.sources)):
        return lines
    reader, first = corpus.new_reader(), 0
    with reader.opener:
        for source in corpus.sources:
            file = source.name if isinstance(source, File) else ""
            for block in text_batches(reader.read(source)):
                selected, count = block_lines(block, numbers, first)
                lines |= {number: OriginalLine(text, file) for number, text in selected.items()}
                first += count
                if first > numbers[-1]:
                    return lines
    return lines


def can_read_again(source: Source) -> bool:
    """Whether a source has the same text when it is read again: not a pipe, an iterator or a reader of batches."""
    if isinstance(source, File):
        return source.is_regular
    data = source.items if isinstance(source, Items) else source.data
    return not (hasattr(data, "__next__") or hasattr(data, "read_next_batch"))


def block_lines(block: TextBlock, numbers: NDArray[np.int64], first: int) -> tuple[dict[int, str], int]:
    """Return selected lines of a block by their numbers, and how many lines it has; lists of tokens have no text.

    Arguments:
        block: whole lines or rows; a row has one line at least.
        numbers: of the selected lines, ascending.
        first: the number of the first line of the block.
    """
    if block.token_lists is not None or not len(block):
        return {}, len(block)
    data, starts = np.frombuffer(block.data, np.uint8), block.starts
    counts = np.diff(np.searchsorted(np.flatnonzero(data == ord("\n")), starts))
    is_empty = np.diff(starts) == 0
    # an empty row is one line, as in the encoded corpus
    is_open = is_empty.copy()
    is_open[~is_empty] = data[starts[1:][~is_empty] - 1] != ord("\n")
    ends = np.cumsum(counts + is_open)
    lines: dict[int, str] = {}
    for number in numbers[slice(*np.searchsorted(numbers, [first, first + ends[-1]]))].tolist():
        part = int(np.searchsorted(ends, number - first, side="right"))
        before = int(ends[part - 1]) if part else 0
        line = block.data[starts[part] : starts[part + 1]].split(b"\n")[number - first - before]
        if len(line) <= MAX_LINE:
            lines[number] = line.decode().removesuffix("\r")
    return lines, int(ends[-1])


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
