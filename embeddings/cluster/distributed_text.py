"""Distribution of the text of a corpus to the workers of a cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embeddings.corpora.array_file import BLOCK
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.resampling import splitmix
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import NoWordsError
from embeddings.kernels.separate_arrays import read_only
from embeddings.support.foreign_files import path_below
from embeddings.support.mapped_files import memory_mapped_zeros
from embeddings.training.stream import CorpusShare

NO_IDS = np.zeros(0, np.int32)
PART_BYTES = 1 << 26  # that are sent at a time


class Fragment(NamedTuple):
    """Consecutive tokens of the text.

    ids: int32 (tokens,). lines: where lines begin, in the whole text. lines_before: the number of lines of the piece
    that begin before the fragment.
    """

    ids: np.ndarray
    lines: np.ndarray
    lines_before: int


class TextPiece:
    """Consecutive files, or ranges of files, or none, as token ids, read with the settings of a `Corpus`."""

    def __init__(self, files: Sequence[Any], settings: dict[str, Any], threads: int) -> None:
        self.encoded: EncodedCorpus | None = None
        self.lines, self.meta = np.zeros(0, np.int64), {"decoding_errors": 0, "columns": {}, "has_items": False}
        if files:
            try:
                with new_folder(corpora_folder()) as folder:
                    Corpus(*files, **settings).write_text(folder, None, threads)
                self.encoded = EncodedCorpus(folder, temporary=True)
                self.lines, self.meta = np.asarray(self.encoded.sentences)[:-1], self.encoded.meta
            except NoWordsError as error:
                self.lines, self.meta["has_items"] = np.zeros(error.sentences, np.int64), error.has_items

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return 0 if self.encoded is None else len(self.encoded.ids)

    @property
    def vocabulary(self) -> Vocabulary:
        """All words of the piece."""
        return Vocabulary([], []) if self.encoded is None else self.encoded.vocabulary

    def set_position(self, offset: int, vocabulary: Vocabulary) -> tuple[int, int]:
        """Set the position of the piece in the whole text and the vocabulary of the run.

        Returns a hash of the token ids and one of the line starts.
        """
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

    def lines_near(self, positions: Sequence[int]) -> list[int]:
        """The start of the piece and, for each position, of the last line before and the first line at or after it.

        All are positions in the whole text, ascending.
        """
        starts = {self.offset}
        for position in positions:
            at = int(np.searchsorted(self.lines, position - self.offset))
            starts |= {self.offset + int(line) for line in self.lines[max(at - 1, 0) : at + 1]}
        return sorted(starts)

    def cut(self, begin: int, end: int) -> Fragment:
        """The part of the piece that lies between positions `begin` and `end` of the whole text.

        Empty lines at the end of the text are in no fragment: nothing is learned from them.
        """
        first, last = (min(max(position - self.offset, 0), self.tokens) for position in (begin, end))
        low, high = np.searchsorted(self.lines, [begin - self.offset, end - self.offset])
        return Fragment(self.ids(first, last), self.lines[low:high] + self.offset, int(low))

    def close(self) -> None:
        """Remove the temporary folder of the encoded piece."""
        if self.encoded is not None:
            self.encoded.close()


def hash_at(values: np.ndarray, place: Any) -> int:
    """A hash of values and their places; the hash of a text is the sum of the hashes of its pieces, modulo 2^64."""
    places = np.asarray(place, np.int64)
    if places.ndim == 0:
        places = places + np.arange(len(values))
    terms = splitmix(values.astype(np.uint64) + splitmix(places.astype(np.uint64)))
    return int(terms.sum(dtype=np.uint64))


def join_ids(parts: Iterable[np.ndarray], count: int) -> np.ndarray:
    """The ids of `count` tokens in a read-only temporary file, which holds part after part."""
    ids, filled = memory_mapped_zeros(count, 1, np.int32, "tokens").reshape(-1), 0
    for part in parts:
        ids[filled : filled + len(part)] = part
        filled += len(part)
    return read_only(ids)


def join_lines(fragments: Sequence[Fragment], begin: int, end: int) -> tuple[np.ndarray, int]:
    """The line boundaries of tokens `begin` to `end`, (lines + 1,), and the number of the first line."""
    lines = np.concatenate([fragment.lines for fragment in fragments])
    first = sum(fragment.lines_before for fragment in fragments)
    if not len(lines) or lines[0] > begin:  # a line that began before
        lines, first = np.append(begin, lines), first - 1
    return np.append(lines, end) - begin, first


@dataclass(frozen=True)
class LocalCorpus:
    """An encoded corpus that a worker on the same machine reads from its folder."""

    folder: Path

    def receive(self) -> EncodedCorpus:
        """The corpus."""
        return EncodedCorpus(self.folder, is_new=True)


@dataclass(frozen=True)
class SentCorpus:
    """References to the parts of each file of an encoded corpus in Ray's object store, by the name of the file."""

    files: Mapping[str, list[Any]]

    def receive(self) -> EncodedCorpus:
        """The corpus, in a temporary folder."""
        import ray

        with new_folder(None) as folder:
            for name, parts in self.files.items():
                with path_below(folder, name).open("wb") as file:
                    for part in parts:
                        file.write(ray.get(part).data)
        return EncodedCorpus(folder, temporary=True)


@dataclass(frozen=True)
class SentShare:
    """References to the fragments of the share of one worker in Ray's object store.

    begin, end: where the share begins and ends in the whole text. fragments: references to each `Fragment`, in order.
    description: fields of the `CorpusShare` that all shares have in common.
    """

    begin: int
    end: int
    fragments: Sequence[Any]
    description: Mapping[str, Any]

    def receive(self) -> CorpusShare:
        """The share, in a temporary file; OutputError if the disk is full."""
        import ray

        fragments = [ray.get(one)._replace(ids=NO_IDS) for one in self.fragments]  # one part of the ids at a time
        lines, first_line = join_lines(fragments, self.begin, self.end)
        ids = join_ids((ray.get(one).ids for one in self.fragments), self.end - self.begin)
        return CorpusShare(ids, read_only(lines), first_line, **self.description)


SentText = LocalCorpus | SentCorpus | SentShare


def description_of(encoded: EncodedCorpus | CorpusShare) -> dict[str, Any]:
    """Properties of the whole corpus that a share has too."""
    fields = ("meta", "fingerprint", "max_undercount", "phrases")
    return {name: getattr(encoded, name) for name in fields}


def send_share(ray: Any, encoded: EncodedCorpus, begin: int, end: int) -> SentShare:
    """Put a share of the tokens into the object store, a part at a time, after its lines."""
    low, high = np.searchsorted(encoded.sentences, [begin, end])
    fragments = [ray.put(Fragment(NO_IDS, np.array(encoded.sentences[low:high]), int(low)))]
    # In parts, so that the object store and this process hold a few of them at a time.
    step = PART_BYTES // 4
    for first in range(begin, end, step):
        part = np.array(encoded.ids[first : min(first + step, end)])
        fragments.append(ray.put(Fragment(part, np.zeros(0, np.int64), 0)))
    return SentShare(begin, end, fragments, description_of(encoded))


def send_corpus(ray: Any, encoded: EncodedCorpus) -> SentCorpus:
    """Put all files of an encoded corpus into the object store, a part at a time."""
    files = {}
    for path in sorted(encoded.folder.iterdir()):
        with path.open("rb") as file:
            parts = iter(partial(file.read, PART_BYTES), b"")
            files[path.name] = [ray.put(np.frombuffer(part, np.uint8)) for part in parts]
    return SentCorpus(files)
