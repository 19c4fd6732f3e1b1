"""Rows of Arrow and Parquet files."""

from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from embeddings.corpora.reading import arrow_tables


def dictionary_table(texts, indices):
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(texts))
    return pa.table({"text": column})


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
