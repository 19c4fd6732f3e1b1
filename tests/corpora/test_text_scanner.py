"""Reading in several threads: the same files, to the byte, and the same errors as in one."""

import bz2
import gzip
import json
import lzma
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora import Corpus, text_scanner
from embeddings.corpora.array_file import ArrayFile
from embeddings.corpora.reading import compression
from embeddings.corpora.scanner import MAX_TOKEN
from embeddings.corpora.text_scanner import ItemScanner
from embeddings.corpora.tokenizers import CharClassTokenizer
from embeddings.corpora.word_rules import WordRules
from embeddings.errors import CorpusError, OutputError

WORDS = [
    "a",
    "B",
    "don't",
    "x" * 70,
    "zebra",
    "3.14",
    "café",
    "cafe\u0301",
    "\u4e2d\u56fd\u4eba",
    '\u05d0"\u05d1',
    "\u0130",
]
WORDS += ["\U0001f469\u200d\U0001f52c", "\U0001f1e6\U0001f1f9", "\u0301", "\u200d", "...", "\0", "\u0915\u094d\u0937"]
SPACES = [" "] * 6 + ["\n"] * 3 + ["\r\n", "\r", "\n\n", "\n \t\n", "\u3000", "\x1c", "\u2028", "", ""]
TEXT = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)).map("".join), max_size=40).map("".join)
ILL_FORMED = [b"\xff", b"\xc3", b"\xe4\xb8", b"\xed\xa0\x80"]
BYTES = st.lists(st.one_of(TEXT.map(str.encode), st.sampled_from(ILL_FORMED)), max_size=4).map(b"".join)
spaced = CharClassTokenizer("spaced", lambda character: character not in "ab\n")  # spaces are parts of its tokens
TOKENIZERS = ["words", "alphanumeric", "whitespace", "characters", "codepoints", "ascii-whitespace", spaced, str.split]


def result(sources, threads, block_size, config):
    """The bytes of an encoded corpus, or the error."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            Corpus(*sources, **config).write_text(Path(folder), None, threads, block_size=block_size)
        except CorpusError as error:
            return str(error)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        meta = json.loads(files.pop("meta.json"))
        return files | meta


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(text_scanner, "CHUNK_SIZE", 20)


@settings(deadline=None, max_examples=50)
@given(
    files=st.lists(BYTES, min_size=1, max_size=4),
    tokenizer=st.sampled_from(TOKENIZERS),
    policy=st.sampled_from(["strict", "replace", "ignore"]),
    block_size=st.sampled_from([1, 5, 16, 60, 1 << 18]),
    chunk_size=st.sampled_from([1, 8, 30, 200]),
    threads=st.integers(2, 4),
    max_local_types=st.sampled_from([1, 4, 1000]),
    pack=st.sampled_from([bytes, gzip.compress, bz2.compress, lzma.compress]),
)
def test_any_number_of_threads_and_any_compression_write_the_same_files(
    files, tokenizer, policy, block_size, chunk_size, threads, max_local_types, pack
):
    """Compressed files consist of two members, which may divide a code point."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scanner, "MAX_LOCAL_TYPES", max_local_types)
        patch.setattr(text_scanner, "CHUNK_SIZE", chunk_size)
        paths = [Path(folder, f"f{number}") for number in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        config = {"tokenizer": tokenizer, "encoding_errors": policy}
        expected = result(paths, 1, block_size, config)
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :]))
        assert result(paths, threads, block_size, config) == expected


@settings(deadline=None, max_examples=20)
@given(
    items=st.lists(TEXT, min_size=1, max_size=12),
    chunk_size=st.sampled_from([1, 30, 200]),
    block_size=st.sampled_from([1, 16, 1 << 18]),
)
def test_items_and_rows_are_documents_in_any_number_of_threads(items, chunk_size, block_size):
    rows = [{"text": text, "tag": f"t{number}"} for number, text in enumerate(items)]
    lists = [text.split() for text in items]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scanner, "CHUNK_SIZE", chunk_size)
        for sources, config in (
            ([items], {}),
            ([rows], {"text_column": "text", "tag_column": "tag"}),
            ([items, lists, items], {}),
        ):
            expected = result(sources, 1, block_size, config)
            assert result(sources, 3, block_size, config) == expected


