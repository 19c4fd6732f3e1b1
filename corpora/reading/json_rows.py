"""Rows of JSON lines: Arrow parses blocks of common lines, the standard library everything else."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from embeddings.corpora.reading.columns import ColumnSelection, merge_tags
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.record_rows import JsonNumber, RecordCollector, json_records, record_rows
from embeddings.corpora.reading.text_block import MAX_ROW, TextBlock, gather, is_long
from embeddings.support.arrow import combine_chunks, pa, string_bytes

NEGATIVE_ZERO = re.compile(rb"-0[\s,}]")
LINE_FEED, CARRIAGE_RETURN, OPEN_OBJECT, CLOSE_OBJECT = b"\n\r{}"


def json_rows(
    blocks: Iterable[bytes], file: str, columns: ColumnSelection, decoder: Utf8Decoder, size: int
) -> Iterator[TextBlock]:
    """Yield the objects of JSON lines that come in blocks of valid UTF-8 as rows (see `RecordCollector`)."""
    collector, n_lines = RecordCollector(file, columns, decoder), 0
    for text in line_blocks(blocks):
        rows = parse_rows(text, collector)
        if rows is not None:
            yield rows
        else:
            yield from record_rows(json_records([text], file, n_lines), file, columns, decoder, size, collector)
        n_lines += text.count(b"\n")


def line_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the text in blocks of complete lines; of a line that is too long only a part, for an error."""
    blocks, text = iter(blocks), b""
    while (block := gather(blocks, len(text))) or text:
        text += block
        end = text.rfind(b"\n") + 1 if block else len(text)
        if end == 0 and is_long(text):
            end = len(text)
        if end:
            yield text[:end]
            text = text[end:]


def parse_rows(text: bytes, collector: RecordCollector) -> TextBlock | None:
    """Parse lines with Arrow; None if Arrow refuses them, or might read something else than the standard library."""
    types = arrow_types(collector)
    if types is None or len(text) > MAX_ROW:
        return None
    n_objects = count_objects(text)
    if n_objects is None or (JsonNumber in collector.kinds and NEGATIVE_ZERO.search(text)):
        return None
    table = parse_lines(text, types)
    if table is None or len(table) != n_objects or any(column.null_count for column in table.columns):
        return None  # null stands for a missing field, too
    collector.is_tokens = False
    name, *tag_names = collector.names
    data, starts = string_bytes(combine_chunks(table[name]))
    tags = [list(map(str, table[tag].to_pylist())) for tag in tag_names]
    merged = [merge_tags(row) for row in zip(*tags, strict=True)] if tags else None
    return TextBlock(data.tobytes(), starts[1:], tags=merged)


def arrow_types(collector: RecordCollector) -> dict[str, Any] | None:
    """The pyarrow types of the text field and the tag fields, by name; None if Arrow cannot read them."""
    types: dict[type, Any] = {str: pa.string(), JsonNumber: pa.int64()}
    is_common = all(kind in types for kind in collector.kinds) and collector.kinds[:1] == [str]
    if not is_common or collector.is_tokens or collector.columns.keeps_columns:
        return None
    return {name: types[kind] for name, kind in zip(collector.names, collector.kinds, strict=True)}


def count_objects(text: bytes) -> int | None:
    """Return the number of lines that are not empty; None if some do not begin and end as an object does."""
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == LINE_FEED)
    ends = ends if text.endswith(b"\n") else np.append(ends, len(text))
    starts = np.append(0, ends[:-1] + 1)
    is_filled = starts < ends
    starts, last = starts[is_filled], ends[is_filled] - 1
    last -= data[last] == CARRIAGE_RETURN
    are_objects = (data[starts] == OPEN_OBJECT).all() and (data[last] == CLOSE_OBJECT).all()
    return len(starts) if are_objects else None


def parse_lines(text: bytes, types: dict[str, Any]) -> Any:
    """Parse the fields of JSON lines with these names and types as a pyarrow table; None if Arrow refuses them."""
    try:
        return pa.json.read_json(
            pa.BufferReader(text),
            pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            pa.json.ParseOptions(explicit_schema=pa.schema(types.items()), unexpected_field_behavior="ignore"),
        )
    except (pa.ArrowException, UnicodeError):  # UnicodeError: a field name is not valid
        return None
