"""An encoded corpus: token ids, sentence and document boundaries in one folder, memory-mapped and checked."""

import json
import os
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import BLOCK, load_array, output_errors
from embeddings.corpora.vocabulary import Vocabulary, VocabularyRule
from embeddings.errors import CorpusError, FormatError, S, SettingError
from embeddings.support.arrow import combine_chunks, pa, pc, read_table, to_arrow, to_numpy
from embeddings.support.files import acquire_shared

COLUMN = "tag"
FORMAT = 9
META = "meta.json"
IDS = "ids.npy"
SENTENCES = "sentences.npy"
DOCUMENTS = "documents.npy"
VOCABULARY = "vocabulary.arrow"
TAGS = "tags.arrow"  # only if documents have tags
TAG_STARTS = "tag_starts.npy"  # only if a document has several
PHRASES = "phrases.arrow"  # only if phrases were joined
TEXT_VECTORS = "text_vectors.npy"  # only if texts have vectors
FILES = (IDS, SENTENCES, DOCUMENTS, VOCABULARY)
OPTIONAL = (TAGS, TAG_STARTS, PHRASES, TEXT_VECTORS)
COUNTS = ("tokens", "types", "sentences", "documents", "decoding_errors", "max_undercount", "known_tokens")
KINDS: dict[str, type] = {
    **dict.fromkeys(COUNTS, int),
    **dict.fromkeys(("fixed_vocabulary", "has_items"), bool),
    **dict.fromkeys(("settings", "columns", "digests"), dict),
    **dict.fromkeys(("sources", "file_ends"), list),
    "fingerprint": str,
}
TECHNICAL = ("files", "digests", "digest")  # of use to this module only


