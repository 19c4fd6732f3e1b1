"""The text of a corpus on the workers of a cluster: the piece of each, and how it gets there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embeddings.corpora.array_file import BLOCK
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import NoWordsError
from embeddings.kernels.separate_arrays import read_only
from embeddings.support.foreign_files import path_below
from embeddings.training.corpus_share import CorpusShare, cut_lines
from embeddings.training.document_stream import memory_mapped_zeros

GOLDEN, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
NO_IDS = np.zeros(0, np.int32)


class CountedWords(NamedTuple):
    """Words with their counts; counts are too low by at most `max_undercount`, and only rarer words are missing."""

    vocabulary: Vocabulary
    max_undercount: int


class Fragment(NamedTuple):
    """Some tokens of the text.

    ids: int32 (tokens,). lines: where lines begin, in the whole text. lines_before: those that begin before.
    """

    ids: np.ndarray
    lines: np.ndarray
    lines_before: int


class TextPiece:
    """Consecutive files, or ranges of files, as token ids.

    Arguments:
        files: `File` objects; can be none.
        settings: of a `Corpus`.
        threads: for reading.
    """

    def __init__(self, files: Sequence[Any], settings: dict[str, Any], threads: int) -> None:
        self.encoded: EncodedCorpus | None = None
        self.lines, self.meta = np.zeros(0, np.int64), {"decoding_errors": 0, "columns": {}, "has_items": False}
        if files:
            try:
                with new_folder(corpora_folder()) as folder:
                    Corpus(*files, **settings).write_text(folder, None, BLOCK_SIZE, threads)
                self.encoded = EncodedCorpus(folder, temporary=True)
                self.lines, self.meta = np.asarray(self.encoded.sentences)[:-1], self.encoded.meta
            except NoWordsError as error:
                self.lines = np.zeros(error.sentences, np.int64)

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return 0 if self.encoded is None else len(self.encoded.ids)

    def counted_words(self) -> CountedWords:
        """All words of the piece."""
        if self.encoded is None:
            return CountedWords(Vocabulary([], []), 0)
        return CountedWords(self.encoded.vocabulary, self.encoded.max_undercount)

    def place(self, offset: int, vocabulary: Vocabulary) -> tuple[int, int]:
        """Take over where the piece begins, and the rows of words; returns hashes of the ids and of the lines."""
        self.offset = offset
        if self.encoded is not None:
            self.new_ids = id_mapping(self.encoded.vocabulary, vocabulary)
        return (
            sum(hash_at(self.ids(first, min(first + BLOCK, self.tokens)), offset + first)
                for first in range(0, self.tokens, BLOCK)),
            hash_at(np.ones(len(self.lines), np.int32), self.lines + offset),
        )  # fmt: skip

    def ids(self, begin: int, end: int) -> np.ndarray:
        """The rows of some tokens."""
        if self.encoded is None:
            return NO_IDS
        rows: np.ndarray = self.new_ids[self.encoded.ids[begin:end]]
        return rows

    def lines_near(self, places: Sequence[int]) -> list[int]:
        """The beginnings of lines next to places in the whole text."""
        found = {self.offset}
        for place in places:
            at = int(np.searchsorted(self.lines, place - self.offset))
            found |= {self.offset + int(line) for line in self.lines[max(at - 1, 0) : at + 1]}
        return sorted(found)

    def cut(self, begin: int, end: int) -> Fragment:
        """The tokens of the piece that are tokens begin to end of the whole text."""
        first, last = (min(max(place - self.offset, 0), self.tokens) for place in (begin, end))
        low, high = np.searchsorted(self.lines, [begin - self.offset, end - self.offset])
        return Fragment(self.ids(first, last), self.lines[low:high] + self.offset, int(low))

    def close(self) -> None:
        """Remove the file."""
        if self.encoded is not None:
            self.encoded.close()


def hash_at(values: np.ndarray, place: Any) -> int:
    """A hash of values and their places, of which those of several pieces are added, modulo 2^64."""
    places = np.asarray(place, np.int64)
    if places.ndim == 0:
        places = places + np.arange(len(values))
    mixed = (places.astype(np.uint64) + np.uint64(1)) * GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(31))) * MIX
    mixed = (mixed ^ values.astype(np.uint64)) * GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(29))) * MIX
    return int(mixed.sum(dtype=np.uint64))


def merge_counted(first: CountedWords, second: CountedWords, max_types: int | None) -> CountedWords:
    """The words of both; without the rarest, if there are more than `max_types` (Agarwal et al. 2012)."""
    vocabulary = first.vocabulary.merge(second.vocabulary)
    undercount = first.max_undercount + second.max_undercount
    if max_types is not None and len(vocabulary) > max_types:
        undercount += int(vocabulary.counts[max_types])
        vocabulary = Vocabulary(vocabulary.column[:max_types], vocabulary.counts[:max_types], total=vocabulary.total)
    return CountedWords(vocabulary, undercount)


def join_fragments(fragments: Sequence[Fragment], begin: int, end: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The ids of tokens begin to end, where lines begin in them, (lines + 1,), and the number of the first line."""
    ids = np.concatenate([fragment.ids for fragment in fragments])
    lines = np.concatenate([fragment.lines for fragment in fragments])
    first = sum(fragment.lines_before for fragment in fragments)
    if not len(lines) or lines[0] > begin:  # a line that began before
        lines, first = np.append(begin, lines), first - 1
    return ids, np.append(lines, end) - begin, first


