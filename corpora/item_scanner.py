"""Splits texts into tokens with the compiled scanner, and numbers distinct tokens; memory grows only with these."""

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scan_state
from embeddings.corpora.block_scanner import BlockScanner
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable, bytes_array

Scanned = tuple[NDArray[np.int32], NDArray[np.int64]]


class ItemScanner:
    """Scans batches of complete texts; `table` has the distinct tokens, in the case that the rules say.

    Arguments:
        rules: those of the words; their tokenizer must be one that the scanner runs, unless only lists are added.
    """

    def __init__(self, rules: WordRules | None) -> None:
        self.rules = rules
        self.table = WordTable()
        self.scanner = None if rules is None else BlockScanner(rules, self.table)

    def scan(self, data: bytes, starts: NDArray[np.int64]) -> Scanned:
        """The number of each token in `table`, and where texts start among tokens, (texts + 1,).

        Text i is `data[starts[i]:starts[i + 1]]`.
        """
        assert self.scanner is not None
        self.table.state[[scan_state.N_TOKENS, scan_state.N_LINES, scan_state.ITEM_LINE]] = 0
        block = TextBlock(data, starts[1:], items=True, is_complete=True)
        ids, ends, items = self.scanner.scan(block, "a text")
        line_starts = np.append(0, ends)
        return ids, np.append(line_starts[items], len(ids))

    def add_lists(self, lists: list[list[bytes]]) -> Scanned:
        """The same for texts that are lists of tokens, which are used as they are."""
        tokens = [token for tokens in lists for token in tokens]
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        ids = self.table.intern(bytes_array(b"".join(tokens)), ends)
        return ids, np.append(0, np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists))))
