"""The folder of a text index: segments of rows that never change, and numbered states that list them.

A state is written after its segments, under a new number, so that an index is always in the last complete state: what
was added before a crash is there, and what was not confirmed is not. Readers map the segments of the state that they
have read, which stay readable after they are removed. While a reader maps segments, writers remove none.

    text-index.json     what the index is: model, pooling, kind of index
    recipe/             what was learned from the texts: word frequencies and components to remove
    state-00000002.json the segments, and which of their rows are removed
    segment-4f1c.../    vectors, texts and words of some rows
    removed-9d02....npy the rows of a segment that are removed
"""

import copy
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from embeddings.corpora.array_file import load_array
from embeddings.corpora.encoded_corpus import file_digest
from embeddings.errors import FormatError, OutputError
from embeddings.support import tensors
from embeddings.support.arrow import combine_chunks, read_table, to_arrow, to_list
from embeddings.support.files import (
    acquire_shared,
    atomic_write,
    check_own_folder,
    exclusive_lock,
    is_unlocked,
    release,
)
from embeddings.support.foreign_files import format_errors, path_below
from embeddings.support.output_errors import check_other_files
from embeddings.support.records import (
    check_checksum,
    check_fields,
    checksum,
    read_versioned,
    to_jsonable,
    write_json,
)
from embeddings.support.remote.address import is_remote
from embeddings.support.word_list import WordList

Method = Literal["fused", "vectors", "lexical"]  # of ranking texts
SCORES = {
    "fused": "w x BM25 + (1 - w) x cosine, each standardised; w = 0.6. (Older indexes divide each by its highest.)",
    "vectors": "Cosine of the vectors of query and text.",
    "lexical": "BM25.",
}
INDEX, RECIPE, MODEL, SEGMENT = "text-index.json", "recipe", "model", "segment.json"
ID, TEXT = "id", "text"  # columns of rows
VECTORS, SCALES = "vectors", "scales"  # arrays of a segment; scales are those of int8
POSTINGS = {"term_starts": "<i8", "posting_texts": "<i4", "posting_counts": "<i4", "lengths": "<i4"}
FIELDS = {
    "id": str, "dim": int, "dtype": str, "kind": str, "index_from": int, "model": dict, "pooling": dict, "words": dict,
}  # fmt: skip
TENSORS, ROWS, TERMS = "tensors.safetensors", "rows.arrow", "terms.arrow"
STATE = re.compile(r"state-(\d{8,})\.json")
OWN_NAME = re.compile(r"state-\d+\.json|(segment|removed)-[0-9a-f]{16}(\.npy)?|\..*\.partial")  # may be removed
OWN_FILE = re.compile(  # all that an index writes, and unfinished parts of it
    r"text-index\.json|state-\d+\.json|removed-[0-9a-f]{16}\.npy|\.(segment|state|removed)-.*\.partial(/.*)?"
    r"|segment-[0-9a-f]{16}/(tensors\.safetensors|(rows|terms)\.arrow|segment\.json)"
    r"|recipe/(tensors\.safetensors|(common|words|texts_of_words)\.arrow)"
    r"|model(/(config|tokenizer|tokenizer_config|model)\.json|/(model|tensors)\.safetensors|/README\.md"
    r"|/(vocabulary|documents|phrases|labels)\.arrow|/(embeddings|counts)\.npy)?"  # the last two of an earlier version
)
VERSION = 1
SHA_LENGTH = 64  # hexadecimal digits of SHA-256, which segments of earlier versions have
ATTEMPTS = 5  # to read a state while other processes replace it