class TagFile:
    """A growing Arrow IPC file of strings; `digest` is the SHA-256 of its tags. Methods raise OutputError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.digest = sha256()
        self.schema = pa.schema([(COLUMN, pa.large_string())])
        with output_errors(path):
            self.file = path.open("wb")
            self.writer: Any = pa.ipc.new_file(self.file, self.schema)

    def append(self, tags: Any) -> None:
        """Append tags, a pyarrow array of large strings."""
        batch = pa.record_batch([tags], self.schema)
        # a missing and an empty tag, and "ab" "c" and "a" "bc", must have different digests
        contents = [b"\0" if tag is None else b"\1" + tag for tag in tags.cast(pa.large_binary()).to_pylist()]
        self.digest.update(b"".join([len(content).to_bytes(8, "little") + content for content in contents]))
        self.count += len(tags)
        with output_errors(self.path):
            self.writer.write_batch(batch)

    def close(self) -> None:
        """Complete the file."""
        with output_errors(self.path), self.file:
            self.writer.close()


def load_tags(path: Path, count: int) -> Any:
    """Return `count` tags as a pyarrow array of large strings."""
    table = read_table(path, "tag file", pa.schema([(COLUMN, pa.large_string())]))
    if len(table) != count:
        raise FormatError(f"{path} has {len(table)} tags, expected {count}")
    return combine_chunks(table.column(COLUMN))


class MissingCorpusError(FormatError):
    """The folder has no encoded corpus, or the corpus is being removed."""


class EncodedCorpus:
    """A corpus as token ids, memory-mapped and read-only.

    ids: (tokens,) int32, the frequency rank of each token among all types; a vocabulary of the V most frequent words
    contains the ids below V. Tokens outside a fixed vocabulary, or dropped because of `max_types`, have an id equal
    to the number of types. sentences: (S + 1,) int64, where sentences begin in `ids`; every line is one, including
    empty lines. documents: (D + 1,) int64, where documents begin in `sentences`. fingerprint: equal for equal text
    under equal settings. decoding_errors: invalid UTF-8 sequences that were replaced or ignored. max_undercount:
    counts are too low by at most this number for each spelling of a word in the text, and only spellings with at most
    this count are missing; 0 unless the corpus had more types than `max_types`.

    temporary: the folder is removed by `close`, by garbage collection, or when the program ends. is_new: this process
    has just written it. All content is checked unless the folder is temporary or new.

    Raises:
        FormatError: the folder is not a complete encoded corpus of this format version, or it is damaged.
    """

    def __init__(self, folder: Path, *, temporary: bool = False, is_new: bool = False) -> None:
        self.folder = folder
        self.finalizer = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True) if temporary else None
        descriptor = acquire_shared(folder / META)
        if descriptor is None:
            message = f"{META} cannot be read or is being removed"
            raise MissingCorpusError(f"{folder} is not a complete encoded corpus: {message}")
        # the open file holds the lock that keeps an entry from being evicted
        self.release = weakref.finalize(self, os.close, descriptor)
        self.meta = meta = read_meta(folder)
        self.ids: NDArray[np.int32] = load_array(folder / IDS, "<i4", meta["tokens"])
        self.sentences: NDArray[np.int64] = load_array(folder / SENTENCES, "<i8", meta["sentences"] + 1)
        self.documents: NDArray[np.int64] = load_array(folder / DOCUMENTS, "<i8", meta["documents"] + 1)
        self.fingerprint: str = meta["fingerprint"]
        self.decoding_errors: int = meta["decoding_errors"]
        self.max_undercount: int = meta["max_undercount"]
        # checking reads everything once; what this process has just written need not be read again
        if not (temporary or is_new):
            check_content(self)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All types of the corpus with their counts."""
        return Vocabulary.load(self.folder / VOCABULARY)

    @cached_property
    def tags(self) -> Any:
        """The tags of all documents, a pyarrow array of strings, null for untagged documents; None without any tags.

        Each document has one tag (D,), unless there are `tag_starts`.
        """
        if TAGS not in self.meta["files"]:
            return None
        starts = self.tag_starts
        return load_tags(self.folder / TAGS, self.meta["documents"] if starts is None else int(starts[-1]))

    @cached_property
    def tag_starts(self) -> NDArray[np.int64] | None:
        """Where the distinct tags of each document begin in `tags` (D + 1,); None if each document has one tag."""
        if TAG_STARTS not in self.meta["files"]:
            return None
        return load_array(self.folder / TAG_STARTS, "<i8", self.meta["documents"] + 1)

    @property
    def first_tags(self) -> Any:
        """The first tag of each document, a pyarrow array of strings (D,)."""
        return self.tags if self.tag_starts is None else self.tags.take(to_arrow(self.tag_starts[:-1]))

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weights of documents, (D,): the last tag of each, if it begins with a tab; None without weights."""
        tags = self.tags if self.tag_starts is None else self.tags.take(to_arrow(self.tag_starts[1:] - 1))
        if tags is None or not (tags[0].as_py() or "").startswith("\t"):
            return None
        weights: NDArray[np.float64] = to_numpy(pc.utf8_ltrim_whitespace(tags).cast("float64"))
        return weights

    @property
    def single_tags(self) -> Any:
        """The only tag of each document, a pyarrow array of strings (D,).

        Raises:
            CorpusError: a document has several tags.
        """
        if self.tag_starts is not None:
            # argmax of booleans is the first true one
            first = int(np.argmax(np.diff(self.tag_starts) > 1))
            raise CorpusError(f"document {first} has several tags, expected one: select one column without lists")
        return self.tags

    @cached_property
    def text_vectors(self) -> NDArray[np.float16] | None:
        """The vectors of all documents, (D, dim), whose norms are weights; None if texts have no vectors."""
        if TEXT_VECTORS not in self.meta["files"]:
            return None
        shape = self.meta["documents"], self.meta["vector_dim"]
        return load_array(self.folder / TEXT_VECTORS, "<f2", shape[0] * shape[1]).reshape(shape)

    @cached_property
    def phrases(self) -> Any:
        """The phrases that are tokens of the corpus, a pyarrow table; None if no phrases were joined."""
        return read_table(self.folder / PHRASES, "phrase table") if PHRASES in self.meta["files"] else None

    def select(
        self,
        *,
        min_count: int = 1,
        max_vocab: int | None = None,
        min_documents: int = 1,
        documents: NDArray[np.int64] | None = None,
        rule: VocabularyRule | None = None,
    ) -> Vocabulary:
        """Return the words to train: the frequent ones, or all words of a fixed vocabulary.

        Arguments:
            min_count, max_vocab, min_documents, documents, rule: as `Vocabulary.select`.

        Raises:
            CorpusError, SettingError: as `Vocabulary.select`; or a fixed vocabulary has a rule.
        """
        if self.meta["fixed_vocabulary"]:
            if rule is not None:
                raise SettingError(
                    "a vocabulary rule cannot be combined with a vocabulary, whose words are all trained"
                )
            return self.vocabulary
        return self.vocabulary.select(
            min_count=min_count, max_vocab=max_vocab, min_documents=min_documents, documents=documents, rule=rule
        )

    @property
    def is_open(self) -> bool:
        """Whether `close` has not been called."""
        return self.release.alive

    def close(self) -> None:
        """Remove the folder if it is temporary, else release it so that it may be evicted; arrays stay readable."""
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
    """Read and check the description of an encoded corpus, and the sizes of its files."""
    try:
        meta = json.loads((folder / META).read_text("utf-8"))
        # a damaged number must not be taken for that of another version
        is_intact = meta.get("digest") == meta_digest(meta)
        if meta["format"] != FORMAT and (is_intact or "digest" not in meta):
            raise FormatError(f"{folder} has format version {meta['format']}, expected {FORMAT}")
        names = {*FILES, *(set(OPTIONAL) & set(meta["files"]))}
        # sizes are compared before anything is mapped: reading behind the end of a mapped file ends the process
        sizes = {name: (folder / name).stat().st_size for name in names}
        valid = is_intact and meta["files"] == sizes and meta["digests"].keys() == names
        valid = valid and all(type(meta[name]) is kind for name, kind in KINDS.items())
        problem = f"{META} does not match the files"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        valid, problem = False, str(error)
    if not valid:
        raise FormatError(f"{folder} is not a complete encoded corpus: {problem}")
    return dict(meta)


def meta_digest(meta: Mapping[str, Any]) -> str:
    """Return a digest of a description without its entry `digest`."""
    content = {name: value for name, value in meta.items() if name != "digest"}
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def write_meta(folder: Path, meta: Mapping[str, Any], known: Mapping[str, str | None] | None = None) -> None:
    """Write the description of an encoded corpus, with the sizes and digests of its files.

    known: digests of some files, by name, that were computed during writing.
    """
    paths = [folder / name for name in (*FILES, *OPTIONAL) if (folder / name).exists()]
    sizes = {path.name: path.stat().st_size for path in paths}
    digests = {path.name: (known or {}).get(path.name) or file_digest(path) for path in paths}
    content = {**meta, "files": sizes, "digests": digests}
    text = json.dumps({**content, "digest": meta_digest(content)}, indent=1, ensure_ascii=False)
    # last, since a folder with a description counts as complete
    (folder / META).write_text(text + "\n", "utf-8")


def write_derived(
    folder: Path, encoded: EncodedCorpus, shared: Sequence[str], vocabulary: Vocabulary, changes: Mapping[str, Any]
) -> None:
    """Complete a corpus in `folder` that shares files with `encoded`; its vocabulary and description differ."""
    with output_errors(folder / META):
        for name in encoded.meta["files"].keys() & set(shared):
            # files never change after they are written, so that two corpora can share one
            try:
                os.link(encoded.folder / name, folder / name)
            except OSError:
                shutil.copyfile(encoded.folder / name, folder / name)
        vocabulary.save(folder / VOCABULARY)
        write_meta(folder, {**encoded.meta, **changes})


class Encodable(Protocol):
    """A corpus that can be encoded, such as a `Corpus`."""

    def encode(self) -> EncodedCorpus:
        """Return it as token ids."""


def as_encoded(corpus: EncodedCorpus | Encodable) -> EncodedCorpus:
    """Return the encoded corpus of a corpus; raises SettingError for other objects."""
    encoded: Any = corpus.encode() if hasattr(corpus, "encode") and not isinstance(corpus, str) else corpus
    if not isinstance(encoded, EncodedCorpus):
        raise SettingError(f"{S.corpus} must be a Corpus, such as em.Corpus('text.txt'), got {corpus!r:.60}")
    return encoded


READ_SIZE = 1 << 20  # bytes read at a time


def file_digest(path: Path) -> str:
    """Return a digest of a file's content that detects damage; reads at the speed of memory."""
    from embeddings.kernels.checksum import FileDigest  # imports numba

    digest = FileDigest()
    with path.open("rb") as stream:
        while data := stream.read(READ_SIZE):
            digest.add(data)
    return digest.hexdigest()


