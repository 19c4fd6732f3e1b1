"""Tokens, line ends and documents for tokenisers that are plain Python, and for lists of tokens."""

from collections.abc import Iterator, Sequence

from embeddings.corpora.reading.text_rows import Text
from embeddings.corpora.reading.utf8 import Utf8, utf8
from embeddings.corpora.tokenizers import Tokenizer, lowered
from embeddings.errors import CorpusError


class Lines:
    """Cuts lines by the rules of the scanner and hands each to the tokeniser whole.

    tokens: those of the lines that ended since `clear`, as UTF-8. ends: where these lines end, in tokens from
    the start of the corpus. starts: the lines that documents start with, counted from the start of the
    corpus.
    """

    def __init__(self, tokenizer: Tokenizer, case: str) -> None:
        self.tokenizer = tokenizer
        self.case = case
        self.tokens: list[bytes] = []
        self.ends: list[int] = []
        self.starts: list[int] = []
        self.rest: list[bytes] = []  # of a line that goes on in the next block
        self.past_tokens = 0
        self.past_lines = 0
        self.opened = 0  # the line an item started with
        self.fresh = True

    @property
    def line(self) -> int:
        """The number of the line that is being read."""
        return self.past_lines + len(self.ends)

    def clear(self, *, tokens: int, lines: int) -> None:
        """Forget the tokens and bounds; so many tokens and lines of the corpus were written."""
        self.past_tokens = tokens
        self.past_lines = lines
        self.tokens, self.ends, self.starts = [], [], []

    def add_lists(self, lists: Sequence[Sequence[bytes]]) -> None:
        """Take token lists, each a line and a document."""
        for tokens in lists:
            self.start_document()
            self.tokens.extend(tokens)
            self.end_line()
            self.fresh = True

    def add_text(self, block: Text) -> None:
        """Take a block of text."""
        start = 0
        for number, end in enumerate(block.parts, 1):
            if block.items and self.fresh:
                self.start_document()
            for line in self.whole_lines(block.data[start:end]):
                self.add_line(line, block.items)
            if block.closed or number < len(block.parts):
                if self.rest or (block.items and self.line == self.opened):
                    self.add_line(self.whole(b""), block.items)
                self.fresh = True
            start = end

    def whole_lines(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in this data, without their ends; what is left is kept for later."""
        *lines, last = data.split(b"\n")
        for line in lines:
            yield self.whole(line)
        if last:
            self.rest.append(last)

    def whole(self, end: bytes) -> bytes:
        """The line that ends so."""
        line = b"".join([*self.rest, end])
        self.rest = []
        return line

    def add_line(self, line: bytes, item: bool) -> None:
        """Take the tokens of a line, and part documents at a blank one."""
        text = line.decode().removesuffix("\r")
        blank = not text.strip()
        if not item and blank:
            self.fresh = True
        elif not item and self.fresh:
            self.start_document()
        self.tokens.extend(self.cut(text))
        self.end_line()

    def cut(self, text: str) -> Iterator[bytes]:
        """The tokens of a line as UTF-8."""
        decoder = Utf8("strict", "a token")
        for token in self.tokenizer(text):
            if not isinstance(token, str):
                raise CorpusError(f"the tokenizer gave {token!r}, of type {type(token).__name__}; allowed are strings")
            yield utf8(lowered(token) if self.case == "lower" else token, decoder)

    def start_document(self) -> None:
        """Note that a document starts with this line."""
        self.starts.append(self.line)
        self.opened = self.line
        self.fresh = False

    def end_line(self) -> None:
        """Note where the line ends."""
        self.ends.append(self.past_tokens + len(self.tokens))
