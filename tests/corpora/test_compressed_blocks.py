"""Blocks of bzip2 and xz files are read as the standard library reads the whole file."""

import bz2
import io
import lzma
import os
import random
import shutil
import subprocess
from functools import partial

import pytest

from embeddings.corpora.reading import compressed_blocks, compression
from embeddings.corpora.reading.compressed_blocks import BLOCKS, UnusualError, decompress_blocks
from embeddings.corpora.reading.sources import File
from embeddings.errors import CorpusError

RANDOM = random.Random(1)
WORDS = [f"{RANDOM.randrange(10**6)}" for _ in range(5000)]
TEXT = " ".join(RANDOM.choices(WORDS, k=150_000)).encode()  # about 1 MB, more than a block of level 9


def xz(data, block_size=200_000):
    """A file with several blocks, as `xz` makes them in several threads."""
    if shutil.which("xz") is None:
        pytest.skip("the program xz is not installed")
    command = ["xz", "-c", "-T2", f"--block-size={block_size}"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def bzip2(data, level=1):
    return bz2.compress(data, level)


COMPRESSORS = {"bz2": bzip2, "xz": xz}
MODULES = {"bz2": bz2, "xz": lzma}


def read_in_blocks(kind, data, threads=2):
    """The content, and whether the file was read in blocks to its end."""
    again = []

    def start_again():
        again.append(True)
        return compression.decompress(compression.peek(io.BytesIO(data), "f"))

    content = b"".join(decompress_blocks(kind, io.BytesIO(data).read, start_again, threads))
    return content, not again


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_each_block_is_a_file_of_its_own(kind):
    blocks = list(BLOCKS[kind](io.BytesIO(COMPRESSORS[kind](TEXT)).read))
    assert len(blocks) > 4
    assert b"".join(map(MODULES[kind].decompress, blocks)) == TEXT


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("chunk", [700, 1 << 20])
def test_files_of_any_length_and_several_streams_are_read_in_blocks(kind, chunk, monkeypatch):
    monkeypatch.setattr(compressed_blocks, "CHUNK", chunk)
    compress = COMPRESSORS[kind]
    for size in (1, 2, 100, 5000, 250_000):
        assert read_in_blocks(kind, compress(TEXT[:size])) == (TEXT[:size], True)
    several = compress(TEXT[:300_000]) + compress(b"") + compress(TEXT[:7]) + compress(TEXT[7:])
    assert read_in_blocks(kind, several) == (TEXT[:300_000] + TEXT, True)


def test_levels_of_bzip2_and_random_bytes():
    data = os.urandom(2_000_000) + bytes(3_000_000)
    for level in (1, 5, 9):
        assert read_in_blocks("bz2", bzip2(data, level)) == (data, True)


def test_padding_between_streams_of_xz():
    data = xz(TEXT[:50_000])
    assert read_in_blocks("xz", data + bytes(8) + data + bytes(4)) == (2 * TEXT[:50_000], True)


def test_xz_with_one_block_without_its_size_is_read_without_blocks():
    assert read_in_blocks("xz", lzma.compress(TEXT)) == (TEXT, False)


def test_a_marker_within_a_block_changes_nothing():
    data = bzip2(TEXT[:50_000])
    real = compressed_blocks.next_marker
    assert read_in_blocks("bz2", data) == (TEXT[:50_000], True)
    compressed_blocks.next_marker = lambda data, start: (found := real(data, start)) and max(start, found - 4000)
    try:
        assert read_in_blocks("bz2", data) == (TEXT[:50_000], False)
    finally:
        compressed_blocks.next_marker = real


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_damage_is_reported_as_without_blocks(kind):
    data = COMPRESSORS[kind](TEXT[:400_000])
    damaged = [data[:-1], data[:-9], data[: len(data) // 2], data + b"garbage"]
    for at in [8, 20, len(data) // 3, len(data) // 2, len(data) - 25, len(data) - 6, len(data) - 2]:
        damaged.append(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
    for each in damaged:
        read = compression.decompress(compression.peek(io.BytesIO(each), "f"))
        with pytest.raises(CorpusError) as expected:
            list(iter(partial(read, 1 << 20), b""))
        with pytest.raises(CorpusError) as seen:
            read_in_blocks(kind, each)
        assert str(seen.value) == str(expected.value)


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_block_that_is_too_large_is_read_without_blocks(kind, monkeypatch):
    monkeypatch.setattr(compressed_blocks, "MAX_BLOCK", 60_000)
    assert read_in_blocks(kind, COMPRESSORS[kind](TEXT)) == (TEXT, False)


def test_sizes_of_xz_that_end_nowhere_are_unusual():
    with pytest.raises(UnusualError):
        compressed_blocks.read_varint(b"\xff" * 20, 0)
    for value in (0, 1, 127, 128, 300, 1 << 40):
        assert compressed_blocks.read_varint(b"--" + compressed_blocks.write_varint(value) + b"\x85", 2)[0] == value


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_single_file_is_read_in_blocks_and_several_beside_each_other(kind, tmp_path, monkeypatch):
    calls = []

    def count(*arguments):
        calls.append(arguments[-1])
        return decompress_blocks(*arguments)

    monkeypatch.setattr(compression, "decompress_blocks", count)
    files = []
    for number in range(2):
        (tmp_path / f"{number}").write_bytes(COMPRESSORS[kind](TEXT))
        files.append(File(tmp_path / f"{number}"))
    for sources in (files[:1], files):
        with compression.FileOpener(sources, 2) as opener:
            for file in sources:
                with opener.open(file) as (raw, read):
                    content = b"".join(iter(lambda read=read: read(1 << 16), b""))
                assert content == TEXT
                assert raw.bytes_read == file.path.stat().st_size
        assert calls == [2]