PART_BYTES = 1 << 26  # that are sent at a time


@dataclass(frozen=True)
class SentText:
    """Text in Ray's object store, for one worker.

    Arguments:
        tokens: references to parts of the ids, for a share.
        count: tokens of a share.
        lines: a reference to where its lines begin.
        description: fields of a `CorpusShare` but for tokens and lines.
        files: references to parts of each file of an encoded corpus, by name, if all of it is sent.
        folder: the folder of the encoded corpus, if the worker is on the same machine.
        fragments: references to a `Fragment` of each piece of the text, for a share that the workers have encoded.
        begin: where the share begins in the whole text, for `fragments`.
    """

    tokens: list[Any]
    count: int
    lines: Any
    description: Mapping[str, Any]
    files: Mapping[str, list[Any]]
    folder: Path | None = None
    fragments: Sequence[Any] = ()
    begin: int = 0

    def receive(self) -> EncodedCorpus | CorpusShare:
        """The text, in a temporary file; OutputError if the disk is full."""
        if self.folder is not None:
            return EncodedCorpus(self.folder, is_new=True)
        if self.files:
            return self.receive_files()
        import ray

        if self.fragments:
            return self.receive_fragments([ray.get(one) for one in self.fragments])
        tokens, filled = memory_mapped_zeros(self.count, 1, np.int32, "tokens").reshape(-1), 0
        for part in self.tokens:
            values = ray.get(part)
            tokens[filled : filled + len(values)] = values
            filled += len(values)
        return CorpusShare(read_only(tokens), read_only(np.array(ray.get(self.lines))), **self.description)

    def receive_fragments(self, fragments: Sequence[Fragment]) -> CorpusShare:
        """The share in fragments of several pieces."""
        end = self.begin + self.count
        tokens = memory_mapped_zeros(self.count, 1, np.int32, "tokens").reshape(-1)
        ids, lines, first_line = join_fragments(fragments, self.begin, end)
        tokens[:] = ids
        return CorpusShare(read_only(tokens), read_only(lines), first_line, **self.description)

    def receive_files(self) -> EncodedCorpus:
        """The encoded corpus, in a temporary folder."""
        import ray

        with new_folder(None) as folder:
            for name, parts in self.files.items():
                with path_below(folder, name).open("wb") as file:
                    for part in parts:
                        file.write(ray.get(part).data)
        return EncodedCorpus(folder, temporary=True)


def description_of(encoded: EncodedCorpus | CorpusShare) -> dict[str, Any]:
    """What a share tells of the whole corpus."""
    fields = ("meta", "fingerprint", "max_undercount", "phrases")
    return {name: getattr(encoded, name) for name in fields}


def send_share(ray: Any, encoded: EncodedCorpus, begin: int, end: int) -> SentText:
    """Put a share of the tokens into the object store."""
    step = PART_BYTES // 4
    tokens = [ray.put(np.array(encoded.ids[first : min(first + step, end)])) for first in range(begin, end, step)]
    lines, first_line = cut_lines(np.asarray(encoded.sentences), begin, end)
    return SentText(tokens, end - begin, ray.put(lines), {"first_line": first_line, **description_of(encoded)}, {})


def send_all(ray: Any, encoded: EncodedCorpus) -> SentText:
    """Put all files of an encoded corpus into the object store."""
    files = {path.name: [ray.put(part) for part in file_parts(path)] for path in sorted(encoded.folder.iterdir())}
    return SentText([], 0, None, {}, files)


def file_parts(path: Path) -> Iterator[np.ndarray]:
    """The bytes of a file, a part at a time."""
    with path.open("rb") as file:
        while part := file.read(PART_BYTES):
            yield np.frombuffer(part, np.uint8)
