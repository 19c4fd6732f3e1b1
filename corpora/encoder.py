"""The encoder: one pass over blocks of text that writes token ids, sentences and documents.

Characters are normalised once for each distinct word, not for each occurrence.
"""

import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import encoded_corpus, scanner
from embeddings.corpora.array_file import ArrayFile, MapBlock, output_errors
from embeddings.corpora.reading.tag_arrays import distinct_tags, string_lists
from embeddings.corpora.reading.text_block import TextBlock, split_text
from embeddings.corpora.scanner_tables import ScannedTokenizer
from embeddings.corpora.segmenter_pool import SegmenterPool
from embeddings.corpora.text_scanner import ScannedText, TextScanner
from embeddings.corpora.tokenizers import segmented
from embeddings.corpora.vocabulary import Vocabulary, add_up_words, rank_by_frequency
from embeddings.corpora.word_rules import WordRules
from embeddings.corpora.word_table import WordTable
from embeddings.errors import CorpusError, NoWordsError, S
from embeddings.kernels.line_operations import look_up_ids
from embeddings.support.arrow import pc, string_bytes, to_arrow, to_numpy, to_string_array
from embeddings.support.system import available_threads

CHUNK = 1 << 16  # words that are examined at a time
PLANE = 0x10000  # code points of the Basic Multilingual Plane; words with code points beyond it are always checked
UNKNOWN, NEVER, MAYBE = range(3)


def merge_spellings(
    words: Any, counts: NDArray[np.int64], rules: WordRules
) -> tuple[Any, NDArray[np.int64], NDArray[np.int32] | None]:
    """Return normalised words with added counts, and the new row of each old word; None if no word changes.

    words: a pyarrow array of strings (words,). counts: (words,).
    """
    changed_rows: list[int] = []
    changed_words: list[str] = []
    table = new_change_table()
    for start in range(0, len(words), CHUNK):
        rows = np.flatnonzero(may_change(words.slice(start, CHUNK), rules, table)) + start
        old = words.take(to_arrow(rows)).to_pylist()
        new = rules.normalize_all(old) if old else []
        changes = [(row, word) for row, word, before in zip(rows.tolist(), new, old, strict=True) if word != before]
        changed_rows += [row for row, _ in changes]
        changed_words += [word for _, word in changes]
    if not changed_rows:
        return words, counts, None
    is_changed = np.zeros(len(words), np.bool_)
    is_changed[changed_rows] = True
    return add_up_words(pc.replace_with_mask(words, to_arrow(is_changed), to_string_array(changed_words)), counts)


def new_change_table() -> NDArray[np.uint8]:
    """Return for each code point whether words with it may change, UNKNOWN for most."""
    table = np.zeros(PLANE + 1, np.uint8)
    table[:0x80], table[PLANE] = NEVER, MAYBE
    return table


