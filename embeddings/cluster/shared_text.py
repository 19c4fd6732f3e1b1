"""How the text of a corpus comes to the workers: as a share of its tokens, or as a whole."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.cluster.text_piece import Fragment, join_fragments
from embeddings.corpora.corpus_cache.tempdir import new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.support.foreign_files import path_below
from embeddings.training.corpus_share import CorpusShare, cut_lines
from embeddings.training.document_stream import memory_mapped_zeros

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


def read_only(array: np.ndarray) -> np.ndarray:
    """An array like those of a memory-mapped file, for which kernels are compiled."""
    array.setflags(write=False)
    return array


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