@dataclass
class Segment:
    """Rows of an index.

    Arguments:
        name: of its folder.
        rows: a pyarrow table of ids, texts and other columns.
        terms: the words of the texts, a pyarrow array of strings.
        arrays: vectors, postings of words, and the arrays of an index of nearest neighbours.
        removed: whether each row is removed, (rows,); None if none is.
        mask: the name of the file with `removed`.
    """

    name: str
    rows: pa.Table
    terms: Any
    arrays: Mapping[str, np.ndarray]
    removed: np.ndarray | None = None
    mask: str | None = None
    engine: Any = None  # the index of nearest neighbours, once it is used

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @cached_property
    def live(self) -> np.ndarray:
        """Whether each row is not removed, (rows,)."""
        return np.ones(len(self), np.bool_) if self.removed is None else ~self.removed

    @cached_property
    def live_count(self) -> int:
        """The number of rows that are not removed."""
        return int(self.live.sum())

    @cached_property
    def live_length(self) -> int:
        """The words of the rows that are not removed."""
        return int(self.arrays["lengths"][self.live].sum())

    @cached_property
    def words(self) -> WordList:
        """The distinct words of the texts."""
        return WordList(self.terms, distinct=True)

    def values(self, name: str, *, removed: bool = False) -> list[Any]:
        """The values of a column, in row order; `removed`: include those of removed rows."""
        column = self.rows[name]
        return to_list(column if removed else column.filter(to_arrow(self.live)))

    def rows_of(self, ids: Any) -> np.ndarray:
        """Whether each row has an id in `ids` and is not removed, (rows,) bool."""
        found = pc.is_in(self.rows.column(ID), value_set=ids).to_numpy()
        return np.asarray(found & self.live)

    def without(self, rows: np.ndarray) -> "Segment":
        """A copy in which rows (rows,) bool are marked as removed too."""
        return self.with_removed(rows | ~self.live) if rows.any() else self

    def with_removed(self, removed: np.ndarray | None, mask: str | None = None) -> "Segment":
        """A copy of the segment in which the rows `removed` are marked as removed."""
        segment = copy.copy(self)
        for name in ("live", "live_count", "live_length"):
            vars(segment).pop(name, None)
        segment.removed, segment.mask = removed, mask
        return segment


@dataclass(frozen=True)
class State:
    """What an index contains after a change. It never changes itself, so threads can share it.

    Arguments:
        number: of the state; the newest has the highest.
        written: the number of rows that were ever added, which numbers rows without ids.
        segments: the rows.
    """

    number: int
    written: int
    segments: list[Segment]


def write_segment(folder: Path, rows: pa.Table, terms: Any, arrays: Mapping[str, np.ndarray]) -> Segment:
    """Write a segment, and return it as it is read."""
    name = f"segment-{secrets.token_hex(8)}"
    with atomic_write(folder / name, folder=True) as scratch:
        tensors.save(arrays, scratch / TENSORS)
        for file, table in ((ROWS, rows), (TERMS, pa.table({"term": terms}))):
            with pa.ipc.new_file(scratch / file, table.schema) as writer:
                writer.write_table(table)
        checksums = {file: file_digest(scratch / file) for file in (TENSORS, ROWS, TERMS)}
        write_json(scratch / SEGMENT, {"format_version": VERSION, "rows": rows.num_rows, "checksums": checksums})
    return read_segment(folder, name, check=False)


def read_segment(folder: Path, name: str, *, check: bool = True) -> Segment:
    """Map a segment; its checksums are compared unless this process has just written it."""
    path = path_below(folder, name)
    record = read_versioned(path / SEGMENT, VERSION)
    with format_errors(path):
        for file in (TENSORS, ROWS, TERMS) if check else ():
            expected = record["checksums"][file]
            function = (
                checksum if len(expected) == SHA_LENGTH else file_digest
            )  # the former in indexes of earlier versions
            check_checksum(path_below(path, file), expected, SEGMENT, function)
        rows, terms = read_table(path / ROWS, "table of texts"), read_table(path / TERMS, "table of words")
        return Segment(name, rows, combine_chunks(terms.column("term")), tensors.load(path / TENSORS))


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record with its checksum."""
    record = to_jsonable({"format_version": VERSION, **content})
    write_json(path, {**record, "checksum": seal(record)})


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a record of `write_sealed`; raises FormatError if it is broken or was changed."""
    record = read_versioned(path, VERSION)
    if record.pop("checksum", None) != seal(record):
        raise FormatError(f"{path} is damaged: its checksum differs from its content")
    return record


