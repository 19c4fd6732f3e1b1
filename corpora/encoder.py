"""The encoder: one pass over blocks of text that writes token ids, sentences and documents."""

import contextlib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scan_state, scanner
from embeddings.corpora.array_file import ArrayFile, MapIds, output_errors
from embeddings.corpora.characters import ScannedTokenizer, character_tables
from embeddings.corpora.encoded_corpus import DOCUMENTS, FORMAT, IDS, META, SENTENCES, TAGS, VOCABULARY, write_meta
from embeddings.corpora.line_tokenizer import LineTokenizer
from embeddings.corpora.reading.reader import Block, ColumnBlock, TagBlock, TokenLists
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.spellings import merge_spellings
from embeddings.corpora.tag_file import TagFile
from embeddings.corpora.tokenizers import CharClassTokenizer, never
from embeddings.corpora.vocabulary import Vocabulary, rank_by_frequency
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable
from embeddings.errors import CorpusError, NoWordsError
from embeddings.support.arrow_arrays import to_numpy


class Encoder:
    """Writes an encoded corpus to `folder` block by block; memory grows with the types, up to `max_types`."""

    def __init__(self, folder: Path, rules: WordRules, max_types: int | None = None) -> None:
        self.folder = folder
        self.rules = rules
        self.words = WordTable(max_types)
        self.lines = LineTokenizer(rules.tokenizer, rules.lower)
        self.ids = ArrayFile(folder / IDS, np.int32)
        self.sentences = ArrayFile(folder / SENTENCES, np.int64)
        self.documents = ArrayFile(folder / DOCUMENTS, np.int64)
        self.tags: TagFile | None = None
        self.has_items = False  # some text came as rows or items, each a document
        self.has_text = False  # some words did not come in token lists, which are used as they are
        self.out: Any = ()

    def add(self, block: Block, name: str) -> None:
        """Encode a block of the source with this name."""
        if isinstance(block, TagBlock):
            self.tags = self.tags or TagFile(self.folder / TAGS)
            self.tags.append(cast(Sequence[str | None], block.tags))  # lists are not requested
            return
        if isinstance(block, ColumnBlock):
            return
        self.has_items |= isinstance(block, TokenLists) or block.items
        self.has_text |= isinstance(block, TextBlock)
        if isinstance(block, TextBlock) and isinstance(self.rules.tokenizer, ScannedTokenizer):
            self.scan(block, self.rules.tokenizer, name)
            return
        lines = self.lines
        lines.clear(tokens=self.ids.count, lines=self.sentences.count - 1)
        if isinstance(block, TokenLists):
            lines.add_lists(block.lists)
        else:
            lines.add_text(block)
        self.intern(lines.tokens)
        self.sentences.append(np.array(lines.ends, np.int64))
        self.add_documents(np.array(lines.starts, np.int64))

    def scan(self, block: TextBlock, tokenizer: ScannedTokenizer, name: str) -> None:
        """Encode text with the compiled scanner."""
        state = self.words.state
        size, parts = len(block.data), np.array(block.parts, np.int64)
        if not self.out or len(self.out[0]) < size + len(parts) + 1:
            self.out = tuple(np.empty(size + len(parts) + 1, dtype) for dtype in (np.int32, np.int64, np.int64))
        ids, ends, starts = self.out
        table = self.words.reserve(max_tokens(tokenizer, block.data) + len(parts) + 1, size)
        state[[scan_state.N_IDS, scan_state.N_ENDS, scan_state.N_STARTS]] = 0
        state[[scan_state.N_TOKENS, scan_state.N_LINES]] = self.ids.count, self.sentences.count - 1
        mode = (scan_state.ITEMS if block.items else scan_state.FILES, block.is_complete)
        tables = tuple(character_tables(tokenizer, self.rules.lower, block.data))
        while scanner.scan(bytes_array(block.data), parts, tables, tuple(table), self.out, state, mode):
            self.words.prune()
        if state[scan_state.TOO_LONG] or state[scan_state.PENDING_SIZE] > scan_state.MAX_TOKEN:
            raise CorpusError(f"{name}: a token is longer than {scan_state.MAX_TOKEN} bytes; choose another tokenizer")
        self.ids.append(ids[: state[scan_state.N_IDS]])
        self.sentences.append(ends[: state[scan_state.N_ENDS]])
        self.add_documents(starts[: state[scan_state.N_STARTS]])

    def intern(self, tokens: list[bytes]) -> None:
        """Encode tokens."""
        text = bytes_array(b"".join(tokens))
        ids = np.empty(len(tokens), np.int32)
        self.words.state[scan_state.N_IDS] = 0
        arrays = self.words.reserve(len(tokens), len(text))
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        while scanner.intern_all(text, ends, tuple(arrays), ids, self.words.state):
            self.words.prune()
        self.words.state[scan_state.LINE_IS_BLANK] = 1  # all of these lines have ended
        self.ids.append(ids)

    def add_documents(self, starts: NDArray[np.int64]) -> None:
        """Write the first lines of documents; the first document includes blank lines at the start of the corpus."""
        if len(starts) and not self.documents.count:
            starts = np.concatenate([np.zeros(1, np.int64), starts[1:]])
        self.documents.append(starts)

    def finish(self, description: dict[str, Any]) -> None:
        """Replace raw ids by frequency ranks and complete the files; `description` is added to the meta file."""
        if not self.ids.count:
            size = {"sentences": self.sentences.count - 1, "documents": max(self.documents.count, 1)}
            raise NoWordsError(
                f"no words found in {', '.join(description['sources'])}", **size, has_items=self.has_items
            )
        if not self.documents.count:
            self.documents.append(np.zeros(1))
        self.documents.append(np.array([self.sentences.count - 1]))
        words, counts, spellings = self.words.words(), self.words.counts(), None
        if self.has_text:
            words, counts, spellings = merge_spellings(words, counts, self.rules)
        vocabulary, rank = rank_by_frequency(words, counts)
        if not len(vocabulary):
            raise CorpusError(f"no type of {self.ids.count} tokens is frequent enough to keep; raise max_types")
        vocabulary.total = self.ids.count
        self.ids.map(rank_mapping(self.words, rank if spellings is None else rank[spellings], len(vocabulary)))
        for file in self.files():
            file.close()
        with output_errors(self.folder / META):
            vocabulary.save(self.folder / VOCABULARY)
            meta = {
                "format": FORMAT,
                "fingerprint": self.fingerprint(vocabulary),
                "tokens": self.ids.count,
                "types": len(vocabulary),
                "max_undercount": self.words.max_undercount,
                "known_tokens": vocabulary.tokens,
                "fixed_vocabulary": False,
                "sentences": self.sentences.count - 1,
                "documents": self.documents.count - 1,
                "has_items": self.has_items,
                **description,
            }
            write_meta(self.folder, meta)

    def fingerprint(self, vocabulary: Vocabulary) -> str:
        """Return a digest of everything that a trainer sees of the corpus."""
        import pyarrow.compute

        lengths = to_numpy(pyarrow.compute.binary_length(vocabulary.column))
        digest = sha256(lengths.astype("<i8").data)
        digest.update(memoryview(vocabulary.column.buffers()[2])[: int(lengths.sum())])
        for file in self.files():
            digest.update(file.digest.digest())
        return digest.hexdigest()[:32]

    def files(self) -> list[ArrayFile | TagFile]:
        """Return the files that are written block by block."""
        return [self.ids, self.sentences, self.documents, *([] if self.tags is None else [self.tags])]

    def __enter__(self) -> Self:
        self.sentences.append(np.zeros(1))
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.files():
            with contextlib.suppress(OSError):  # a full disk has already been reported
                file.file.close()


def max_tokens(tokenizer: ScannedTokenizer, data: bytes) -> int:
    """Return how many tokens can end in this text; without separators, one of two neighbours is not ASCII."""
    size = len(data)
    if isinstance(tokenizer, CharClassTokenizer):
        return size if tokenizer.starts_token is not never else size // 2
    return size // 2 if data.isascii() else size * 2 // 3 + 1


def rank_mapping(words: WordTable, rank: NDArray[np.int32], unknown: int) -> MapIds:
    """Return a function from raw ids to frequency ranks; raw ids of pruned words become `unknown`."""
    if not words.max_undercount:
        return lambda raw: rank[raw]
    known_ids, ranks = words.raw_ids(), np.append(rank, np.int32(unknown))

    def to_rank(raw: NDArray[np.int32]) -> NDArray[np.int32]:
        place = np.searchsorted(known_ids, raw)
        place[known_ids[np.minimum(place, len(known_ids) - 1)] != raw] = len(known_ids)
        return ranks[place]

    return to_rank


def bytes_array(data: bytes) -> NDArray[np.uint8]:
    """Return a view of bytes as an array."""
    return np.frombuffer(data or b"\0", np.uint8)[: len(data)]  # always read-only, so that the scanner compiles once
