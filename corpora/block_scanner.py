"""Turns text into token ids: runs the compiled scanner on blocks of a source, or on batches of texts."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scanner
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.scanner_tables import ScannedTokenizer, character_tables
from embeddings.corpora.tokenizers import CharClassTokenizer, never
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable, bytes_array
from embeddings.errors import CorpusError


class TokenTexts(NamedTuple):
    """The number of each token of several texts, and where each text starts among the tokens, (texts + 1,)."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]


class ScannedText(NamedTuple):
    """A scanned block of text."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]  # of each line, as a number of tokens
    starts: NDArray[np.int64]  # of each document, as a number of lines


class BlockScanner:
    """Scans text block by block, and numbers distinct tokens in a table of words.

    Arguments:
        rules: the rules of words; the scanner must be able to run their tokenizer.
        words: the table.
    """

    def __init__(self, rules: WordRules, words: WordTable) -> None:
        self.rules = rules
        self.words = words
        self.out: Any = ()

    def scan(self, block: TextBlock, name: str) -> ScannedText:
        """Scan a block of the source `name`, continuing in the state in which the previous block ended.

        The arrays are valid until the next call. Words are pruned if there are too many types.

        Raises:
            CorpusError: a token is too long.
        """
        tokenizer: ScannedTokenizer = self.rules.tokenizer
        state, data, parts = self.words.state, block.data, np.array(block.ends, np.int64)
        size, counts = len(data) + len(parts) + 1, [scanner.N_IDS, scanner.N_ENDS, scanner.N_STARTS]
        if not self.out or len(self.out[0]) < size:
            self.out = tuple(np.empty(size, dtype) for dtype in (np.int32, np.int64, np.int64))
        table = self.words.reserve(max_tokens(tokenizer, data) + len(parts) + 1, len(data))
        state[counts] = 0
        mode = (scanner.ITEMS if block.parts_are_documents else scanner.FILES, block.is_complete)
        tables = tuple(character_tables(tokenizer, self.rules.lower, data))
        while scanner.scan(bytes_array(data), parts, tables, tuple(table), self.out, state, mode):
            self.words.prune()
        if state[scanner.TOO_LONG] or state[scanner.PENDING_SIZE] > scanner.MAX_TOKEN:
            state[scanner.TOO_LONG] = 0
            raise CorpusError(f"{name}: a token is longer than {scanner.MAX_TOKEN} bytes; choose another tokenizer")
        return ScannedText(*(array[:count] for array, count in zip(self.out, state[counts].tolist(), strict=True)))


def max_tokens(tokenizer: ScannedTokenizer, data: bytes) -> int:
    """Return an upper bound for the number of tokens that end in a text.

    Two tokens of ASCII characters always have a separator between them.
    """
    size = len(data)
    if isinstance(tokenizer, CharClassTokenizer):
        return size if tokenizer.starts_token is not never else size // 2
    return size // 2 if data.isascii() else size * 2 // 3 + 1


class ItemScanner:
    """Scans batches of complete texts; `table` holds the distinct tokens, lower-cased if the rules lower-case.

    Arguments:
        rules: the rules of words; the scanner must be able to run their tokenizer, unless only lists are added.
    """

    def __init__(self, rules: WordRules | None) -> None:
        self.rules = rules
        self.table = WordTable()
        self.scanner = None if rules is None else BlockScanner(rules, self.table)

    def scan(self, data: bytes, starts: NDArray[np.int64]) -> TokenTexts:
        """Number the tokens of texts by `table`. Text i is `data[starts[i]:starts[i + 1]]`."""
        assert self.scanner is not None
        self.table.state[[scanner.N_TOKENS, scanner.N_LINES, scanner.ITEM_LINE]] = 0
        block = TextBlock(data, starts[1:])
        ids, line_ends, documents = self.scanner.scan(block, "a text")
        return TokenTexts(ids, np.append(np.append(0, line_ends)[documents], len(ids)))

    def add_lists(self, lists: list[list[bytes]]) -> TokenTexts:
        """Number the tokens of texts that are already lists of tokens; tokens are not changed."""
        return TokenTexts(*self.table.intern_lists(lists))
