"""Formats as plugins, files of counts, options, and compressed files."""

import bz2
import gzip
import lzma
import time
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from optional_libraries import KV

from embeddings.errors import FormatError, OutputError, RegistryError, SettingError
from embeddings.formats import glove, word2vec_binary, word2vec_text
from embeddings.models.loading import load
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors


def compress_zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSORS = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zstd": compress_zstd}
LINES = """
from pathlib import Path
import embeddings as em
from embeddings.formats import Format
def sniff(start): return start.startswith(b"LINES")
def read(path, *, allow_pickle=False, errors="strict"):
    lines = Path(path).read_text().splitlines()[1:]
    return em.Vectors([line.split()[0] for line in lines], [[float(line.split()[1])] for line in lines])
def write(vectors, path, *, digits=3):
    rows = zip(vectors.words, vectors.matrix[:, 0], strict=True)
    path.write_text("LINES\\n" + "".join(f"{word} {number:.{digits}f}\\n" for word, number in rows))
FORMAT = Format(
    summary="a word and a number per line", extensions=(".lines",), sniff=sniff, read=read, write=write
)
"""


FORMATS = "embeddings.formats"


@pytest.fixture
def small():
    return Vectors(["the", "king"], np.array([[1, -0.5], [0.25, 8]], "f4"), counts=[9, 5])


def test_a_format_of_another_package(tmp_path, install):
    install("other", "lines = other_module:FORMAT", LINES, group=FORMATS)
    vectors = Vectors(["a", "b"], np.array([[0.123456], [2]]))
    vectors.save(tmp_path / "v.lines", digits=5)
    assert (tmp_path / "v.lines").read_text() == "LINES\na 0.12346\nb 2.00000\n"
    assert file_format.sniff(tmp_path / "v.lines") == "lines"
    assert load(tmp_path / "v.lines").words == ["a", "b"]
    with pytest.raises(SettingError, match=r"lines.*dtype"):
        vectors.save(tmp_path / "w.lines", dtype="float16")


def test_a_broken_package_matters_only_when_it_is_used(tmp_path, install, small):
    install("broken", "shaky = broken_module", "import nothing_of_the_kind", group=FORMATS)
    small.save(tmp_path / "v.bin")
    assert load(tmp_path / "v.bin").words == small.words
    assert "shaky" not in file_format.names()
    with pytest.raises(RegistryError, match=r"'shaky'.*broken"):
        small.save(tmp_path / "v", "shaky")


def test_an_extension_of_two_formats(tmp_path, install, small):
    install("rival", "rival = rival_module:FORMAT", LINES.replace(".lines", ".glove"), group=FORMATS)
    with pytest.raises(FormatError, match=r"'\.glove'.*glove or rival"):
        small.save(tmp_path / "v.glove")
    small.save(tmp_path / "v.glove", "glove")


def test_listing_is_cheap(python):
    code = "import sys; from embeddings import formats; formats.names(); print(*sys.modules)"
    assert not {"pyarrow", "gensim", "numba", "pandas"} & set(python("-c", code).stdout.split())


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.glove", "v.npy"])
def test_counts_are_written_to_a_second_file(tmp_path, small, name):
    small.save(tmp_path / name)
    assert not (tmp_path / f"{name}.vocab").exists()
    small.save(tmp_path / name, force=True, counts=True)
    assert (tmp_path / f"{name}.vocab").read_text() == "the 9\nking 5\n"


@pytest.mark.parametrize("name", ["v.arrow", "v.parquet", KV])
def test_counts_are_written_to_the_same_file(tmp_path, small, name):
    small.save(tmp_path / name, counts=True)
    assert load(tmp_path / name, allow_pickle=True).counts.tolist() == [9, 5]
    small.save(tmp_path / name, counts=False, force=True)
    assert load(tmp_path / name, allow_pickle=True).counts is None
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_unknown_counts_and_existing_files_of_counts(tmp_path, small):
    with pytest.raises(SettingError, match="counts"):
        Vectors(["a"], np.ones((1, 1))).save(tmp_path / "v.bin", counts=True)
    (tmp_path / "v.bin.vocab").write_text("mine")
    with pytest.raises(OutputError, match=r"v\.bin\.vocab"):
        small.save(tmp_path / "v.bin", counts=True)
    assert [path.name for path in tmp_path.iterdir()] == ["v.bin.vocab"]