def may_change(words: Any, rules: WordRules, table: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return for each word of a pyarrow array whether rules may change it (words,); false for words of ASCII.

    table: as of `new_change_table`; each code point is tried once.
    """
    text, starts = string_bytes(words)
    points = np.frombuffer(text[: starts[-1]].tobytes().decode().encode("utf-32-le"), np.uint32)
    points = np.minimum(points, PLANE)
    is_present = np.zeros(PLANE + 1, np.bool_)
    is_present[points] = True
    new = np.flatnonzero(is_present & (table == UNKNOWN))
    if len(new):
        table[new] = np.where(rules.may_change(new), MAYBE, NEVER)
    places = np.flatnonzero(table[points] == MAYBE)  # code points; their words are found by bytes
    first_bytes = np.flatnonzero(text[: starts[-1]] & 0xC0 != 0x80)
    flags = np.zeros(len(words), np.bool_)
    flags[np.searchsorted(starts, first_bytes[places], "right") - 1] = True
    return flags


MAX_SCANNED = 1 << 18  # bytes of a row that are scanned at a time


class Encoder:
    """Writes an encoded corpus to `folder` block by block; memory grows with the types, up to `max_types`.

    threads: the number of threads that scan text, by default one for each core.
    """

    def __init__(
        self, folder: Path, rules: WordRules, max_types: int | None = None, threads: int | None = None
    ) -> None:
        self.folder = folder
        self.pool: SegmenterPool | None = None  # of a tokenizer that the scanner cannot run
        # the tokens of other tokenizers come as text with separators, which the scanner then splits, so that all
        # counting happens in one place
        if not isinstance(rules.tokenizer, ScannedTokenizer):
            self.pool = SegmenterPool(rules.tokenizer)
            rules = replace(rules, tokenizer=segmented)
        self.rules = rules
        self.words = WordTable(max_types)
        self.scanner: TextScanner | None = None
        self.threads = available_threads() if threads is None else threads
        self.ids = ArrayFile(folder / encoded_corpus.IDS, np.int32, is_draft=True, threads=self.threads)
        self.sentences = ArrayFile(folder / encoded_corpus.SENTENCES, np.int64)
        self.documents = ArrayFile(folder / encoded_corpus.DOCUMENTS, np.int64)
        self.tags: encoded_corpus.TagFile | None = None
        self.tag_starts: ArrayFile | None = None  # if a document has several tags
        self.vectors: ArrayFile | None = None
        self.n_tagged = 0  # documents
        self.file_tags: deque[Sequence[str]] = deque()  # of each file whose text is being scanned
        self.file_ends: list[int] = []  # the number of documents up to the end of each file of plain text
        self.has_items = False  # some text came as rows or items, each a document
        self.has_text = False  # some input was text, so spellings must be merged; token lists are taken verbatim

    def add(self, blocks: Iterable[TextBlock], name: str, tags: Sequence[str] = ()) -> None:
        """Encode the blocks of the source `name`; if it is a file of plain text, its documents have these tags."""
        for block in blocks if self.pool is None else self.pool.blocks(blocks, name):
            if block.is_complete and not block.parts_are_documents:  # the end of a file
                self.file_tags.append(tags)
            if block.tags is not None:
                if self.file_tags:  # the tags of files before this row are written when their text is scanned
                    self.finish_scanning()
                self.add_tags(block.tags)
            if block.vectors is not None:
                self.add_vectors(block.vectors)
            self.has_items |= block.parts_are_documents
            if block.token_lists is not None:
                self.add_lists(block.token_lists)
                continue
            self.has_text = True
            self.scanner = self.scanner or TextScanner(self.rules, self.words, self.threads, self.ids.write)
            # a row of many megabytes would need arrays of its size for ids and ends
            is_long_row = block.parts_are_documents and len(block) == 1 and len(block.data) > MAX_SCANNED
            for part in split_text(block.data, MAX_SCANNED) if is_long_row else [block]:
                self.append(self.scanner.scan(part, name))

    def add_lists(self, lists: Any) -> None:
        """Encode token lists, a pyarrow array; each list is a line and a document."""
        self.finish_scanning()
        self.add_documents(self.sentences.count - 1 + np.arange(len(lists)))
        ids, starts = self.words.intern_lists(lists)
        self.sentences.append(self.ids.count + starts[1:])
        self.ids.append(ids)
        self.words.state[scanner.LINE_IS_BLANK] = 1  # all lines have ended
        self.words.state[scanner.N_LINES] = self.sentences.count - 1

    def add_tags(self, tags: Any) -> None:
        """Write the tags of the next documents: the distinct tags that are not empty, or a null tag."""
        tags, sizes = distinct_tags(tags)
        self.n_tagged += len(sizes)
        self.tags = self.tags or encoded_corpus.TagFile(self.folder / encoded_corpus.TAGS)
        # most corpora have one tag a document; only from the first document with several are the borders written
        if self.tag_starts is None and len(tags) > len(sizes):
            self.tag_starts = ArrayFile(self.folder / encoded_corpus.TAG_STARTS, np.int64)
            self.tag_starts.append(np.arange(self.tags.count + 1))
        if self.tag_starts is not None:
            self.tag_starts.append(self.tags.count + np.cumsum(sizes))
        self.tags.append(tags)

    def add_vectors(self, vectors: NDArray[np.float32]) -> None:
        """Write the vectors of the next documents, as float16."""
        self.vectors = self.vectors or ArrayFile(self.folder / encoded_corpus.TEXT_VECTORS, np.float16)
        self.vectors.append(vectors.astype(np.float16).reshape(-1))

    def append(self, scanned: Iterable[ScannedText]) -> None:
        """Write scanned text."""
        for ids, ends, starts, is_file_end in scanned:
            if ids is not None:
                self.ids.append(ids)
            self.sentences.append(ends)
            self.add_documents(starts)
            if is_file_end:
                self.file_ends.append(self.documents.count)
                if tags := self.file_tags.popleft():
                    self.add_tags(string_lists([tags] * (self.documents.count - self.n_tagged)))

    def finish_scanning(self) -> None:
        """Write the text that threads are still scanning."""
        if self.scanner is not None:
            self.append(self.scanner.finish())
            self.ids.count = int(self.words.state[scanner.N_TOKENS])  # also of what threads have written

    def add_documents(self, starts: NDArray[np.int64]) -> None:
        """Write the first lines of documents; the first document includes blank lines at the start of the corpus."""
        # a corpus that begins with blank lines would have lines before its first document
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
            raise CorpusError(f"no type of {self.ids.count} tokens is frequent enough to keep; raise {S.max_types}")
        vocabulary.total = self.ids.count
        new_ids = rank_mapping(self.words, rank if spellings is None else rank[spellings], len(vocabulary))
        self.ids.map(new_ids)
        for file in self.files():
            file.close()
        with output_errors(self.folder / encoded_corpus.META):
            vocabulary.save(self.folder / encoded_corpus.VOCABULARY)
            meta = {
                "format": encoded_corpus.FORMAT,
                "fingerprint": self.fingerprint(vocabulary),
                "tokens": self.ids.count,
                "types": len(vocabulary),
                "max_undercount": self.words.max_undercount,
                "known_tokens": vocabulary.tokens,
                "fixed_vocabulary": False,
                "sentences": self.sentences.count - 1,
                "documents": self.documents.count - 1,
                "has_items": self.has_items,
                "file_ends": [] if self.has_items else self.file_ends,
                **description,
            }
            encoded_corpus.write_meta(self.folder, meta, {encoded_corpus.IDS: self.ids.file_digest})

    def fingerprint(self, vocabulary: Vocabulary) -> str:
        """Return a digest of everything that a trainer sees of the corpus."""
        # without the lengths, "a bc" and "ab c" would have one digest
        lengths = to_numpy(pc.binary_length(vocabulary.column))
        digest = sha256(lengths.astype("<i8").data)
        digest.update(memoryview(vocabulary.column.buffers()[2])[: int(lengths.sum())])
        for file in self.files():
            digest.update(file.digest.digest())
        return digest.hexdigest()[:32]

    def files(self) -> list[ArrayFile | encoded_corpus.TagFile]:
        """Return the files that are written block by block."""
        files = (self.ids, self.sentences, self.documents, self.tags, self.tag_starts, self.vectors)
        return [file for file in files if file is not None]

    def __enter__(self) -> Self:
        self.sentences.append(np.zeros(1))
        return self

    def __exit__(self, _: object, error: object, traceback: object) -> None:
        try:
            if isinstance(error, Exception):
                self.finish_scanning()  # raises an earlier error of a scanner thread, if any
        finally:
            if self.scanner is not None:
                self.scanner.close()
            if self.pool is not None:
                self.pool.close()
            for file in self.files():
                with contextlib.suppress(OSError):  # a full disk has already been reported
                    file.file.close()


def rank_mapping(words: WordTable, rank: NDArray[np.int32], unknown: int) -> MapBlock:
    """Return a function from raw ids to frequency ranks; raw ids of pruned words become `unknown`."""
    if not words.max_undercount:
        return partial(look_up_ids, rank)
    known_ids = words.arrays.records[: len(words), scanner.HASH_AND_RAW] >> scanner.RAW_SHIFT  # ascending
    ranks = np.append(rank, np.int32(unknown))

    def to_rank(raw: NDArray[np.int32]) -> NDArray[np.int32]:
        place = np.searchsorted(known_ids, raw)
        place[known_ids[np.minimum(place, len(known_ids) - 1)] != raw] = len(known_ids)
        return ranks[place]

    return to_rank
