"""Blocks of bzip2 files are read as the standard library reads the whole file."""

import bz2
import io
import random
from functools import partial

import pytest

from embeddings.corpora.reading import bzip2_blocks, compression
from embeddings.corpora.reading.bzip2_blocks import bzip2_blocks as blocks_of
from embeddings.corpora.reading.bzip2_blocks import decompress_blocks
from embeddings.corpora.reading.sources import File
from embeddings.errors import CorpusError

RANDOM = random.Random(1)
WORDS = [f"{RANDOM.randrange(10**6)}" for _ in range(5000)]
TEXT = " ".join(RANDOM.choices(WORDS, k=150_000)).encode()  # about 1 MB, more than a block of level 9


def bzip2(data, level=1):
    return bz2.compress(data, level)


def read_in_blocks(data, threads=2):
    """The content, and whether the file was read in blocks to its end."""
    again = []

    def start_again():
        again.append(True)
        return compression.decompress(compression.peek(io.BytesIO(data), "f"))

    content = b"".join(decompress_blocks(io.BytesIO(data).read, start_again, threads))
    return content, not again


def test_each_block_is_a_file_of_its_own():
    blocks = list(blocks_of(io.BytesIO(bzip2(TEXT)).read))
    assert len(blocks) > 4
    assert b"".join(map(bz2.decompress, blocks)) == TEXT


@pytest.mark.parametrize("chunk", [700, 1 << 20])
def test_files_of_any_length_and_several_streams_are_read_in_blocks(chunk, monkeypatch):
    monkeypatch.setattr(bzip2_blocks, "CHUNK", chunk)
    for size in (1, 2, 100, 5000, 250_000):
        assert read_in_blocks(bzip2(TEXT[:size])) == (TEXT[:size], True)
    several = bzip2(TEXT[:300_000]) + bzip2(b"") + bzip2(TEXT[:7]) + bzip2(TEXT[7:])
    assert read_in_blocks(several) == (TEXT[:300_000] + TEXT, True)


def test_a_marker_within_a_block_changes_nothing():
    data = bzip2(TEXT[:50_000])
    real = bzip2_blocks.next_marker
    assert read_in_blocks(data) == (TEXT[:50_000], True)
    bzip2_blocks.next_marker = lambda data, start: (found := real(data, start)) and max(start, found - 4000)
    try:
        assert read_in_blocks(data) == (TEXT[:50_000], False)
    finally:
        bzip2_blocks.next_marker = real


def test_damage_is_reported_as_without_blocks():
    data = bzip2(TEXT[:400_000])
    damaged = [data[:-1], data[:-9], data[: len(data) // 2], data + b"garbage"]
    for at in [8, 20, len(data) // 3, len(data) // 2, len(data) - 25, len(data) - 6, len(data) - 2]:
        damaged.append(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
    for each in damaged:
        read = compression.decompress(compression.peek(io.BytesIO(each), "f"))
        with pytest.raises(CorpusError) as expected:
            list(iter(partial(read, 1 << 20), b""))
        with pytest.raises(CorpusError) as seen:
            read_in_blocks(each)
        assert str(seen.value) == str(expected.value)


def test_a_block_that_is_too_large_is_read_without_blocks(monkeypatch):
    monkeypatch.setattr(bzip2_blocks, "MAX_BLOCK", 60_000)
    assert read_in_blocks(bzip2(TEXT)) == (TEXT, False)


def test_a_single_file_is_read_in_blocks_and_several_beside_each_other(tmp_path, monkeypatch):
    calls = []

    def count(*arguments):
        calls.append(arguments[-1])
        return decompress_blocks(*arguments)

    monkeypatch.setattr(compression, "decompress_blocks", count)
    files = []
    for number in range(2):
        (tmp_path / f"{number}").write_bytes(bzip2(TEXT))
        files.append(File(tmp_path / f"{number}"))
    for sources in (files[:1], files):
        with compression.FileOpener(sources, 2) as opener:
            for file in sources:
                with opener.open(file) as (raw, read):
                    content = b"".join(iter(lambda read=read: read(1 << 16), b""))
                assert content == TEXT
                assert raw.bytes_read == file.path.stat().st_size
        assert calls == [2]