def test_vectors_that_compose_words_are_written_with_a_warning(tmp_path, caplog):
    vectors = Vectors(["a"], np.ones((1, 2)))
    vectors.save(tmp_path / "plain.bin")
    assert not caplog.records
    vectors.compose = lambda words: np.zeros((len(words), 2), np.float32)
    vectors.save(tmp_path / "v.bin")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "vocabulary" in caplog.text


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(2)
    return Vectors([f"word{i}" for i in range(3000)], rng.standard_normal((3000, 20)).astype("f4"))


@pytest.mark.parametrize("compressor", COMPRESSORS)
@pytest.mark.parametrize("form", ["word2vec-text", "word2vec-binary", "glove"])
def test_compressed_files_are_read(tmp_path, many, form, compressor, monkeypatch):
    monkeypatch.setattr("embeddings.formats.build_vectors.INITIAL_SIZE", 100)
    monkeypatch.setattr("embeddings.formats.word2vec_binary.BLOCK_BYTES", 1000)
    many.save(tmp_path / "plain", form)
    data = COMPRESSORS[compressor]((tmp_path / "plain").read_bytes())
    (tmp_path / "v").write_bytes(data)
    assert file_format.sniff(tmp_path / "v") == form
    assert load(tmp_path / "v").words == many.words
    assert load(tmp_path / "v").matrix.tobytes() == many.matrix.tobytes()
    for part in (3, 10, 17):
        (tmp_path / "v").write_bytes(data[: len(data) * part // 20])
        with pytest.raises(FormatError, match="truncated"):
            load(tmp_path / "v")


def error_within_limits(function):
    """The error message of a function, which must take little time and memory."""
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(FormatError) as caught:
        function()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - start < 10
    assert memory < 1 << 26
    return str(caught.value)


@pytest.mark.parametrize(
    ("reader", "start", "filler", "message"),
    [
        (word2vec_text.read, b"999999999999 300\n", b"\0" * 1000, "line 2"),
        (word2vec_text.read, b"2 1\na 1\nb 2\n", b"c 3\n", "line 4"),
        (word2vec_text.read, b"999999999999 1\n", b"a 1\n", "'a'"),
        (word2vec_binary.read, b"999999999999 999999\n", b"\0" * 1000, "word 1 of 999999999999"),
        (word2vec_binary.read, b"1 999999999999\n", b"\0" * 1000, "1048576"),
        (word2vec_binary.read, b"999999999999 1\n", b"a \0\0\0\0", "'a'"),
        (word2vec_binary.read, b"1 1\na \0\0\0\0", b"b" * 1000, "1 vectors"),
        (glove.read, b"a 1 2\n", b"x" * 1000, "line 2"),
        (glove.read, b"a 1 2\n", b"b 1 2\n", "'b'"),
        (glove.read, b"a", b" 1" * 500, "4227072"),
    ],
)
def test_bombs_are_not_expanded(tmp_path, reader, start, filler, message):
    """Each file expands to 100 MB from a few hundred kilobytes."""
    part = gzip.compress(filler * (1_000_000 // len(filler)), 1)
    (tmp_path / "bomb").write_bytes(gzip.compress(start) + part * 100)
    assert message in error_within_limits(lambda: reader(tmp_path / "bomb"))


def test_check_export_refuses_an_unrelated_companion_file(tmp_path):
    (tmp_path / "v.txt").write_text("notes")
    with pytest.raises(OutputError, match=r"v\.txt exists and does not belong to"):
        file_format.check_export(tmp_path / "v.npy", force=True)


@pytest.mark.parametrize("option", ["vectors", "path"])
def test_parameters_of_a_format_that_are_no_options(tmp_path, option):
    with pytest.raises(SettingError, match=f"has no option {option}"):
        file_format.output_files(tmp_path / "v.npy", options=[option])
