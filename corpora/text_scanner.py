"""Turns text into token ids: blocks of a source, in several threads with the same ids as in one, and batches of texts.

The calling thread reads text and cuts it into chunks. Each thread scans chunks with a table of words of its own, which
stays small enough for the cache of a core. Then it waits for the chunk before, adds the new words to the table of all
words, so that words get their ids in order of first occurrence, and writes the ids of its chunk.

A chunk ends where no token is open: at the end of a file, of an item or of a line, or, if a line is long, after a
space. The lines before it decide whether a document starts at its first line, so its `LineState` belongs to it.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scanner
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.scanner_tables import TABLES, ScannedTokenizer, character_tables
from embeddings.corpora.tokenizers import CharClassTokenizer, no_character
from embeddings.corpora.word_break import table_limit
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable, bytes_array
from embeddings.errors import CorpusError
from embeddings.kernels.line_operations import look_up_ids

MAX_GROWTH = 2  # times the usual size, after which a line is divided
CHUNK_SIZE = 1 << 22  # bytes of text
MAX_LOCAL_TYPES = 1 << 18  # words in the table of a thread, after which it starts another one
MAX_THREADS = 16  # more wait for the calling thread
SPARE_CHUNKS = 2  # in memory at a time, besides one for each thread

WriteIds = Callable[[NDArray[np.int32], int], None]


class LineState(NamedTuple):
    """The state of the scanner at a place in the text; by default, at the start of a file or item."""

    line_is_blank: bool = True  # so far
    document_is_due: bool = True  # the line, or the next one that is not blank, starts a document
    line_is_open: bool = False


@dataclass(frozen=True)
class Chunk:
    """Consecutive blocks of text, each with the name of its source for messages.

    start: the state of the scanner at the start of the chunk; None if the previous chunk ends within a token.
    is_open: whether the chunk ends within a token.
    """

    blocks: list[tuple[TextBlock, str]]
    start: LineState | None
    is_open: bool


class ChunkCutter:
    """Cuts blocks of text into chunks of about `size` bytes."""

    def __init__(self, tokenizer: ScannedTokenizer, size: int) -> None:
        self.tokenizer = tokenizer
        self.size = size
        self.can_cut_at_spaces = not tokenizer(" ")
        self.blocks: list[tuple[TextBlock, str]] = []
        self.filled = 0  # bytes of `blocks`
        self.start: LineState | None = LineState()
        self.state = LineState()

    def add(self, block: TextBlock, name: str) -> Iterator[Chunk]:
        """Add a block of the source `name`; yields a chunk if the block completes it."""
        if self.filled + block_size(block) < self.size:
            self.append(block, name)
            return
        stop = self.find_cut(block)
        if stop is None:
            self.append(block, name)
        elif stop in (0, len(block.data)):
            self.append(block, name)
            yield self.cut(is_open=not (stop or block.is_complete))
        else:
            self.append(TextBlock.of_file(block.data[:stop]), name)
            yield self.cut(is_open=False)
            self.append(TextBlock.of_file(block.data[stop:]), name)

    def find_cut(self, block: TextBlock) -> int | None:
        """Return where in a block the chunk may end; 0 if only within the token at the end, None for nowhere."""
        if block.is_complete:
            return len(block.data)
        if block.parts_are_documents or len(block.ends) > 1:
            return None
        is_long = self.filled + len(block.data) >= MAX_GROWTH * self.size
        stop = block.data.rfind(b"\n") + 1
        if not stop and is_long and self.can_cut_at_spaces:
            stop = block.data.rfind(b" ") + 1
        return stop if stop or is_long else None

    def append(self, block: TextBlock, name: str) -> None:
        """Append a block to the chunk, and find the state of the scanner after it."""
        self.blocks.append((block, name))
        self.filled += block_size(block)
        data, last = block.data, block.data.rfind(b"\n")
        if block.is_complete or block.parts_are_documents:
            self.state = LineState()
        elif last >= 0:
            first = data.rfind(b"\n", 0, last) + 1
            was_blank = (first > 0 or self.state.line_is_blank) and self.is_blank(data[first:last])
            self.state = LineState(self.is_blank(data[last + 1 :]), was_blank, last + 1 < len(data))
        elif data:
            is_blank = self.state.line_is_blank and self.is_blank(data)
            self.state = LineState(is_blank, self.state.document_is_due, line_is_open=True)

    def cut(self, *, is_open: bool) -> Chunk:
        """Return the added blocks as a chunk, and begin the next chunk."""
        chunk = Chunk(self.blocks, self.start, is_open)
        self.start = None if is_open else self.state
        self.blocks, self.filled = [], 0
        return chunk

    def is_blank(self, data: bytes) -> bool:
        """Whether text within a line is white space without tokens."""
        text = data.decode()
        return not text or (text.isspace() and not self.tokenizer(text))


def block_size(block: TextBlock) -> int:
    """Return the size of a block; the end of an item counts as a byte."""
    return len(block.data) + len(block.ends)


class TokenTexts(NamedTuple):
    """The number of each token of several texts, and where each text starts among the tokens, (texts + 1,)."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]

    def copy(self) -> "TokenTexts":
        """A copy of the numbers, which are valid until the scanner is used again."""
        return TokenTexts(self.ids.copy(), self.starts)


