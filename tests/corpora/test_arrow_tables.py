"""Rows of Arrow and Parquet files."""

from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naive_corpora import encode

from embeddings.corpora.reading import arrow_tables


def dictionary_table(texts, indices):
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(texts))
    return pa.table({"text": column})


def test_a_dictionary_is_checked_once_per_batch(tmp_path, monkeypatch):
    checks = []
    check = arrow_tables.is_valid_utf8
    monkeypatch.setattr(arrow_tables, "is_valid_utf8", lambda array: checks.append(len(array)) or check(array))
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink:
        table = dictionary_table([f"word{i} " * 9 for i in range(9999)], list(range(9999)) * 2)
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    with encode(tmp_path / "t.arrow") as encoded:
        assert len(encoded.documents) - 1 == 2 * 9999
    assert checks == [2 * 9999]


@pytest.mark.parametrize("others", [[], ["a b", "c"]])
def test_long_values_that_a_parquet_file_repeats_are_decoded_a_few_at_a_time(tmp_path, monkeypatch, others):
    """A file of a few hundred bytes stands for gigabytes of text."""
    values = ["word " * 20_000, *others]
    column = dictionary_table(values, [0] * 5000)["text"]
    pq.write_table(pa.table({"text": column}), tmp_path / "t", store_schema=False, compression="zstd")
    assert (tmp_path / "t").stat().st_size < 1000
    monkeypatch.setattr(arrow_tables, "MAX_DECODED", 1 << 20)
    with pq.ParquetFile(tmp_path / "t") as file:
        batches = arrow_tables.parquet_batches(file, tmp_path / "t", ["text"])
        assert [len(batch) for batch in islice(batches, 3)] == [10 if others else arrow_tables.FEW_ROWS] * 3


def test_rows_of_short_values_are_decoded_many_at_a_time(tmp_path):
    pq.write_table(pa.table({"text": [f"the word{i % 99}" for i in range(9000)]}), tmp_path / "t", row_group_size=3000)
    with pq.ParquetFile(tmp_path / "t") as file:
        batches = list(arrow_tables.parquet_batches(file, tmp_path / "t", ["text"]))
    assert [len(batch) for batch in batches] == [4096, 4096, 808]