def seal(record: Mapping[str, Any]) -> str:
    """SHA-256 of a record."""
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


class IndexFolder:
    """Reads and changes the state of an index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / INDEX).is_file():
            state = "is not an index of texts, which `embeddings index` makes" if path.exists() else "does not exist"
            raise FormatError(f"{path} {state}")
        self.record = read_sealed(path / INDEX)
        check_fields(path / INDEX, self.record, FIELDS)

    def __deepcopy__(self, memo: Any) -> "IndexFolder":
        """The folder itself, which a temporary index removes when no copy of it is left."""
        return self

    def last_number(self) -> int:
        """The number of the newest state."""
        numbers = [int(match[1]) for entry in self.path.iterdir() if (match := STATE.fullmatch(entry.name))]
        if not numbers:
            raise FormatError(f"{self.path} is damaged: it has no state")
        return max(numbers)

    def state_path(self, number: int) -> Path:
        """The file of a state."""
        return self.path / f"state-{number:08}.json"

    def read(self, known: Sequence[Segment] = ()) -> State:
        """The newest state; `known` are segments that need not be read again."""
        attempts = 0
        while True:
            attempts += 1
            lock = acquire_shared(self.path / INDEX)  # while it is held, writers remove nothing
            # after the lock: a writer may have removed the state that was the newest before
            number = self.last_number()
            try:
                return self.read_state(number, known)
            except FormatError:
                if attempts == ATTEMPTS or self.last_number() == number:
                    raise  # it is damaged; else another process has replaced it, without locks
            finally:
                release(lock)

    def read_state(self, number: int, known_segments: Sequence[Segment]) -> State:
        """A state by its number."""
        path, known = self.state_path(number), {one.name: one for one in known_segments}
        record = read_sealed(path)
        check_fields(path, record, {"index": str, "segments": list, "written": int})
        if record["index"] != self.record.get("id"):
            raise self.replaced()
        segments = []
        with format_errors(path):
            for entry in record["segments"]:
                segment = known.get(entry["name"]) or self.checked(read_segment(self.path, entry["name"]))
                mask = entry.get("removed")
                if mask != segment.mask:
                    removed = None if mask is None else self.read_mask(mask, entry["checksum"], len(segment))
                    segment = segment.with_removed(removed, mask)
                segments.append(segment)
        return State(number, record["written"], segments)

    def checked(self, segment: Segment) -> Segment:
        """A segment whose arrays fit the index and one another, so that no search reads outside of them.

        Raises FormatError if they do not.
        """
        arrays, rows, dtype = segment.arrays, len(segment), self.record["dtype"]
        n_postings = len(arrays.get("posting_texts", ()))
        kinds = {VECTORS: dtype, **POSTINGS}
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(POSTINGS, (n_postings,))
        shapes |= {VECTORS: (rows, self.record["dim"]), "term_starts": (len(segment.terms) + 1,), "lengths": (rows,)}
        if dtype == "int8":
            kinds[SCALES], shapes[SCALES] = "float32", (rows,)
        actual = {name: (arrays[name].dtype, arrays[name].shape) for name in kinds if name in arrays}
        fits = segment.rows.column_names[:2] == [ID, TEXT]
        fits = fits and actual == {name: (np.dtype(kinds[name]), shapes[name]) for name in kinds}
        if fits:
            starts, texts, counts = arrays["term_starts"], arrays["posting_texts"], arrays["posting_counts"]
            fits = starts[0] == 0 and starts[-1] == n_postings and bool((np.diff(starts) >= 0).all())
            fits = fits and (not n_postings or bool(texts.min() >= 0 and texts.max() < rows and counts.min() > 0))
        if not fits:
            raise FormatError(f"{self.path / segment.name} is broken: its arrays do not fit the index")
        return segment

    def read_mask(self, name: str, digest: str, rows: int) -> np.ndarray:
        """Which rows of a segment are removed, (rows,) bool."""
        path = path_below(self.path, name)
        check_checksum(path, digest, "the state")
        return np.array(load_array(path, np.bool_, rows))

    def change(self, known: Sequence[Segment], change: Callable[[State], State]) -> State:
        """Replace the newest state by the one that `change` makes of it; other writers wait.

        Raises:
            OutputError: the index cannot be written; it stays as it was.
        """
        with exclusive_lock(self.path) as is_locked:
            state = self.read(known)
            try:
                new = replace(change(state), number=state.number + 1)
                # `change` takes long: the folder may hold another index by now, whose state must not be hidden
                if not self.is_current():
                    raise self.replaced()
                self.write_state(new)
                state = self.read_back(new.number, state.segments)
            finally:
                if is_locked and self.is_current():  # else another process may be writing
                    self.remove_unused(state.number)
        return state

    def read_back(self, number: int, known: Sequence[Segment]) -> State:
        """Read a state that was just written from the disk, before the state before it is removed.

        Raises:
            OutputError: it is damaged, and was removed.
        """
        try:
            return self.read_state(number, known)
        except FormatError as error:
            self.state_path(number).unlink(missing_ok=True)
            raise OutputError(f"{self.path} cannot be written: {error}") from error

    def replaced(self) -> FormatError:
        """The error for a folder that holds another index now."""
        return FormatError(f"{self.path} has been replaced by another index: open it again")

    def is_current(self) -> bool:
        """Whether the folder still holds this index."""
        with suppress(FormatError):
            return bool(read_sealed(self.state_path(self.last_number())).get("index") == self.record["id"])
        return False

    def write_state(self, state: State) -> None:
        """Write a state, whose number is not used yet."""
        entries = []
        for segment in state.segments:
            entry: dict[str, Any] = {"name": segment.name, "rows": len(segment)}
            if segment.removed is not None:
                if segment.mask is None:
                    segment.mask = f"removed-{secrets.token_hex(8)}.npy"
                    with atomic_write(self.path / segment.mask) as path, path.open("wb") as stream:
                        tensors.write_npy(segment.removed, stream)
                entry |= {"removed": segment.mask, "checksum": checksum(self.path / segment.mask)}
            entries.append(entry)
        # last, so that a crash before this line leaves the state before
        with atomic_write(self.state_path(state.number)) as path:
            write_sealed(path, {"index": self.record["id"], "written": state.written, "segments": entries})

    def remove_unused(self, number: int) -> None:
        """Remove what a state does not use: other states, and what interrupted writers left; nothing for a reader."""
        if not is_unlocked(self.path / INDEX):
            return  # a reader may use it; the next change removes it
        segments = read_sealed(self.state_path(number))["segments"]
        used = {self.state_path(number).name} | {str(one.get(key)) for one in segments for key in ("name", "removed")}
        for entry in self.path.iterdir():
            if OWN_NAME.fullmatch(entry.name) and entry.name not in used:
                with suppress(OSError):
                    shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def is_text_index(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a text index."""
    return not is_remote(path) and (Path(path) / INDEX).is_file()


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a folder that an index must not replace: one without an index, or with other files at any depth."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    check_own_folder(path, INDEX, names, "text index", force=force)
    # only now: listing all of another folder, such as a home folder, would take minutes
    entries = path.rglob("*") if names else ()
    files = [entry.relative_to(path).as_posix() for entry in entries if entry.is_symlink() or not entry.is_dir()]
    check_other_files(path, {name for name in files if not OWN_FILE.fullmatch(name)}, "the text index")