class ScannedText(NamedTuple):
    """Scanned text.

    ids: of its tokens; None if a thread has written them. ends: of each line, as a number of tokens. starts: of each
    document, as a number of lines. is_file_end: the text ends with a file of plain text.
    """

    ids: NDArray[np.int32] | None
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    is_file_end: bool


class BlockScanner:
    """Scans text block by block, by rules with a tokenizer that the scanner can run, and numbers distinct tokens."""

    def __init__(self, rules: WordRules, words: WordTable) -> None:
        self.rules = rules
        self.words = words
        self.out: Any = ()

    def scan(self, block: TextBlock, name: str) -> ScannedText:
        """Scan a block of the source `name`, continuing in the state in which the previous block ended.

        The arrays are valid until the next call. Words are pruned if there are too many types.
        """
        tokenizer: ScannedTokenizer = self.rules.tokenizer
        state, data, parts = self.words.state, block.data, np.array(block.ends, np.int64)
        size, counts = len(data) + len(parts) + 1, [scanner.N_IDS, scanner.N_ENDS, scanner.N_STARTS]
        if not self.out or len(self.out[0]) < size:
            self.out = tuple(np.empty(size, dtype) for dtype in (np.int32, np.int64, np.int64))
        table = self.words.reserve(max_tokens(tokenizer, data) + len(parts) + 1, len(data))
        state[counts] = 0
        mode = (scanner.ITEMS if block.parts_are_documents else scanner.FILES, block.is_complete)
        # two threads that build a table at the same time would both need its memory
        with TABLES:
            tables = character_tables(tokenizer, self.rules.lower, table_limit(data))
        while scanner.scan(bytes_array(data), parts, tables, tuple(table), self.out, state, mode):
            self.words.prune()
        if state[scanner.TOO_LONG] or state[scanner.PENDING_SIZE] > scanner.MAX_TOKEN:
            state[scanner.TOO_LONG] = 0
            raise CorpusError(f"{name}: a token is longer than {scanner.MAX_TOKEN} bytes; choose another tokenizer")
        ids, ends, starts = (array[:count] for array, count in zip(self.out, state[counts].tolist(), strict=True))
        return ScannedText(ids, ends, starts, block.is_complete and not block.parts_are_documents)


def max_tokens(tokenizer: ScannedTokenizer, data: bytes) -> int:
    """Return an upper bound for the number of tokens that end in a text.

    Two tokens of ASCII characters always have a separator between them.
    """
    size = len(data)
    if isinstance(tokenizer, CharClassTokenizer):
        return size if tokenizer.starts_token is not no_character else size // 2
    return size // 2 if data.isascii() else size * 2 // 3 + 1


class LocalScanner(BlockScanner):
    """The scanner of a thread; `global_ids` has for each of its words the id in the table of all words."""

    def __init__(self, rules: WordRules) -> None:
        super().__init__(rules, WordTable())
        self.global_ids = np.empty(0, np.int32)


