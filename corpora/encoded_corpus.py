"""An encoded corpus: the folder it lies in, checked and memory-mapped."""

import json
import os
import shutil
import weakref
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus_cache.lock import shared
from embeddings.corpora.document_tags import load_tags
from embeddings.corpora.memory_mapped import load_column
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError

FORMAT = 3
META = "meta.json"
IDS = "ids.npy"
SENTENCES = "sentences.npy"
DOCUMENTS = "documents.npy"
VOCABULARY = "vocabulary.arrow"
TAGS = "tags.arrow"  # only where documents have tags
PHRASES = "phrases.arrow"  # only where phrases were joined
OPTIONAL = (TAGS, PHRASES)
COUNTS = ("tokens", "types", "sentences", "documents", "decoding_errors", "short", "known")


class EncodedCorpus:
    """A corpus as numbers, memory-mapped and read only.

    ids: (tokens,) int32, the rank of each word among all types by frequency: the words kept by a vocabulary
    of V words are those with an id below V. Words that the vocabulary does not hold, as it was given or the
    table of types was kept small, have an id equal to its length. sentences: (S + 1,) int64, where sentences
    start in `ids`; every line is one, empty ones too. documents: (D + 1,) int64, where documents start in `sentences`.
    fingerprint: equal for equal text under equal settings. decoding_errors: places that were not UTF-8 and were
    replaced or left out. short: no word is counted too low by more, and none that occurs more often is missing; 0 but
    for a corpus encoded with `max_types` that had more.

    temporary: the folder is removed by `close`, or when this object goes away, or when the program ends.

    Raises:
        FormatError: the folder does not hold a whole encoded corpus of this version.
    """

    def __init__(self, folder: Path, *, temporary: bool = False) -> None:
        self.folder = folder
        self.finalizer = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True) if temporary else None
        descriptor = shared(folder / META)
        if descriptor is None:
            raise FormatError(f"{folder} is not a whole encoded corpus: {META} cannot be read, or is being removed")
        self.release = weakref.finalize(self, os.close, descriptor)
        self.meta = meta = read_meta(folder)
        self.ids: NDArray[np.int32] = load_column(folder / IDS, "<i4", meta["tokens"])
        self.sentences: NDArray[np.int64] = load_column(folder / SENTENCES, "<i8", meta["sentences"] + 1)
        self.documents: NDArray[np.int64] = load_column(folder / DOCUMENTS, "<i8", meta["documents"] + 1)
        if self.sentences[-1] != meta["tokens"] or self.documents[-1] != meta["sentences"]:
            raise FormatError(f"{folder} is not a whole encoded corpus: its bounds do not fit its ids")
        self.fingerprint: str = meta["fingerprint"]
        self.decoding_errors: int = meta["decoding_errors"]
        self.short: int = meta["short"]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All types of the corpus with their counts."""
        return Vocabulary.load(self.folder / VOCABULARY)

    @cached_property
    def tags(self) -> Any:
        """The tag of each document, a pyarrow array of strings (D,), null where it has none; None without tags."""
        path = self.folder / TAGS
        return load_tags(path, self.meta["documents"]) if TAGS in self.meta["files"] else None

    @cached_property
    def phrases(self) -> Any:
        """The phrases that are tokens here, a pyarrow table as `phrases.kept` has it; None if none were joined."""
        from embeddings.corpora.phrases.phrase_table import load_table

        return load_table(self.folder / PHRASES) if PHRASES in self.meta["files"] else None

    def select(self, *, min_count: int = 1, max_vocab: int | None = None) -> Vocabulary:
        """The words to train: those that occur often enough; all, if the corpus was given its vocabulary.

        Raises:
            CorpusError, SettingError: as `Vocabulary.select`.
        """
        if self.meta["given"]:
            return self.vocabulary
        return self.vocabulary.select(min_count=min_count, max_vocab=max_vocab)

    @property
    def open(self) -> bool:
        """Whether its folder is still there: of a temporary one, until it is closed."""
        return self.finalizer is None or self.finalizer.alive

    def close(self) -> None:
        """Remove the folder of a temporary corpus; a cached one stays. Mapped arrays stay readable.

        A cached one is no longer in use then, and may be removed to make room for others.
        """
        self.release()
        if self.finalizer is not None:
            self.finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        meta = self.meta
        return (
            f"<EncodedCorpus of {meta['tokens']} tokens, {meta['types']} types, "
            f"{meta['sentences']} sentences, {meta['documents']} documents>"
        )


def read_meta(folder: Path) -> dict[str, Any]:
    """What an encoded corpus says of itself.

    Raises:
        FormatError: it is missing, of another version, or its files are missing or not of the size they had.
    """
    try:
        meta = json.loads((folder / META).read_text("utf-8"))
        names = {IDS, SENTENCES, DOCUMENTS, VOCABULARY, *(set(OPTIONAL) & set(meta["files"]))}
        sizes = {name: (folder / name).stat().st_size for name in names}
        whole = meta["format"] == FORMAT and meta["files"] == sizes and isinstance(meta["fingerprint"], str)
        whole = whole and all(isinstance(meta[name], int) for name in COUNTS)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"{folder} is not a whole encoded corpus: {error}") from error
    if not whole:
        raise FormatError(f"{folder} is not a whole encoded corpus: {META} does not fit the files")
    return dict(meta)