ERRORS = {
    "long token, then broken text": ([b"x y\n" * 50 + b"z" * 300 + b"\n" + b"fine " * 50, b"\xff"], "f0.* longer"),
    "broken text, then a long token": ([b"x y\n" * 50 + b"\xff", b"z" * 300], r"f0 is not UTF-8 at byte 200 .*line 51"),
    "two long tokens": ([b"x y\n" * 9, b"a " + b"z" * 300, b"b " + b"z" * 300], "f1.* longer"),
    "a missing file after a long token": ([b"z" * 300 + b"\n", None], "f0.* longer"),
}


def test_an_error_while_a_thread_writes_is_reported(small_chunks, monkeypatch, tmp_path):
    def write(file, items, start):
        if start > 100:
            file.path = tmp_path / "no folder" / "ids.npy"
        write_items(file, items, start)

    write_items = ArrayFile.write
    monkeypatch.setattr(ArrayFile, "write", write)
    (tmp_path / "text.txt").write_text("x y\n" * 200)
    with pytest.raises(OutputError, match="no folder"):
        result([tmp_path / "text.txt"], 3, 16, {})


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_error_of_the_text_is_reported(tmp_path, small_chunks, monkeypatch, name, threads):
    monkeypatch.setattr("embeddings.corpora.scanner.MAX_TOKEN", 200)
    files, message = ERRORS[name]
    paths = [tmp_path / f"f{number}" for number in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data or b"")
    corpus = Corpus(*paths)
    for path, data in zip(paths, files, strict=True):
        if data is None:
            path.unlink()
    with pytest.raises(CorpusError, match=message):
        corpus.write_text(tmp_path, None, threads, block_size=16)


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize(("threads", "at_a_time"), [(2, 2), (3, 3), (20, 7)])  # of 8 files, one is not compressed
def test_several_compressed_files_are_decompressed_at_a_time(tmp_path, small_chunks, monkeypatch, threads, at_a_time):
    plain, packed = [], []
    for number in range(12):
        data = b"".join(b"f%d word%d\n" % (number, line) for line in range(300))
        kind = [*PACK][number % len(PACK)]
        plain.append(tmp_path / f"plain{number}")
        packed.append(tmp_path / f"packed{number}.{kind}")
        plain[-1].write_bytes(data)
        packed[-1].write_bytes(data if number % 5 == 4 else PACK[kind](data))
    before, most = threading.active_count(), []
    start = compression.ReadAhead.__enter__

    def count_threads(self):
        most.append(sum(thread.name.startswith("decompression") for thread in threading.enumerate()))
        return start(self)

    monkeypatch.setattr(compression.ReadAhead, "__enter__", count_threads)
    monkeypatch.setattr(compression, "MAX_READ", 100)  # so that threads wait for what is read of them
    expected, found = result(plain, 1, 1 << 12, {}), result(packed, threads, 1 << 12, {})
    assert (found["fingerprint"], found["ids.npy"]) == (expected["fingerprint"], expected["ids.npy"])
    assert max(most) + 1 == at_a_time
    packed[7].write_bytes(packed[7].read_bytes()[:-7])
    packed[9].write_bytes(b"\x1f\x8b\x08 broken")
    assert "packed7" in result(packed, 1, 1 << 12, {})
    assert result(packed, threads, 1 << 12, {}) == result(packed, 1, 1 << 12, {})
    assert threading.active_count() == before


def test_a_reader_of_much_more_than_is_read_ends_its_thread(tmp_path):
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(b"a b c\n" * 5_000_000))
    before = threading.active_count()
    assert result([path], 2, 1 << 12, {"rows": 1})["tokens"] == 3
    assert threading.active_count() == before


def test_an_interrupt_ends_the_threads(tmp_path, small_chunks):
    (tmp_path / "f").write_bytes(b"a b c\n" * 1000)
    before = threading.active_count()

    def report(done, total):
        if done > 3000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Corpus(tmp_path / "f").write_text(tmp_path, report, 2, block_size=64)
    assert threading.active_count() == before


def test_a_scanner_scans_other_texts_after_a_token_that_is_too_long():
    scanner = ItemScanner(WordRules("whitespace"))
    long = b"a" * (MAX_TOKEN + 1) + b" b"
    with pytest.raises(CorpusError, match="a token is longer than"):
        scanner.scan(long, np.array([0, len(long)]))
    ids, starts = scanner.scan(b"x yx", np.array([0, 3, 4]))
    assert starts.tolist() == [0, 2, 3]
    assert ids[0] == ids[2] != ids[1]
