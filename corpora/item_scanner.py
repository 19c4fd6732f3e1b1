"""Splits texts into tokens with the compiled scanner, and numbers distinct tokens; memory grows only with these."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scan_state, scanner
from embeddings.corpora.characters import ScannedTokenizer, character_tables
from embeddings.corpora.encoder import bytes_array, max_tokens
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable
from embeddings.errors import CorpusError

Scanned = tuple[NDArray[np.int32], NDArray[np.int64]]


class ItemScanner:
    """Scans batches of complete texts; `table` has the distinct tokens, in the case that the rules say.

    Arguments:
        rules: those of the words; their tokenizer must be one that the scanner runs, unless only lists are added.
    """

    def __init__(self, rules: WordRules | None) -> None:
        self.rules = rules
        self.table = WordTable()
        self.out: Any = ()

    def scan(self, data: bytes, starts: NDArray[np.int64]) -> Scanned:
        """The number of each token in `table`, and where texts start among tokens, (texts + 1,).

        Text i is `data[starts[i]:starts[i + 1]]`.
        """
        assert self.rules is not None
        tokenizer: ScannedTokenizer = self.rules.tokenizer
        state, parts = self.table.state, np.ascontiguousarray(starts[1:], np.int64)
        size = len(data) + len(parts) + 1
        if not self.out or len(self.out[0]) < size:
            self.out = tuple(np.empty(size, dtype) for dtype in (np.int32, np.int64, np.int64))
        ids, ends, items = self.out
        arrays = self.table.reserve(max_tokens(tokenizer, data) + len(parts) + 1, len(data))
        state[[scan_state.N_IDS, scan_state.N_ENDS, scan_state.N_STARTS, scan_state.N_TOKENS, scan_state.N_LINES]] = 0
        state[scan_state.ITEM_LINE] = 0
        tables = tuple(character_tables(tokenizer, self.rules.lower, data))
        mode = (scan_state.ITEMS, True)
        scanner.scan(bytes_array(data), parts, tables, tuple(arrays), self.out, state, mode)
        if state[scan_state.TOO_LONG]:
            raise CorpusError(f"a token is longer than {scan_state.MAX_TOKEN} bytes; choose another tokenizer")
        line_starts = np.append(0, ends[: state[scan_state.N_ENDS]])
        starts = np.append(line_starts[items[: state[scan_state.N_STARTS]]], state[scan_state.N_IDS])
        return ids[: state[scan_state.N_IDS]], starts

    def add_lists(self, lists: list[list[bytes]]) -> Scanned:
        """The same for texts that are lists of tokens, which are used as they are."""
        tokens = [token for tokens in lists for token in tokens]
        text, ids = bytes_array(b"".join(tokens)), np.empty(len(tokens), np.int32)
        self.table.state[scan_state.N_IDS] = 0
        arrays = self.table.reserve(len(tokens), len(text))
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        self.table.state[scan_state.N_IDS] = 0
        scanner.intern_all(text, ends, tuple(arrays), ids, self.table.state)
        return ids, np.append(0, np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists))))
