"""Formats as plugins, the counts beside a file, options, and files that are compressed."""

import bz2
import gzip
import lzma
import time
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from embeddings.errors import FormatError, OutputError, RegistryError, SettingError
from embeddings.formats import glove, word2vec_binary, word2vec_text
from embeddings.models.loading import load
from embeddings.vectors import format_dispatch
from embeddings.vectors.vectors import Vectors


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKED = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zstd": zstd}
LINES = """
from pathlib import Path
import embeddings as em
SUMMARY, ENDINGS = "a word and a number a line", (".lines",)
def sniff(start): return start.startswith(b"LINES")
def read(path, *, allow_pickle=False, errors="strict"):
    lines = Path(path).read_text().splitlines()[1:]
    return em.Vectors([line.split()[0] for line in lines], [[float(line.split()[1])] for line in lines])
def write(vectors, path, *, digits=3):
    rows = zip(vectors.words, vectors.matrix[:, 0], strict=True)
    path.write_text("LINES\\n" + "".join(f"{word} {number:.{digits}f}\\n" for word, number in rows))
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay out a package as an installer would leave it."""

    def lay(name, entry, module=""):
        info = tmp_path / name / f"{name}-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[embeddings.formats]\n{entry}\n")
        (tmp_path / name / f"{name}_module.py").write_text(module)
        monkeypatch.syspath_prepend(tmp_path / name)

    return lay


@pytest.fixture
def small():
    return Vectors(["the", "king"], np.array([[1, -0.5], [0.25, 8]], "f4"), counts=[9, 5])


def test_ours_come_through_the_same_door():
    ours = {"arrow", "gensim", "glove", "npy", "parquet", "word2vec-binary", "word2vec-text"}
    assert ours <= set(format_dispatch.names())
    assert format_dispatch.by_name("glove") is glove
    assert all(format_dispatch.by_name(name).SUMMARY for name in ours)


def test_a_stranger_reads_writes_and_has_options(tmp_path, install):
    install("stranger", "lines = stranger_module", LINES)
    vectors = Vectors(["a", "b"], np.array([[0.123456], [2]]))
    vectors.save(tmp_path / "v.lines", digits=5)
    assert (tmp_path / "v.lines").read_text() == "LINES\na 0.12346\nb 2.00000\n"
    assert format_dispatch.sniff(tmp_path / "v.lines") == "lines"
    assert load(tmp_path / "v.lines").words == ["a", "b"]
    with pytest.raises(SettingError, match="the lines format has no dtype; leave it out"):
        vectors.save(tmp_path / "w.lines", dtype="float16")


def test_a_broken_stranger_spoils_nothing_until_it_is_asked_for(tmp_path, install, small):
    install("broken", "shaky = shaky_module", "import nothing_of_the_kind")
    small.save(tmp_path / "v.bin")
    assert load(tmp_path / "v.bin").words == small.words
    assert "shaky" not in format_dispatch.names()
    with pytest.raises(RegistryError, match="format 'shaky' from broken does not load: No module named"):
        small.save(tmp_path / "v", "shaky")


def test_a_stranger_that_is_no_format_spoils_nothing(tmp_path, install, small):
    install("odd", "odd = odd_module", "x = 1")
    small.save(tmp_path / "v.bin")
    assert load(tmp_path / "v.bin").words == small.words
    assert "odd" not in format_dispatch.names()


def test_an_ending_that_two_formats_claim(tmp_path, install, small):
    install("rival", "rival = rival_module", LINES.replace(".lines", ".glove"))
    with pytest.raises(FormatError, match=r"the ending '\.glove' may mean glove or rival; name one"):
        small.save(tmp_path / "v.glove")
    small.save(tmp_path / "v.glove", "glove")


def test_listing_is_cheap(python):
    code = "import sys; from embeddings import formats; format_dispatch.names(); print(*sys.modules)"
    assert not {"pyarrow", "gensim", "numba", "pandas"} & set(python("-c", code).stdout.split())


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.glove", "v.npy"])
def test_counts_stand_in_a_file_beside(tmp_path, small, name):
    small.save(tmp_path / name)
    assert not (tmp_path / f"{name}.vocab").exists()
    small.save(tmp_path / name, force=True, counts=True)
    assert (tmp_path / f"{name}.vocab").read_text() == "the 9\nking 5\n"


