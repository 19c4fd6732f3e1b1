"""Runs the compiled scanner on blocks of a source, or on batches of texts."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scanner
from embeddings.corpora.characters import ScannedTokenizer, character_tables
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.tokenizers import CharClassTokenizer, never
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable, bytes_array
from embeddings.errors import CorpusError

Scanned = tuple[NDArray[np.int32], NDArray[np.int64]]


class ScannedText(NamedTuple):
    """The ids of tokens; line ends, in tokens; document starts, in lines."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]


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
        state, data, parts = self.words.state, block.data, np.array(block.parts, np.int64)
        size, counts = len(data) + len(parts) + 1, [scanner.N_IDS, scanner.N_ENDS, scanner.N_STARTS]
        if not self.out or len(self.out[0]) < size:
            self.out = tuple(np.empty(size, dtype) for dtype in (np.int32, np.int64, np.int64))
        table = self.words.reserve(max_tokens(tokenizer, data) + len(parts) + 1, len(data))
        state[counts] = 0
        mode = (scanner.ITEMS if block.items else scanner.FILES, block.is_complete)
        tables = tuple(character_tables(tokenizer, self.rules.lower, data))
        while scanner.scan(bytes_array(data), parts, tables, tuple(table), self.out, state, mode):
            self.words.prune()
        if state[scanner.TOO_LONG] or state[scanner.PENDING_SIZE] > scanner.MAX_TOKEN:
            raise CorpusError(f"{name}: a token is longer than {scanner.MAX_TOKEN} bytes; choose another tokenizer")
        return ScannedText(*(array[:count] for array, count in zip(self.out, state[counts].tolist(), strict=True)))


def max_tokens(tokenizer: ScannedTokenizer, data: bytes) -> int:
    """Return the maximum number of tokens that end in a text; adjacent tokens without separator are not both ASCII."""
    size = len(data)
    if isinstance(tokenizer, CharClassTokenizer):
        return size if tokenizer.starts_token is not never else size // 2
    return size // 2 if data.isascii() else size * 2 // 3 + 1


class ItemScanner:
    """Scans batches of complete texts; `table` has the distinct tokens, in the case that the rules say.

    Arguments:
        rules: the rules of words; the scanner must be able to run their tokenizer, unless only lists are added.
    """

    def __init__(self, rules: WordRules | None) -> None:
        self.rules = rules
        self.table = WordTable()
        self.scanner = None if rules is None else BlockScanner(rules, self.table)

    def scan(self, data: bytes, starts: NDArray[np.int64]) -> Scanned:
        """Return the number of each token in `table`, and where each text starts among the tokens, (texts + 1,).

        Text i is `data[starts[i]:starts[i + 1]]`.
        """
        assert self.scanner is not None
        self.table.state[[scanner.N_TOKENS, scanner.N_LINES, scanner.ITEM_LINE]] = 0
        block = TextBlock(data, starts[1:])
        ids, ends, items = self.scanner.scan(block, "a text")
        line_starts = np.append(0, ends)
        return ids, np.append(line_starts[items], len(ids))

    def add_lists(self, lists: list[list[bytes]]) -> Scanned:
        """Number the tokens of texts that are token lists, which are used unchanged; returns as `scan`."""
        tokens = [token for tokens in lists for token in tokens]
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        ids = self.table.intern(bytes_array(b"".join(tokens)), ends)
        return ids, np.append(0, np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists))))
