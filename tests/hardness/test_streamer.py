"""The tokens do not depend on block size, the split into files, compression or the number of threads."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embeddings.corpora import Corpus, EncodedCorpus

LETTERS = "aaabBéÉ\u0301日本\U0001f600 \t\r,\"'\\{}x1\u00a0\u2028.-"
LINES = st.lists(st.text(st.sampled_from(LETTERS), max_size=12), min_size=1, max_size=12)
SIZES = st.sampled_from([1, 2, 3, 5, 17, 64, 1 << 18])
PACKED = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
MEMBERS = ("plain", "gz", "bz2", "xz")  # several in one file are one text
often = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def threads():
    """Restore the number of pyarrow threads."""
    before = pa.cpu_count()
    yield
    pa.set_cpu_count(before)


def encode_to_lists(*sources, size=1 << 18, **columns):
    """Encode a corpus; returns everything it contains."""
    with tempfile.TemporaryDirectory() as folder:
        Corpus(*sources, **columns).write_text(Path(folder), None, size)
        with EncodedCorpus(Path(folder)) as encoded:
            vocabulary = encoded.vocabulary
            tags = None if encoded.tags is None else encoded.tags.to_pylist()
            parts = (encoded.ids.tolist(), encoded.sentences.tolist(), encoded.documents.tolist(), tags)
            return (list(vocabulary.words), vocabulary.counts.tolist(), *parts)


def split_at(items, places):
    """Split a list at these positions."""
    bounds = sorted({0, len(items), *(place % (len(items) + 1) for place in places)})
    return [items[start:stop] for start, stop in itertools.pairwise(bounds)]


@often
@given(
    lines=LINES,
    places=st.lists(st.integers(0, 99), max_size=3),
    kinds=st.lists(st.sampled_from(list(PACKED)), min_size=4, max_size=4),
    size=SIZES,
    threads=st.integers(1, 3),
    tokenizer=st.sampled_from(["words", "whitespace", "characters", "codepoints"]),
)
def test_text_in_files(lines, places, kinds, size, threads, tokenizer):
    """A file ends a line and a document, so each file begins with a blank line here."""
    whole = [*lines, "end"]
    parts = split_at(whole, places)
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder, "one")
        one.write_bytes("".join(f"{line}\n" for part in parts for line in ["", *part]).encode())
        many = []
        for number, (part, kind) in enumerate(zip(parts, kinds, strict=False)):
            many.append(Path(folder, f"{number}.{kind}"))
            many[-1].write_bytes(PACKED[kind]("".join(f"{line}\n" for line in ["", *part]).encode()))
        expected = encode_to_lists(one, tokenizer=tokenizer)
        pa.set_cpu_count(threads)
        words, counts, ids, sentences, _, _ = encode_to_lists(*many, size=size, tokenizer=tokenizer)
    assert (words, counts, ids, sentences) == expected[:4]


@often
@given(
    lines=LINES,
    places=st.lists(st.integers(0, 10_000), max_size=4),
    kind=st.sampled_from(MEMBERS),
    size=SIZES,
    case=st.sampled_from(["lower", "keep"]),
)
def test_one_file_in_several_members(lines, places, kind, size, case):
    """Split anywhere, even within a code point: the members of one file are one text."""
    data = "\n".join([*lines, "end"]).encode()
    with tempfile.TemporaryDirectory() as folder:
        one, packed = Path(folder, "one"), Path(folder, "packed")
        one.write_bytes(data)
        packed.write_bytes(b"".join(PACKED[kind](part) for part in split_at(data, places)))
        assert encode_to_lists(packed, size=size, case=case) == encode_to_lists(one, case=case)


def write_table(form, rows, path):
    """Write rows of text and tag as a table."""
    if form == "jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8", newline="")
    elif form == "csv":
        import csv

        stream = io.StringIO()
        sheet = csv.DictWriter(stream, ["text", "tag"])
        sheet.writeheader()
        sheet.writerows(rows)
        path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    else:
        table = pa.Table.from_pylist(rows, pa.schema({"text": pa.string(), "tag": pa.string()}))
        if form == "parquet":
            pq.write_table(table, path, row_group_size=2)
        else:
            with path.open("wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=2)


@often
@given(
    lines=LINES,
    places=st.lists(st.integers(0, 99), max_size=3),
    forms=st.lists(st.sampled_from(["jsonl", "csv", "parquet", "arrow"]), min_size=4, max_size=4),
    size=SIZES,
    threads=st.integers(1, 3),
)
def test_tables_in_files(lines, places, forms, size, threads):
    """Rows are documents with tags in every file type."""
    rows = [{"text": text, "tag": f"t{number}"} for number, text in enumerate([*lines, "end"])]
    columns = {"text_column": "text", "tag_column": "tag"}
    with tempfile.TemporaryDirectory() as folder:
        expected = encode_to_lists(rows, **columns)
        many = []
        for number, (part, form) in enumerate(zip(split_at(rows, places), forms, strict=False)):
            many.append(Path(folder, f"{number}.{form}"))
            write_table(form, part, many[-1])
        pa.set_cpu_count(threads)
        assert encode_to_lists(*many, size=size, **columns) == expected


def test_a_pipe_may_return_short_reads(tmp_path):
    text = "the old town, été 日本\n" * 50
    (tmp_path / "t").write_text(text)
    expected = encode_to_lists(tmp_path / "t")
    reader, writer = os.pipe()
    if os.fork() == 0:
        for byte in text.encode():
            os.write(writer, bytes([byte]))
        os._exit(0)
    os.close(writer)
    try:
        assert encode_to_lists(Path(f"/dev/fd/{reader}"), size=64) == expected
    finally:
        os.close(reader)
        os.wait()
