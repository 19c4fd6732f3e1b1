"""Text split into words by tokenizers of other libraries, in several processes, and by functions, in this process."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from embeddings.corpora.reading.encodings import Utf8Decoder, encode_utf8
from embeddings.corpora.reading.text_block import FILE_END, TextBlock, text_batches
from embeddings.corpora.reading.text_pool import ConversionError, Convert, TextPool
from embeddings.corpora.segmenters import SEPARATOR, Segmenter
from embeddings.corpora.tokenizers import Tokenizer, resolve_tokenizer
from embeddings.errors import CorpusError

REMOVED = {ord(SEPARATOR): " ", ord("\n"): " "}


class SegmenterPool(TextPool):
    """Splits blocks of text into words, with worker processes if the tokenizer is a segmenter."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        if isinstance(tokenizer, Segmenter):
            name = tokenizer.full_name
            super().__init__(f"the tokenizer {name}", f"{__name__}:segment_texts_with", name)
        else:
            super().__init__("the tokenizer", segmentation(tokenizer))

    def blocks(self, blocks: Iterable[TextBlock], name: str) -> Iterator[TextBlock]:
        """Yield the blocks of a source with separators between the tokens of texts; token lists are not changed."""
        first, decoder = 1, Utf8Decoder("strict", "a token")  # number of the first text of a block
        is_file = False
        for block, texts in self.map((block, self.texts(block)) for block in text_batches(blocks)):
            is_file = not block.parts_are_documents
            if isinstance(texts, ConversionError):
                number = first + texts.text
                place = f"line {number}" if is_file else f"row {number}, line {texts.line + 1}"
                raise CorpusError(f"{name}, {place}: {texts}")
            first += len(block)
            if is_file:
                end = "" if texts[-1] and not block.data.endswith(b"\n") else "\n"  # also of a blank line
                yield TextBlock.of_file(encode_utf8("\n".join(texts) + end, decoder, "a token"))
            else:
                parts = []
                for text, (start, stop) in zip(texts, pairwise(block.starts.tolist()), strict=True):
                    # a last line without a line end of white space only, which a segmented line does not keep
                    is_blank = text[-1:] in ("", "\n") and start < stop and block.data[stop - 1] != ord("\n")
                    parts.append(encode_utf8(text + "\n" * is_blank, decoder, "a token"))
                yield replace(block, data=b"".join(parts), ends=np.cumsum([*map(len, parts)], dtype=np.int64))
        if is_file:
            yield FILE_END

    @staticmethod
    def texts(block: TextBlock) -> list[str]:
        """Return the rows of a block, or its lines without line feeds."""
        texts = [block.data[start:stop].decode() for start, stop in pairwise(block.starts.tolist())]
        return texts if block.parts_are_documents else [text.removesuffix("\n") for text in texts]


def segment_texts_with(name: str) -> Convert:
    """Return a function that puts a separator between the tokens of each line of texts; it raises ConversionError."""
    return segmentation(resolve_tokenizer(name))


def segmentation(tokenizer: Tokenizer) -> Convert:
    """Return a function that puts a separator between the tokens of each line of texts."""

    def segment(texts: list[str]) -> list[str]:
        return [
            "\n".join(segment_line(tokenizer, line, i, j) for j, line in enumerate(text.split("\n")))
            for i, text in enumerate(texts)
        ]

    return segment


def segment_line(tokenizer: Tokenizer, line: str, text: int, number: int) -> str:
    """Return a line with a separator between tokens; a non-blank line without tokens becomes one separator."""
    line = line.removesuffix("\r")
    is_blank = line.isspace()
    if not line or (is_blank and isinstance(tokenizer, Segmenter)):
        return ""
    try:
        tokens: list[Any] = list(tokenizer(line.replace(SEPARATOR, " ")))
    except CorpusError as error:
        raise ConversionError(text, number, str(error)) from error
    try:
        joined = SEPARATOR.join(tokens)
    except TypeError:
        other = next(token for token in tokens if not isinstance(token, str))
        problem = f"the tokenizer must return strings, got {other!r} of type {type(other).__name__}"
        raise ConversionError(text, number, problem) from None
    if "\n" in joined or joined.count(SEPARATOR) >= max(len(tokens), 1):
        joined = SEPARATOR.join(token.translate(REMOVED) for token in tokens)
    return joined or ("" if is_blank else SEPARATOR)
