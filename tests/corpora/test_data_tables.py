"""Tables of other libraries as sources, several tags of a document, and tagged token lists."""

import json
from collections import namedtuple
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from naive_corpora import decoded, encode
from pyarrow import parquet

import embeddings as em
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError, FormatError

TEXTS = [f"text number {number} of café" for number in range(30)]
EXPECTED = [text.lower().split() for text in TEXTS]
TaggedDocument = namedtuple("TaggedDocument", "words tags")


def pandas_series():
    return pytest.importorskip("pandas").Series(TEXTS)


def hugging_face(streaming=False):
    data = pytest.importorskip("datasets").Dataset.from_dict({"id": list(range(30)), "text": TEXTS})
    return data.to_iterable_dataset(num_shards=2) if streaming else data


COLUMNS = {
    "pandas": pandas_series,
    "pandas, filtered": lambda: pandas_series()[lambda texts: texts != ""].sort_index(),
    "Arrow": lambda: pa.chunked_array([TEXTS[:7], TEXTS[7:]]),
    "Arrow array": lambda: pa.array(TEXTS),
    "polars": lambda: pytest.importorskip("polars").Series("text", TEXTS),
    "Dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(pandas_series(), npartitions=3),
    "Hugging Face": lambda: hugging_face()["text"],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", COLUMNS)
def test_columns(kind):
    with encode(COLUMNS[kind]()) as encoded:
        assert decoded(encoded) == EXPECTED


def test_selected_rows_of_hugging_face_data():
    data = hugging_face().shuffle(seed=1).select(range(20))
    with encode(data, text_column="text") as encoded:
        assert decoded(encoded) == [text.lower().split() for text in data["text"]]
    with pytest.raises(CorpusError, match="pass one of its values"):
        encode(pytest.importorskip("datasets").DatasetDict({"train": data}), text_column="text")


def test_missing_values_and_lone_surrogates():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["a", None, "b"], dtype=object)
    with encode(column) as encoded:
        assert decoded(encoded) == [["a"], [], ["b"]]
    column = pandas.Series(["a", None, "b\ud800c"], dtype=object)
    with pytest.raises(CorpusError, match="row 3 is not UTF-8 at byte 1"):
        encode(column)
    with encode(column, encoding_errors="ignore") as encoded:
        assert decoded(encoded) == [["a"], [], ["bc"]]


def test_errors_of_a_lazy_source_are_one_line():
    def fail(row):
        raise ValueError("broken\nrow")

    data = hugging_face(streaming=True).map(fail)
    with pytest.raises(CorpusError, match=r"a datasets IterableDataset cannot be read: .*broken row"):
        encode(data, text_column="text")


ROWS = [
    {"text": "one two", "tags": ["a", "b"]},
    {"text": "three", "tags": []},
    {"text": "four five", "tags": ["b"]},
    {"text": "six", "tags": ["a", 7, "a", None]},
]
TAGS_BY_ROW = [["a", "b"], [None], ["b"], ["a", "7"]]  # a repeated tag counts once


def tags_by_document(encoded):
    tags, starts = encoded.tags.to_pylist(), encoded.tag_starts
    return [[tag] for tag in tags] if starts is None else [tags[first:last] for first, last in pairwise(starts)]


def write_json(folder):
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    return folder / "t.jsonl"


def write_parquet(folder):
    rows = [{**row, "tags": [str(tag) for tag in row["tags"] if tag is not None]} for row in ROWS]
    pa.parquet.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize("make", [lambda folder: ROWS, write_json, write_parquet], ids=["mappings", "JSON", "Parquet"])
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_a_document_with_several_tags_is_read_once(tmp_path, make, size):
    with encode(make(tmp_path), text_column="text", tag_column="tags", block_size=size) as encoded:
        assert decoded(encoded) == [row["text"].split() for row in ROWS]
        assert tags_by_document(encoded) == TAGS_BY_ROW
        assert encoded.first_tags.to_pylist() == [tags[0] for tags in TAGS_BY_ROW]
        with pytest.raises(CorpusError, match="document 0 has several tags"):
            _ = encoded.single_tags


def write_csv(folder):
    (folder / "t.csv").write_text("text,id,author,year\na b,x,eve,1\nc,y,,2\nd,eve,eve,\n,z,,\n")
    return folder / "t.csv"


