"""The tags of documents on disk: an Arrow file with one column, and if documents have several, where each begins."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.array_file import ArrayFile, output_errors
from embeddings.corpora.reading.text_rows import Tag, tag_list
from embeddings.errors import FormatError
from embeddings.support.arrow_arrays import combine_chunks, to_nullable_array
from embeddings.support.arrow_files import read_table

COLUMN = "tag"


class TagFile:
    """A growing Arrow IPC file of strings; `digest` is the SHA-256 of its tags. Methods raise OutputError."""

    def __init__(self, path: Path) -> None:
        import pyarrow

        self.path = path
        self.count = 0
        self.digest = sha256()
        self.schema = pyarrow.schema([(COLUMN, pyarrow.large_string())])
        with output_errors(path):
            self.file = path.open("wb")
            self.writer: Any = pyarrow.ipc.new_file(self.file, self.schema)

    def append(self, tags: Sequence[str | None]) -> None:
        """Append tags."""
        import pyarrow

        batch = pyarrow.record_batch([to_nullable_array(tags)], self.schema)
        contents = [b"\0" if tag is None else b"\1" + tag.encode() for tag in tags]
        self.digest.update(b"".join([len(content).to_bytes(8, "little") + content for content in contents]))
        self.count += len(tags)
        with output_errors(self.path):
            self.writer.write_batch(batch)

    def close(self) -> None:
        """Complete the file."""
        with output_errors(self.path), self.file:
            self.writer.close()


class DocumentTagFiles:
    """The growing files of the tags of documents, each of which has one or several tags, or null."""

    def __init__(self, tags: Path, starts: Path) -> None:
        self.tags = TagFile(tags)
        self.starts: ArrayFile | None = None
        self.starts_path = starts

    def append(self, tags: Sequence[Tag]) -> None:
        """Append the tags of documents."""
        distinct = [distinct_tags(tag) for tag in tags]
        if self.starts is None and any(len(one) > 1 for one in distinct):
            self.starts = ArrayFile(self.starts_path, np.int64)
            self.starts.append(np.arange(self.tags.count + 1))
        if self.starts is not None:
            self.starts.append(self.tags.count + np.cumsum([len(one) for one in distinct]))
        self.tags.append([tag for one in distinct for tag in one])

    @property
    def files(self) -> list[ArrayFile | TagFile]:
        """The files."""
        return [self.tags, *([] if self.starts is None else [self.starts])]


def distinct_tags(tag: Tag) -> Sequence[str | None]:
    """Return the tags of a document without repeated and empty ones; null if there is none."""
    return list(dict.fromkeys(filter(None, tag_list(tag)))) or [None]


def load_tags(path: Path, count: int) -> Any:
    """Return `count` tags as a pyarrow array of large strings."""
    import pyarrow

    table = read_table(path, "tag file", pyarrow.schema([(COLUMN, pyarrow.large_string())]))
    if len(table) != count:
        raise FormatError(f"{path} has {len(table)} tags, expected {count}")
    return combine_chunks(table.column(COLUMN))
