"""The tags of documents on disk: an Arrow file of one column, written as they come."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from embeddings.corpora.memory_mapped import writing
from embeddings.errors import FormatError
from embeddings.support.arrow_arrays import joined

COLUMN = "tag"


class TagFile:
    """A growing Arrow IPC file of strings; `digest` identifies what was written."""

    def __init__(self, path: Path) -> None:
        import pyarrow

        self.path = path
        self.count = 0
        self.digest = sha256()
        self.schema = pyarrow.schema([(COLUMN, pyarrow.large_string())])
        with writing(path):
            self.file = path.open("wb")
            self.writer: Any = pyarrow.ipc.new_file(self.file, self.schema)

    def append(self, tags: Sequence[str | None]) -> None:
        """Write these tags behind those there are.

        Raises:
            OutputError: they cannot be written.
        """
        import pyarrow

        batch = pyarrow.record_batch([pyarrow.array(tags, pyarrow.large_string())], self.schema)
        for tag in tags:
            told = b"\0" if tag is None else b"\1" + tag.encode()
            self.digest.update(len(told).to_bytes(8, "little") + told)
        self.count += len(tags)
        with writing(self.path):
            self.writer.write_batch(batch)

    def close(self) -> None:
        """Complete the file.

        Raises:
            OutputError: it cannot be written.
        """
        with writing(self.path), self.file:
            self.writer.close()


def load_tags(path: Path, count: int) -> Any:
    """The tags of so many documents: a pyarrow array of large strings.

    Raises:
        FormatError: the file is missing, broken or of another length.
    """
    import pyarrow

    try:
        with pyarrow.memory_map(str(path)) as source:
            column = pyarrow.ipc.open_file(source).read_all().column(COLUMN)
        column.validate(full=True)
    except (OSError, KeyError, pyarrow.ArrowException) as error:
        raise FormatError(f"{path} is not a readable file of tags: {' '.join(str(error).split())}") from error
    if len(column) != count or column.type != pyarrow.large_string():
        raise FormatError(f"{path} holds {len(column)} tags of type {column.type}, not {count} strings")
    return joined(column)