def write_columns(folder):
    columns = {"text": ["a b", "c", "d", None], "id": ["x", "y", "eve", "z"], "author": ["eve", None, "eve", ""]}
    years = [[1], [2], [], None]
    pa.parquet.write_table(pa.table({**columns, "year": pa.array(years, pa.list_(pa.int32()))}), folder / "c.parquet")
    return folder / "c.parquet"


@pytest.mark.parametrize("make", [write_csv, write_columns], ids=["CSV", "Parquet"])
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_tags_of_several_columns(tmp_path, make, size):
    """Empty cells have no tag, and a tag that two columns have is one tag."""
    columns = ["id", "author", "year"]
    with encode(make(tmp_path), text_column="text", tag_column=columns, block_size=size) as encoded:
        assert tags_by_document(encoded) == [["x", "eve", "1"], ["y", "2"], ["eve"], ["z"]]
    with encode(make(tmp_path), text_column="text", tag_column=("author",), block_size=size) as encoded:
        assert encoded.tag_starts is None
        assert encoded.tags.to_pylist() == ["eve", None, "eve", None]
    with encode(make(tmp_path), text_column="text", tag_column="author", block_size=size) as same:
        assert same.fingerprint == encoded.fingerprint


def test_tags_of_derived_and_cached_corpora(tmp_path):
    settings = {"text_column": "text", "tag_column": ["id", "author"]}
    corpus = em.Corpus(write_csv(tmp_path), vocabulary=em.corpora.Vocabulary(["b"], [1]), **settings)
    expected = [["x", "eve"], ["y"], ["eve"], ["z"]]
    assert tags_by_document(corpus.encode()) == expected
    joined = em.Corpus(tmp_path / "t.csv", phrases=em.corpora.PhraseList(["a b"]), **settings)
    assert tags_by_document(joined.encode()) == tags_by_document(joined.encode()) == expected
    damaged = joined.encode().folder / "tag_starts.npy"
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-8] + bytes([9, *content[-7:]]))
    with pytest.raises(FormatError, match=r"tag_starts\.npy does not match"):
        EncodedCorpus(damaged.parent)


@pytest.mark.parametrize("size", [1, 1 << 18])
def test_token_lists_with_tags(tmp_path, size):
    lists = [["New York", "IS"], [], ["big"]]
    mappings = [{"words": words, "id": number} for number, words in enumerate(lists)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, mappings)))
    pa.parquet.write_table(pa.Table.from_pylist(mappings), tmp_path / "t.parquet")
    for source in (mappings, tmp_path / "t.jsonl", tmp_path / "t.parquet", pa.Table.from_pylist(mappings)):
        with encode(source, text_column="words", tag_column="id", block_size=size) as encoded:
            assert decoded(encoded) == lists
            assert encoded.tags.to_pylist() == ["0", "1", "2"]
    with encode(TaggedDocument(words, [number, "all"]) for number, words in enumerate(lists)) as encoded:
        assert decoded(encoded) == lists
        assert tags_by_document(encoded) == [["0", "all"], ["1", "all"], ["2", "all"]]
    with encode([{"words": np.array(["A", "b"])}], text_column="words") as encoded:
        assert decoded(encoded) == [["A", "b"]]


CATS = [f"the cat number {number} sat" for number in range(40)]


def tokens(corpus):
    with corpus.encode() as encoded:
        return encoded.meta["tokens"], encoded.meta["types"]


def test_a_folder_that_spark_wrote_is_the_table_of_its_parts(tmp_path):
    folder = tmp_path / "texts.parquet"
    for number, language in enumerate(["en", "en", "de"]):
        part = folder / f"lang={language}" / f"part-0000{number}-6fc1c0de.c000.snappy.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"text": CATS, "n": range(40)}), part, compression="snappy")
        (part.parent / f".{part.name}.crc").write_bytes(b"crc\0")
    (folder / "_SUCCESS").touch()
    (folder / "_committed_17").write_text("{}")
    (folder / "_temporary" / "0").mkdir(parents=True)
    (folder / "_temporary" / "0" / "part-9.parquet").write_bytes(b"unfinished")
    corpus = em.Corpus(folder, text_column="text")
    assert len(corpus.sources) == 3
    assert tokens(corpus)[0] == 3 * 200


def test_folders_of_other_names_that_begin_with_a_line_are_read(tmp_path):
    (tmp_path / "_notes.txt").write_text("one two")
    assert tokens(em.Corpus(tmp_path)) == (2, 2)
