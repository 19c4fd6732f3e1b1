"""Runs the compiled scanner on blocks of text."""

from collections.abc import Iterable
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


class NamedBlock(NamedTuple):
    """A block of text and the name of its source, for messages."""

    block: TextBlock
    name: str


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

    def scan(self, blocks: Iterable[NamedBlock]) -> ScannedText:
        """Scan blocks from the state on in which the last call ended; the arrays are valid until the next call.

        Raises:
            CorpusError: a token is too long.
        """
        blocks, state = list(blocks), self.words.state
        size = sum(len(block.data) + len(block.parts) + 1 for block, _ in blocks)
        if not self.out or len(self.out[0]) < size:
            self.out = tuple(np.empty(size, dtype) for dtype in (np.int32, np.int64, np.int64))
        counts = [scan_state.N_IDS, scan_state.N_ENDS, scan_state.N_STARTS]
        state[counts] = 0
        for block, name in blocks:
            self.scan_block(block)
            if state[scan_state.TOO_LONG] or state[scan_state.PENDING_SIZE] > scan_state.MAX_TOKEN:
                message = f"{name}: a token is longer than {scan_state.MAX_TOKEN} bytes; choose another tokenizer"
                raise CorpusError(message)
        return ScannedText(*(array[:count] for array, count in zip(self.out, state[counts].tolist(), strict=True)))

    def scan_block(self, block: TextBlock) -> None:
        """Scan a block; words are pruned if there are too many types."""
        tokenizer: ScannedTokenizer = self.rules.tokenizer
        data, parts = block.data, np.array(block.parts, np.int64)
        table = self.words.reserve(max_tokens(tokenizer, data) + len(parts) + 1, len(data))
        mode = (scan_state.ITEMS if block.items else scan_state.FILES, block.is_complete)
        tables = tuple(character_tables(tokenizer, self.rules.lower, data))
        text, state = bytes_array(data), self.words.state
        while scanner.scan(text, parts, tables, tuple(table), self.out, state, mode):
            self.words.prune()


def max_tokens(tokenizer: ScannedTokenizer, data: bytes) -> int:
    """Return how many tokens can end in this text; without separators, one of two neighbours is not ASCII."""
    size = len(data)
    if isinstance(tokenizer, CharClassTokenizer):
        return size if tokenizer.starts_token is not never else size // 2
    return size // 2 if data.isascii() else size * 2 // 3 + 1
