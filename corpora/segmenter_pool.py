"""Word segmentation of text blocks in several processes."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from embeddings.corpora.reading.reader import Block
from embeddings.corpora.reading.text_batches import text_batches
from embeddings.corpora.reading.text_pool import TextPool
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.reading.text_worker import ConversionError, Convert
from embeddings.corpora.segmenters import SEPARATOR, Segmenter
from embeddings.corpora.tokenizers import resolve_tokenizer
from embeddings.errors import CorpusError

REMOVED = {ord(SEPARATOR): " ", ord("\n"): " ", ord("\r"): " "}


class SegmenterPool(TextPool):
    """Worker processes that split blocks of text into words with a segmenter."""

    def __init__(self, segmenter: Segmenter, processes: int | None = None) -> None:
        name = segmenter.full_name
        super().__init__(f"the tokenizer {name}", f"{__name__}:segment_texts_with", name, processes)

    def blocks(self, blocks: Iterable[Block], name: str) -> Iterator[Block]:
        """Yield the blocks of a source with separators between the tokens of texts; other blocks are not changed.

        Raises:
            CorpusError: the tokenizer failed; the message has the line of the file, or the row.
        """
        others: list[Block] = []  # tags and token lists
        is_rows = False
        first = 1  # number of the first text of a job

        def text_blocks() -> Iterator[Block]:
            nonlocal is_rows
            for block in blocks:
                if isinstance(block, TextBlock):
                    is_rows = block.items
                    yield block
                else:
                    others.append(block)

        def jobs() -> Iterator[tuple[list[bool], list[str]]]:
            for data, starts in text_batches(text_blocks()):
                lines = [data[start:stop].decode() for start, stop in pairwise(starts.tolist())]
                has_end = [not is_rows and line.endswith("\n") for line in lines]
                yield has_end, [line[:-1] if end else line for line, end in zip(lines, has_end, strict=True)]

        for has_end, texts in self.map(jobs()):
            yield from others
            others.clear()
            if isinstance(texts, ConversionError):
                number = first + texts.text
                place = f"row {number}, line {texts.line + 1}" if is_rows else f"line {number}"
                raise CorpusError(f"{name}, {place}: {texts}")
            first += len(texts)
            yield segmented_block(texts, has_end, is_rows=is_rows)
        yield from others
        if not is_rows:
            yield TextBlock(b"", (0,), items=False, is_complete=True)


def segmented_block(texts: list[str], has_end: list[bool], *, is_rows: bool) -> TextBlock:
    """Return texts as a block: rows, or lines of a file with their line feeds."""
    parts = [(text + "\n" * end).encode() for text, end in zip(texts, has_end, strict=True)]
    data = b"".join(parts)
    ends: Any = np.cumsum([len(part) for part in parts], dtype=np.int64) if is_rows else (len(data),)
    return TextBlock(data, ends, items=is_rows, is_complete=is_rows)


def segment_texts_with(name: str) -> Convert:
    """Return a function that puts a separator between the tokens of each line of texts; it raises ConversionError."""
    tokenizer = resolve_tokenizer(name)

    def segment(texts: list[str]) -> list[str]:
        return [
            "\n".join(segment_line(tokenizer, line, i, j) for j, line in enumerate(text.split("\n")))
            for i, text in enumerate(texts)
        ]

    return segment


def segment_line(tokenizer: Callable[[str], Iterable[str]], line: str, text: int, number: int) -> str:
    """Return a line with a separator between tokens; a non-blank line without tokens becomes one separator."""
    line = line.removesuffix("\r")
    if not line or line.isspace():
        return ""
    try:
        tokens = list(tokenizer(line.replace(SEPARATOR, " ")))
    except CorpusError as error:
        raise ConversionError(text, number, str(error)) from error
    return SEPARATOR.join(token.translate(REMOVED) for token in tokens) or SEPARATOR
