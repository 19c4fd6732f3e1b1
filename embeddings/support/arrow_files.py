"""Small Arrow IPC files with a fixed schema."""

from pathlib import Path
from typing import Any

from embeddings.errors import FormatError


def write_table(table: Any, path: Path) -> None:
    """Write a pyarrow table as an Arrow IPC file."""
    import pyarrow

    with path.open("wb") as stream, pyarrow.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def read_table(path: Path, kind: str, schema: Any = None) -> Any:
    """Memory-map a pyarrow table and validate every value and its columns; `kind` names the file in messages."""
    import pyarrow

    try:
        with pyarrow.memory_map(str(path)) as source:
            table = pyarrow.ipc.open_file(source).read_all()
        table.validate(full=True)
        columns = ", ".join(f"{field.name} ({field.type})" for field in table.schema) or "no columns"
    except (OSError, pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not a readable {kind}: {' '.join(str(error).split())}") from error
    if schema is not None and not table.schema.equals(schema):
        expected_columns = ", ".join(f"{field.name} ({field.type})" for field in schema)
        raise FormatError(f"{path} is not a {kind}: it has {columns}, expected {expected_columns}")
    return table
