"""Runs the compiled scanner on blocks of text."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scan_state, scanner
from embeddings.corpora.characters import ScannedTokenizer, character_tables
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.tokenizers import CharClassTokenizer, never
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable, bytes_array
from embeddings.errors import CorpusError


class ScannedText(NamedTuple):
    """The ids of tokens; line ends, in tokens; document starts, in lines."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]


class BlockScanner:
    """Scans text block by block, and numbers distinct tokens in a table of words.

    Arguments:
        rules: those of the words; their tokenizer must be one that the scanner runs.
        words: the table.
    """

    def __init__(self, rules: WordRules, words: WordTable) -> None:
        self.rules = rules
        self.words = words
        self.out: Any = ()

    def scan(self, block: TextBlock, name: str) -> ScannedText:
        """Scan a block of the source with this name from the state on in which the last one ended.

        The arrays are valid until the next call. Words are pruned if there are too many types.

        Raises:
            CorpusError: a token is too long.
        """
        tokenizer: ScannedTokenizer = self.rules.tokenizer
        state, data, parts = self.words.state, block.data, np.array(block.parts, np.int64)
        size, counts = len(data) + len(parts) + 1, [scan_state.N_IDS, scan_state.N_ENDS, scan_state.N_STARTS]
        if not self.out or len(self.out[0]) < size:
            self.out = tuple(np.empty(size, dtype) for dtype in (np.int32, np.int64, np.int64))
        table = self.words.reserve(max_tokens(tokenizer, data) + len(parts) + 1, len(data))
        state[counts] = 0
        mode = (scan_state.ITEMS if block.items else scan_state.FILES, block.is_complete)
        tables = tuple(character_tables(tokenizer, self.rules.lower, data))
        while scanner.scan(bytes_array(data), parts, tables, tuple(table), self.out, state, mode):
            self.words.prune()
        if state[scan_state.TOO_LONG] or state[scan_state.PENDING_SIZE] > scan_state.MAX_TOKEN:
            raise CorpusError(f"{name}: a token is longer than {scan_state.MAX_TOKEN} bytes; choose another tokenizer")
        return ScannedText(*(array[:count] for array, count in zip(self.out, state[counts].tolist(), strict=True)))


def max_tokens(tokenizer: ScannedTokenizer, data: bytes) -> int:
    """Return how many tokens can end in this text; without separators, one of two neighbours is not ASCII."""
    size = len(data)
    if isinstance(tokenizer, CharClassTokenizer):
        return size if tokenizer.starts_token is not never else size // 2
    return size // 2 if data.isascii() else size * 2 // 3 + 1
