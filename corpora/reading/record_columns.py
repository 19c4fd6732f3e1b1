"""Fields of records, such as those of JSON lines, that are kept next to the text, as columns."""

import json
from typing import Any

from embeddings.corpora.reading.text_rows import ColumnSelection
from embeddings.errors import CorpusError


class JsonNumber(str):
    """A JSON number as written, of any length; it does not count as text."""


class KeptFields:
    """Collects the fields to keep, whose types the first table decides; a missing field is null.

    Arguments:
        columns: names the fields; None stands for those of the first record.
        file: for messages.
    """

    def __init__(self, columns: ColumnSelection, file: str) -> None:
        self.columns = columns
        self.file = file
        self.names: list[str] | None = None
        self.values: list[list[Any]] = []
        self.schema: Any = None

    def add(self, record: dict[str, Any]) -> None:
        """Collect the fields of a record."""
        if not self.columns.keeps_columns:
            return
        if self.names is None:
            self.names = self.columns.kept_columns(self.file, list(record))
            self.values = [[] for _ in self.names]
        for name, values in zip(self.names, self.values, strict=True):
            values.append(as_python(record.get(name)))

    def table(self) -> Any:
        """A pyarrow table of the fields collected since the last call; None if none are kept."""
        if not self.names:
            return None
        import pyarrow

        arrays = [self.array(number) for number in range(len(self.names))]
        self.values = [[] for _ in self.names]
        table = pyarrow.table(arrays, self.names)
        self.schema = self.schema or table.schema
        return table

    def array(self, number: int) -> Any:
        """The values of one field as an array of the type of the first table."""
        import pyarrow

        assert self.names is not None
        name, values = self.names[number], self.values[number]
        try:
            if self.schema is not None:
                return pyarrow.array(values, self.schema.field(number).type)
            array = pyarrow.array(values)
            return array.cast(pyarrow.string()) if pyarrow.types.is_null(array.type) else array
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
            kind = "one type" if self.schema is None else f"the type {self.schema.field(number).type}"
            reason = " ".join(str(error).split())
            raise CorpusError(f"{self.file}: the values of {name!r} do not all have {kind}: {reason}") from None


def as_python(value: Any) -> Any:
    """A value with numbers that were kept as written converted to integers or floats."""
    if isinstance(value, JsonNumber):
        return json.loads(value)
    if isinstance(value, list | tuple):
        return [as_python(item) for item in value]
    if isinstance(value, dict):
        return {key: as_python(item) for key, item in value.items()}
    return value
