"""The encoder: one pass over blocks of text that writes token ids, sentences and documents."""

import contextlib
from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scan_state
from embeddings.corpora.array_file import ArrayFile, MapIds, output_errors
from embeddings.corpora.block_scanner import ScannedText
from embeddings.corpora.characters import ScannedTokenizer
from embeddings.corpora.encoded_corpus import (
    DOCUMENTS,
    FORMAT,
    IDS,
    META,
    SENTENCES,
    TAG_STARTS,
    TAGS,
    VOCABULARY,
    write_meta,
)
from embeddings.corpora.line_tokenizer import LineTokenizer
from embeddings.corpora.reading.reader import Block, ColumnBlock, TagBlock, TokenLists
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.corpora.spellings import merge_spellings
from embeddings.corpora.tag_file import DocumentTagFiles, TagFile
from embeddings.corpora.text_scanner import TextScanner
from embeddings.corpora.vocabulary import Vocabulary, rank_by_frequency
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable, bytes_array
from embeddings.errors import CorpusError, NoWordsError
from embeddings.kernels.id_lookup import look_up_ids
from embeddings.support.arrow_arrays import to_numpy
from embeddings.support.system import available_threads


class Encoder:
    """Writes an encoded corpus to `folder` block by block; memory grows with the types, up to `max_types`.

    threads: the number of threads that scan text, by default one for each core.
    """

    def __init__(
        self, folder: Path, rules: WordRules, max_types: int | None = None, threads: int | None = None
    ) -> None:
        self.folder = folder
        self.rules = rules
        self.words = WordTable(max_types)
        self.scanner: TextScanner | None = None
        self.threads = available_threads() if threads is None else threads
        self.lines = LineTokenizer(rules.tokenizer, rules.lower)
        self.ids = ArrayFile(folder / IDS, np.int32, is_draft=True)
        self.sentences = ArrayFile(folder / SENTENCES, np.int64)
        self.documents = ArrayFile(folder / DOCUMENTS, np.int64)
        self.tags: DocumentTagFiles | None = None
        self.has_items = False  # some text came as rows or items, each a document
        self.has_text = False  # some words did not come in token lists, which are used as they are

    def add(self, block: Block, name: str) -> None:
        """Encode a block of the source with this name."""
        if isinstance(block, TagBlock):
            self.tags = self.tags or DocumentTagFiles(self.folder / TAGS, self.folder / TAG_STARTS)
            self.tags.append(block.tags)
            return
        if isinstance(block, ColumnBlock):
            return
        self.has_items |= isinstance(block, TokenLists) or block.items
        self.has_text |= isinstance(block, TextBlock)
        if isinstance(block, TextBlock) and isinstance(self.rules.tokenizer, ScannedTokenizer):
            self.scanner = self.scanner or TextScanner(self.rules, self.words, self.threads)
            self.append(self.scanner.scan(block, name))
            return
        self.finish_scanning()
        lines = self.lines
        lines.clear(tokens=self.ids.count, lines=self.sentences.count - 1)
        if isinstance(block, TokenLists):
            lines.add_lists(block.lists)
        else:
            lines.add_text(block)
        self.intern(lines.tokens)
        self.sentences.append(np.array(lines.ends, np.int64))
        self.add_documents(np.array(lines.starts, np.int64))
        self.words.state[scan_state.N_LINES] = self.sentences.count - 1

    def append(self, scanned: Iterable[ScannedText]) -> None:
        """Write scanned text."""
        for ids, ends, starts in scanned:
            self.ids.append(ids)
            self.sentences.append(ends)
            self.add_documents(starts)

    def finish_scanning(self) -> None:
        """Write the text that threads are still scanning."""
        if self.scanner is not None:
            self.append(self.scanner.finish())

    def intern(self, tokens: list[bytes]) -> None:
        """Encode tokens."""
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        self.ids.append(self.words.intern(bytes_array(b"".join(tokens)), ends))
        self.words.state[scan_state.LINE_IS_BLANK] = 1  # all of these lines have ended

    def add_documents(self, starts: NDArray[np.int64]) -> None:
        """Write the first lines of documents; the first document includes blank lines at the start of the corpus."""
        if len(starts) and not self.documents.count:
            starts = np.concatenate([np.zeros(1, np.int64), starts[1:]])
        self.documents.append(starts)

    def finish(self, description: dict[str, Any]) -> None:
        """Replace raw ids by frequency ranks and complete the files; `description` is added to the meta file."""
        self.finish_scanning()
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
        new_ids = rank_mapping(self.words, rank if spellings is None else rank[spellings], len(vocabulary))
        self.ids.map(new_ids, self.threads)
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
            write_meta(self.folder, meta, {IDS: self.ids.file_digest})

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
        return [self.ids, self.sentences, self.documents, *([] if self.tags is None else self.tags.files)]

    def __enter__(self) -> Self:
        self.sentences.append(np.zeros(1))
        return self

    def __exit__(self, _: object, error: object, traceback: object) -> None:
        try:
            if isinstance(error, Exception):
                self.finish_scanning()  # raises an error in the text before this one, if there is one
        finally:
            if self.scanner is not None:
                self.scanner.close()
            for file in self.files():
                with contextlib.suppress(OSError):  # a full disk has already been reported
                    file.file.close()


def rank_mapping(words: WordTable, rank: NDArray[np.int32], unknown: int) -> MapIds:
    """Return a function from raw ids to frequency ranks; raw ids of pruned words become `unknown`."""
    if not words.max_undercount:
        return partial(look_up_ids, rank)
    known_ids, ranks = words.raw_ids(), np.append(rank, np.int32(unknown))

    def to_rank(raw: NDArray[np.int32]) -> NDArray[np.int32]:
        place = np.searchsorted(known_ids, raw)
        place[known_ids[np.minimum(place, len(known_ids) - 1)] != raw] = len(known_ids)
        return ranks[place]

    return to_rank
