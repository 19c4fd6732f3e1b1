"""The tags of documents on disk: an Arrow file with one column, written batch by batch."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from embeddings.corpora.array_file import output_errors
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


def load_tags(path: Path, count: int) -> Any:
    """Return the tags of `count` documents as a pyarrow array of large strings."""
    import pyarrow

    table = read_table(path, "tag file", pyarrow.schema([(COLUMN, pyarrow.large_string())]))
    if len(table) != count:
        raise FormatError(f"{path} has {len(table)} tags, expected {count}")
    return combine_chunks(table.column(COLUMN))
