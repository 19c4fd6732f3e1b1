"""Files of tables of every kind."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq


def parquet(path, table):
    pq.write_table(table, path, row_group_size=3)


def arrow(path, table):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)


def stream(path, table):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def jsonl(path, table):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")


def written(table, delimiter):
    """The bytes of a table as CSV; nulls are empty cells."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(table.column_names)
    writer.writerows(["" if cell is None else cell for cell in row.values()] for row in table.to_pylist())
    return out.getvalue().encode()


WRITERS = {
    "t.parquet": parquet,
    "t.arrow": arrow,
    "t.feather": stream,
    "t.jsonl": jsonl,
    "t.csv": lambda path, table: path.write_bytes(written(table, ",")),
    "t.tsv": lambda path, table: path.write_bytes(written(table, "\t")),
    "t.csv.gz": lambda path, table: path.write_bytes(gzip.compress(written(table, ","))),
}


def dictionary_table(texts, indices):
    """A table with a column that refers to its texts by number."""
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(texts))
    return pa.table({"text": column})
