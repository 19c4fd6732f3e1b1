"""Splits text into tokens, lines and documents with a Python tokenizer; also takes token lists."""

from collections.abc import Callable, Sequence

from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.reading.utf8 import Utf8Decoder, encode_utf8
from embeddings.corpora.tokenizers import Tokenizer
from embeddings.errors import CorpusError


class LineTokenizer:
    """Splits text into lines and documents by the rules of the scanner, and calls a tokenizer for each whole line."""

    def __init__(self, tokenizer: Tokenizer, lower: Callable[[str], str] | None) -> None:
        self.tokenizer = tokenizer
        self.lower = lower  # None keeps the case
        self.decoder = Utf8Decoder("strict", "a token")
        self.tokens: list[bytes] = []  # UTF-8 tokens of the lines completed since `clear`
        self.ends: list[int] = []  # where these lines end, as token positions in the corpus
        self.starts: list[int] = []  # the first line of each document, as a line number of the corpus
        self.partial_line: list[bytes] = []  # the parts of a line that continues in the next block
        self.written_tokens = 0
        self.written_lines = 0
        self.item_line = 0
        self.document_is_due = True

    @property
    def line(self) -> int:
        """The number of the current line."""
        return self.written_lines + len(self.ends)

    def clear(self, *, tokens: int, lines: int) -> None:
        """Forget tokens and boundaries; `tokens` and `lines` are the numbers written so far."""
        self.written_tokens = tokens
        self.written_lines = lines
        self.tokens, self.ends, self.starts = [], [], []

    def add_lists(self, lists: Sequence[Sequence[bytes]]) -> None:
        """Add token lists, each one line and one document."""
        for tokens in lists:
            self.start_document()
            self.tokens.extend(tokens)
            self.end_line()
            self.document_is_due = True

    def add_text(self, block: TextBlock) -> None:
        """Add a block of text."""
        start = 0
        for number, end in enumerate(block.parts, 1):
            if block.items and self.document_is_due:
                self.start_document()
            *lines, last = block.data[start:end].split(b"\n")
            for line in lines:
                self.add_line(line, block.items)
            if last:
                self.partial_line.append(last)
            if block.is_complete or number < len(block.parts):
                if self.partial_line or (block.items and self.line == self.item_line):
                    self.add_line(b"", block.items)
                self.document_is_due = True
            start = end

    def add_line(self, end: bytes, is_item: bool) -> None:
        """Add the line that ends with these bytes; in a file, a blank line ends a document."""
        text = b"".join([*self.partial_line, end]).decode().removesuffix("\r")
        self.partial_line = []
        is_blank = not text.strip()
        if not is_item and is_blank:
            self.document_is_due = True
        elif not is_item and self.document_is_due:
            self.start_document()
        for token in self.tokenizer(text):
            if not isinstance(token, str):
                raise CorpusError(f"the tokenizer must return strings, got {token!r} of type {type(token).__name__}")
            text_of_token = token if self.lower is None else self.lower(token)
            self.tokens.append(encode_utf8(text_of_token, self.decoder, "a token"))
        self.end_line()

    def start_document(self) -> None:
        """Start a document at the current line."""
        self.starts.append(self.line)
        self.item_line = self.line
        self.document_is_due = False

    def end_line(self) -> None:
        """End the current line."""
        self.ends.append(self.written_tokens + len(self.tokens))