class TextScanner:
    """Scans text and numbers its words in a table, in several threads if there is enough text.

    Arguments:
        rules: the rules of words; the scanner must be able to run their tokenizer.
        words: the table of all words. Its state counts tokens and lines so far.
        threads: the number of threads. If the table is limited, only the calling thread scans.
        write: writes ids from a position on, a number of tokens. Threads call it.
    """

    def __init__(self, rules: WordRules, words: WordTable, threads: int, write: WriteIds) -> None:
        self.rules = rules
        self.words = words
        self.write = write
        self.threads = 1 if words.max_types else min(threads, MAX_THREADS)
        self.inline = BlockScanner(rules, words)
        self.cutter = ChunkCutter(rules.tokenizer, CHUNK_SIZE)
        self.pool: ThreadPoolExecutor | None = None
        self.pending: deque[Future[list[ScannedText]]] = deque()
        self.last_turn: Future[LocalScanner] | None = None
        self.idle: list[LocalScanner] = []
        self.has_failed = False

    def scan(self, block: TextBlock, name: str) -> Iterator[ScannedText]:
        """Scan a block of the source `name`; yields finished text, each valid until the next is requested."""
        if self.threads == 1:
            yield self.inline.scan(block, name)
            return
        for chunk in self.cutter.add(block, name):
            self.submit(chunk)
            while len(self.pending) > self.threads + SPARE_CHUNKS:
                yield from self.next_chunk()

    def finish(self) -> Iterator[ScannedText]:
        """Scan the remaining blocks; yields their text."""
        if self.cutter.blocks and self.pool is None:
            for block, name in self.cutter.cut(is_open=False).blocks:
                yield self.inline.scan(block, name)
        elif self.cutter.blocks:
            self.submit(self.cutter.cut(is_open=False))
        while self.pending:
            yield from self.next_chunk()
        if not self.has_failed:
            while self.idle:
                self.add_counts(self.idle.pop())

    def submit(self, chunk: Chunk) -> None:
        """Let a thread scan a chunk."""
        self.pool = self.pool or ThreadPoolExecutor(self.threads, "scanner")
        turn: Future[LocalScanner] = Future()
        self.pending.append(self.pool.submit(self.scan_chunk, chunk, self.last_turn, turn))
        self.last_turn = turn

    def scan_chunk(
        self, chunk: Chunk, previous: "Future[LocalScanner] | None", turn: "Future[LocalScanner]"
    ) -> list[ScannedText]:
        """Scan a chunk in a thread of the pool, add its words after those of the previous chunk, and write its ids.

        Its turn ends when its words are added, with the scanner that continues with a token that is still open.
        """
        try:
            local, parts = self.scan_blocks(chunk, previous)
            if previous is not None:
                previous.result()
            start, parts = self.merge(parts, local, is_open=chunk.is_open)
            new_ids = local.global_ids  # the next chunk may take the scanner now
            turn.set_result(local)
        except BaseException as error:
            turn.set_exception(error)
            raise
        for part in parts:
            assert part.ids is not None
            self.write(look_up_ids(new_ids, part.ids), start)
            start += len(part.ids)
        return [part._replace(ids=None) for part in parts]

    def scan_blocks(
        self, chunk: Chunk, previous: "Future[LocalScanner] | None"
    ) -> tuple[LocalScanner, list[ScannedText]]:
        """The text of a chunk, block by block, with the ids of a thread's scanner."""
        if chunk.start is None:  # it continues a token
            assert previous is not None
            local = previous.result()
        else:
            try:
                local = self.idle.pop()
            except IndexError:
                local = LocalScanner(self.rules)
            local.words.state[[scanner.LINE_IS_BLANK, scanner.DOCUMENT_IS_DUE, scanner.LINE_IS_OPEN]] = chunk.start
        local.words.state[[scanner.N_TOKENS, scanner.N_LINES]] = 0
        parts: list[ScannedText] = []
        for block, name in chunk.blocks:
            ids, ends, starts, is_file_end = local.scan(block, name)
            assert ids is not None
            parts.append(ScannedText(ids.copy(), ends.astype(np.int32), starts.astype(np.int32), is_file_end))
        chunk.blocks.clear()  # the text need not be in memory while this waits
        return local, parts

    def merge(self, parts: list[ScannedText], local: LocalScanner, *, is_open: bool) -> tuple[int, list[ScannedText]]:
        """Add the new words of a chunk to all words.

        Returns the number of tokens before the chunk, and its text with the ends and starts in the whole text.
        """
        state = self.words.state
        n_tokens, n_lines = state[[scanner.N_TOKENS, scanner.N_LINES]].tolist()
        new_ids = self.words.intern(*local.words.words_from(len(local.global_ids)))
        local.global_ids = np.concatenate([local.global_ids, new_ids])
        if not is_open and len(local.global_ids) > MAX_LOCAL_TYPES:
            self.add_counts(local)  # and the next chunk gets another table
        elif not is_open:
            self.idle.append(local)
        state[scanner.N_TOKENS] = n_tokens + sum(len(part.ids) for part in parts if part.ids is not None)
        state[scanner.N_LINES] = n_lines + sum(len(part.ends) for part in parts)
        return n_tokens, [
            ScannedText(ids, ends + np.int64(n_tokens), starts + np.int64(n_lines), is_file_end)
            for ids, ends, starts, is_file_end in parts
        ]

    def next_chunk(self) -> Iterator[ScannedText]:
        """Wait for the next chunk of the text; after an error in a chunk, later chunks are dropped."""
        try:
            yield from self.pending.popleft().result()
        except BaseException:
            self.has_failed = True
            self.pending.clear()
            self.cutter.blocks.clear()
            raise

    def add_counts(self, local: LocalScanner) -> None:
        """Add the counts of a thread's table; adding a word to the table of all words has counted it once already."""
        # words that are new in the table of all words were counted once when they were added
        counts = self.words.counts()
        counts[local.global_ids] += local.words.counts() - 1

    def close(self) -> None:
        """End the threads; chunks that are not scanned are dropped."""
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)


class ItemScanner:
    """Scans batches of complete texts; `table` holds the distinct tokens, lower-cased if the rules lower-case.

    The scanner must be able to run the tokenizer of the rules, unless only lists are added.
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
        ids, line_ends, documents, _ = self.scanner.scan(block, "a text")
        assert ids is not None
        return TokenTexts(ids, np.append(np.append(0, line_ends)[documents], len(ids)))

    def add_lists(self, lists: Any) -> TokenTexts:
        """Number the tokens of texts that are already lists of tokens; tokens are not changed."""
        return TokenTexts(*self.table.intern_lists(lists))


ScannedTexts = tuple[ItemScanner, TokenTexts]  # texts and the scanner that numbered their tokens