@pytest.mark.reads("word2vec-binary", "gensim", "`fvocab=`: counts in the file beside")
@pytest.mark.reads("word2vec-text", "gensim", "`fvocab=`: counts in the file beside")
@pytest.mark.golden
@pytest.mark.parametrize("name", ["v.bin", "v.txt"])
def test_gensim_reads_the_counts_beside(tmp_path, small, name):
    from gensim.models import KeyedVectors

    small.save(tmp_path / name, counts=True)
    vocabulary = str(tmp_path / f"{name}.vocab")
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / name), fvocab=vocabulary, binary=name == "v.bin")
    assert [keyed.get_vecattr(word, "count") for word in small.words] == [9, 5]


@pytest.mark.parametrize("name", ["v.arrow", "v.parquet", "v.kv"])
def test_counts_stand_in_the_file(tmp_path, small, name):
    small.save(tmp_path / name, counts=True)
    assert load(tmp_path / name, allow_pickle=True).counts.tolist() == [9, 5]
    small.save(tmp_path / name, counts=False, force=True)
    assert load(tmp_path / name, allow_pickle=True).counts is None
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_counts_that_are_not_known_or_would_be_overwritten(tmp_path, small):
    with pytest.raises(SettingError, match="counts are asked for, and these vectors have none"):
        Vectors(["a"], np.ones((1, 1))).save(tmp_path / "v.bin", counts=True)
    (tmp_path / "v.bin.vocab").write_text("mine")
    with pytest.raises(OutputError, match=r"v\.bin\.vocab exists"):
        small.save(tmp_path / "v.bin", counts=True)
    assert [path.name for path in tmp_path.iterdir()] == ["v.bin.vocab"]


def test_options_of_another_format(tmp_path, small):
    with pytest.raises(SettingError, match="the word2vec-text format has no dtype; leave it out"):
        small.save(tmp_path / "v.txt", dtype="float16")


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(2)
    return Vectors([f"word{i}" for i in range(3000)], rng.standard_normal((3000, 20)).astype("f4"))


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("form", ["word2vec-text", "word2vec-binary", "glove"])
def test_compressed_files_are_read_as_they_are(tmp_path, many, form, packed, monkeypatch):
    monkeypatch.setattr("embeddings.formats.row_reader.FIRST_ROOM", 100)
    monkeypatch.setattr("embeddings.formats.word2vec_binary.BLOCK", 1000)
    many.save(tmp_path / "plain", form)
    data = PACKED[packed]((tmp_path / "plain").read_bytes())
    (tmp_path / "v").write_bytes(data)
    assert format_dispatch.sniff(tmp_path / "v") == form
    assert load(tmp_path / "v").words == many.words
    assert load(tmp_path / "v").matrix.tobytes() == many.matrix.tobytes()
    for part in (3, 10, 17):
        (tmp_path / "v").write_bytes(data[: len(data) * part // 20])
        with pytest.raises(FormatError, match="truncated"):
            load(tmp_path / "v")


def peak(function):
    tracemalloc.start()
    begun = time.perf_counter()
    with pytest.raises(FormatError) as caught:
        function()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.perf_counter() - begun < 10
    assert memory < 1 << 26
    return str(caught.value)


@pytest.mark.parametrize(
    ("reader", "start", "filler", "message"),
    [
        (word2vec_text.read, b"999999999999 300\n", b"\0" * 1000, "line 2: longer than 300 components can be"),
        (word2vec_text.read, b"2 1\na 1\nb 2\n", b"c 3\n", "line 4: more than the 2 words"),
        (word2vec_text.read, b"999999999999 1\n", b"a 1\n", "the word 'a' stands twice"),
        (word2vec_binary.read, b"999999999999 999999\n", b"\0" * 1000, "it ends within word 1 of 999999999999"),
        (word2vec_binary.read, b"1 999999999999\n", b"\0" * 1000, "more than 1048576"),
        (word2vec_binary.read, b"999999999999 1\n", b"a \0\0\0\0", "the word 'a' stands twice"),
        (word2vec_binary.read, b"1 1\na \0\0\0\0", b"b" * 1000, "follow the last of 1 vectors"),
        (glove.read, b"a 1 2\n", b"x" * 1000, "line 2: longer than 2 components can be"),
        (glove.read, b"a 1 2\n", b"b 1 2\n", "the word 'b' stands twice"),
        (glove.read, b"a", b" 1" * 500, "longer than 4227072 bytes"),
    ],
)
def test_bombs_are_not_expanded(tmp_path, reader, start, filler, message):
    """Each stands for 200 MB in some hundred kilobytes."""
    part = gzip.compress(filler * (1_000_000 // len(filler)), 1)
    (tmp_path / "bomb").write_bytes(gzip.compress(start) + part * 200)
    assert message in peak(lambda: reader(tmp_path / "bomb"))