def check_content(encoded: EncodedCorpus) -> None:
    """Raise FormatError if a file of an encoded corpus is damaged or does not fit the others."""
    try:
        problem = next(find_problems(encoded), None)
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}"
    if problem is not None:
        raise FormatError(f"{encoded.folder} is damaged: {problem}")
    _ = encoded.tags, encoded.phrases, encoded.text_vectors  # reading them checks them


def find_problems(encoded: EncodedCorpus) -> Iterator[str]:
    """Yield the problems of an encoded corpus; raises FormatError for a vocabulary that cannot be read."""
    meta = encoded.meta
    for name, digest in meta["digests"].items():
        if file_digest(encoded.folder / name) != digest:
            yield f"{name} does not match its digest"
    if not is_partition(encoded.sentences, len(encoded.ids)):
        yield "its sentence boundaries are not in order"
    if not is_partition(encoded.documents, meta["sentences"]):
        yield "its document boundaries are not in order"
    if encoded.tag_starts is not None and not is_partition(encoded.tag_starts, int(encoded.tag_starts[-1])):
        yield "the boundaries of its tags are not in order"
    if int(encoded.ids.view(np.uint32).max(initial=0)) > meta["types"]:  # a negative id is above all others
        yield f"an id is not in the vocabulary of {meta['types']} words"
    vocabulary = encoded.vocabulary
    if len(vocabulary) != meta["types"]:
        yield f"its vocabulary has {len(vocabulary)} words, expected {meta['types']}"
    counts = (vocabulary.tokens, vocabulary.total)
    if not meta["fixed_vocabulary"] and counts != (meta["known_tokens"], meta["tokens"]):  # else of another text
        yield "the counts of its vocabulary do not match its tokens"


def is_partition(borders: NDArray[np.int64], end: int) -> bool:
    """Whether boundaries (n + 1,) ascend from 0 to `end`."""
    parts = (borders[start : start + BLOCK + 1] for start in range(0, len(borders), BLOCK))
    return borders[0] == 0 and borders[-1] == end and all(bool((part[1:] >= part[:-1]).all()) for part in parts)
