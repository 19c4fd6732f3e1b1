"""Word segmentation of text blocks in several processes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from embeddings.corpora.reading.text_block import FILE_END, TextBlock, text_batches
from embeddings.corpora.reading.text_pool import ConversionError, Convert, TextPool
from embeddings.corpora.segmenters import SEPARATOR, Segmenter
from embeddings.corpora.tokenizers import resolve_tokenizer
from embeddings.corpora.word_cleaning import chinese_converter
from embeddings.errors import CorpusError

REMOVED = {ord(SEPARATOR): " ", ord("\n"): " ", ord("\r"): " "}


class SegmenterPool(TextPool):
    """Worker processes that split blocks of text into words with a segmenter.

    Arguments:
        script: the Chinese script that text is converted to before, or "": dictionaries of segmenters know one script.
    """

    def __init__(self, segmenter: Segmenter, processes: int | None = None, script: str = "") -> None:
        name = segmenter.full_name
        super().__init__(f"the tokenizer {name}", f"{__name__}:segment_texts_with", f"{script}:{name}", processes)

    def blocks(self, blocks: Iterable[TextBlock], name: str) -> Iterator[TextBlock]:
        """Yield the blocks of a source with separators between the tokens of texts; token lists are not changed.

        Raises:
            CorpusError: the tokenizer failed; the message has the line of the file, or the row.
        """
        first = 1  # number of the first text of a block
        is_file = False
        for block, texts in self.map((block, self.texts(block)) for block in text_batches(blocks)):
            is_file = not block.parts_are_documents
            if isinstance(texts, ConversionError):
                number = first + texts.text
                place = f"line {number}" if is_file else f"row {number}, line {texts.line + 1}"
                raise CorpusError(f"{name}, {place}: {texts}")
            first += len(block)
            if is_file:
                end = "\n" if block.data.endswith(b"\n") else ""
                yield TextBlock.of_file(("\n".join(texts) + end).encode())
            else:
                parts = [text.encode() for text in texts]
                yield replace(block, data=b"".join(parts), ends=np.cumsum([*map(len, parts)], dtype=np.int64))
        if is_file:
            yield FILE_END

    @staticmethod
    def texts(block: TextBlock) -> list[str]:
        """Return the rows of a block, or its lines without line feeds."""
        texts = [block.data[start:stop].decode() for start, stop in pairwise(block.starts.tolist())]
        return texts if block.parts_are_documents else [text.removesuffix("\n") for text in texts]


def segment_texts_with(script_and_name: str) -> Convert:
    """Return a function that puts a separator between the tokens of each line of texts; it raises ConversionError."""
    script, _, name = script_and_name.partition(":")
    tokenizer, convert = resolve_tokenizer(name), chinese_converter(script) if script else str

    def segment(texts: list[str]) -> list[str]:
        return [
            "\n".join(segment_line(tokenizer, convert(line), i, j) for j, line in enumerate(text.split("\n")))
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
