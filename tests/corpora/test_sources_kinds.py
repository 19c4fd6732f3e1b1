"""The same rows from every kind of source."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode
from table_files import WRITERS

import embeddings as em
from embeddings.corpora.reading import data_tables

CELL = st.text(st.sampled_from('ab é犬",'), min_size=1, max_size=6).map(lambda text: f"x{text}x")
ROWS = st.lists(
    st.tuples(CELL | st.none(), CELL, st.integers(0, 3), st.sampled_from([0.5, 2.0])), min_size=1, max_size=9
)
NAMES = ("text", "tag", "number", "score")


def file(write):
    """The kind of source that is a file, which `write` writes."""

    def make(rows, folder, name):
        write(rows, folder / name)
        return folder / name

    return make


def arrow(rows):
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(NAMES)})


def records(rows):
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def encoded_as(kind):
    """The columns of strings in another type of Arrow."""

    def make(rows, *_):
        table = arrow(rows)
        for place, name in enumerate(("text", "tag")):
            table = table.set_column(place, name, kind(table[name].combine_chunks().cast(pa.large_string())))
        return table

    return make


def missing(rows):
    """JSON objects without the fields that are null."""
    return [{name: cell for name, cell in row.items() if cell is not None} for row in records(rows)]


def write_dataset(rows, folder):
    for part, start in enumerate(range(0, len(rows), 5)):
        pq.write_table(arrow(rows[start : start + 5]), folder / f"{part}.parquet")


def dataset(rows, folder, name):
    (folder / name).mkdir(exist_ok=True)
    for old in (folder / name).iterdir():
        old.unlink()
    write_dataset(rows, folder / name)
    return pa.dataset.dataset(folder / name)


def pandas_frame(rows, **types):
    return pd.DataFrame(rows, columns=NAMES).astype(types)


def dask_frame(rows, *_):
    pytest.importorskip("dask").config.set(scheduler="synchronous")
    return pytest.importorskip("dask.dataframe").from_pandas(pandas_frame(rows), npartitions=2)


def hugging_face(rows, *, is_streamed=False):
    data = pytest.importorskip("datasets").Dataset(arrow(rows))
    return data.to_iterable_dataset() if is_streamed else data


def polars(rows, kind):
    library = pytest.importorskip("polars")
    frame = library.from_arrow(arrow(rows))
    if kind == "lazy":
        return frame.lazy()
    if kind == "enum":
        return frame.with_columns(library.col("tag").cast(library.Enum(sorted({row[1] for row in rows}))))
    return frame.with_columns(library.col("text", "tag").cast(library.Categorical))


KINDS = {
    **{name: file(lambda rows, path, write=write: write(path, arrow(rows))) for name, write in WRITERS.items()},
    "mappings": lambda rows, *_: records(rows),
    "mappings without null": lambda rows, *_: missing(rows),
    "JSON lines without null": file(lambda rows, path: path.write_text("\n".join(map(json.dumps, missing(rows))))),
    "JSON array": file(lambda rows, path: path.write_text(json.dumps(records(rows), indent=1))),
    "Parquet with dictionaries": file(lambda rows, path: pq.write_table(encoded_as(pc.dictionary_encode)(rows), path)),
    "Arrow": lambda rows, *_: arrow(rows),
    "Arrow chunks": lambda rows, *_: pa.concat_tables([arrow(rows).slice(0, 2), arrow(rows).slice(2)]),
    "Arrow batch": lambda rows, *_: arrow(rows).combine_chunks().to_batches()[0],
    "Arrow reader": lambda rows, *_: arrow(rows).to_reader(max_chunksize=2),
    "Arrow data set": dataset,
    "Arrow dictionaries": encoded_as(pc.dictionary_encode),
    "Arrow views": encoded_as(lambda array: array.cast(pa.string_view())),
    "Arrow dictionaries of views": encoded_as(
        lambda array: pa.DictionaryArray.from_arrays(
            array.dictionary_encode().indices, array.dictionary_encode().dictionary.cast(pa.string_view())
        )
    ),
    "Arrow runs": encoded_as(pc.run_end_encode),
    "pandas": lambda rows, *_: pandas_frame(rows),
    "pandas objects": lambda rows, *_: pandas_frame(rows, text=object),
    "pandas Arrow": lambda rows, *_: pandas_frame(rows, text=pd.ArrowDtype(pa.string())),
    "pandas categories": lambda rows, *_: pandas_frame(rows, text="category", tag="category"),
    "Dask": dask_frame,
    "Hugging Face": lambda rows, *_: hugging_face(rows),
    "Hugging Face, streamed": lambda rows, *_: hugging_face(rows, is_streamed=True),
    "polars": lambda rows, *_: polars(rows, "categorical"),
    "polars enum": lambda rows, *_: polars(rows, "enum"),
    "polars, lazy": lambda rows, *_: polars(rows, "lazy"),
}


@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, size=st.sampled_from([1, 1 << 18]))
def test_the_same_rows_from_every_kind_of_source(kind, rows, size, tmp_path, monkeypatch):
    monkeypatch.setattr(data_tables, "BATCH_ROWS", 2)
    rows = [(f"first {kind[0]}", *rows[0][1:]), *rows]  # some text at least
    source = KINDS[kind](rows, tmp_path, kind)
    expected = [(text or "").split() for text, *_ in rows]
    with encode(source, text_column="text", tag_column="tag", tokenizer="whitespace", case="keep") as encoded:
        assert decoded(encoded) == expected
        assert encoded.tags.to_pylist() == [tag for _, tag, *_ in rows]
    source = KINDS[kind](rows, tmp_path, kind)
    with encode(source, text_column="text", tag_column=["tag", "number"], block_size=size) as encoded:
        assert encoded.tags.to_pylist() == [str(tag) for _, *tags, _ in rows for tag in tags]
    columns = em.corpora.PairFormat(left="text", right="tag", weight="score")
    batches = em.Corpus(KINDS[kind](rows, tmp_path, kind), pairs=columns).pair_rows()
    found = [row for part in batches for row in zip(*map(pa.Array.to_pylist, part.texts), part.weights, strict=True)]
    assert found == [(text.strip(), tag, score) for text, tag, _, score in rows if text]
