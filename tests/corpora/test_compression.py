import bz2
import gzip
import io
import lzma
import os
import random
from functools import partial

import pyarrow
import pytest
from naive_corpora import decoded, encode

from embeddings.corpora.reading import bzip2_blocks, compression
from embeddings.corpora.reading.bzip2_blocks import decompress_blocks
from embeddings.corpora.reading.compression import decompress, detect_compression, peek
from embeddings.corpora.reading.sources import File
from embeddings.errors import CorpusError


def zstd(data):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSORS = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zstd": zstd}
WORDS = [os.urandom(4).hex() for _ in range(30_000)]
TEXT = " ".join(WORDS).encode()


def read_all(data, size=1 << 15):
    read = decompress(peek(io.BytesIO(data), "f"))
    parts = []
    while part := read(size):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_compression_is_detected_by_content_and_all_members_are_read(tmp_path, kind):
    half = len(TEXT) // 2
    data = COMPRESSORS[kind](TEXT[:half]) + COMPRESSORS[kind](b"") + COMPRESSORS[kind](TEXT[half:])
    assert detect_compression(data) == kind
    path = tmp_path / "no-extension"
    path.write_bytes(data)
    with encode(path) as encoded:
        assert decoded(encoded) == [WORDS]
    for size in (1, 7, 1 << 20):
        assert read_all(COMPRESSORS[kind](TEXT[:300]) * 2, size) == TEXT[:300] * 2


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_every_truncation_is_reported(kind):
    data = COMPRESSORS[kind](TEXT)
    for length in (7, 12, 20, 100, len(data) // 2, len(data) - 9, len(data) - 1):
        with pytest.raises(CorpusError, match=f"f is truncated or corrupt {kind} data: "):
            read_all(data[:length])
    with pytest.raises(CorpusError, match="truncated or corrupt"):
        read_all(data + data[: len(data) - 5])


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_trailing_garbage_and_flipped_bits_are_reported(kind):
    data = COMPRESSORS[kind](TEXT)
    with pytest.raises(CorpusError, match=f"f is truncated or corrupt {kind} data"):
        read_all(data + b"trailing garbage")
    middle = len(data) // 2
    broken = data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]
    if kind != "zstd":  # its frames carry no checksum here
        with pytest.raises(CorpusError, match=f"f is truncated or corrupt {kind} data"):
            read_all(broken)


def test_compression_is_detected_despite_short_reads():
    class Dripping(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 1))

    read = decompress(peek(Dripping(gzip.compress(b"abc")), "f"))
    assert read(100) == b"abc"


@pytest.mark.parametrize("start", [b"", *(data(TEXT) for data in COMPRESSORS.values())])
def test_a_read_error_names_the_file(start):
    class Failing(io.BytesIO):
        def read(self, size=-1):
            if self.tell() + size > 1000 or not start:
                raise OSError(5, "Input/output error")
            return super().read(size)

    with pytest.raises(CorpusError, match=r"^f cannot be read: Input/output error$"):
        decompress(peek(Failing(start), "f"))(1 << 20)


def test_xz_padding_between_streams_is_accepted():
    assert read_all(lzma.compress(b"a") + b"\0" * 8 + lzma.compress(b"b") + b"\0" * 4) == b"ab"


RANDOM = random.Random(1)
NUMBERS = [f"{RANDOM.randrange(10**6)}" for _ in range(5000)]
BLOCK_TEXT = " ".join(RANDOM.choices(NUMBERS, k=150_000)).encode()  # about 1 MB, more than a block of level 9


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


@pytest.mark.parametrize("chunk", [700, 1 << 20])
def test_files_of_any_length_and_several_streams_are_read_in_blocks(chunk, monkeypatch):
    monkeypatch.setattr(bzip2_blocks, "CHUNK", chunk)
    for size in (1, 2, 100, 5000, 250_000):
        assert read_in_blocks(bzip2(BLOCK_TEXT[:size])) == (BLOCK_TEXT[:size], True)
    several = bzip2(BLOCK_TEXT[:300_000]) + bzip2(b"") + bzip2(BLOCK_TEXT[:7]) + bzip2(BLOCK_TEXT[7:])
    assert read_in_blocks(several) == (BLOCK_TEXT[:300_000] + BLOCK_TEXT, True)


def test_a_marker_within_a_block_changes_nothing():
    data = bzip2(BLOCK_TEXT[:50_000])
    real = bzip2_blocks.next_marker
    assert read_in_blocks(data) == (BLOCK_TEXT[:50_000], True)
    bzip2_blocks.next_marker = lambda data, start: (found := real(data, start)) and max(start, found - 4000)
    try:
        assert read_in_blocks(data) == (BLOCK_TEXT[:50_000], False)
    finally:
        bzip2_blocks.next_marker = real


def test_damage_is_reported_as_without_blocks():
    data = bzip2(BLOCK_TEXT[:400_000])
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
    assert read_in_blocks(bzip2(BLOCK_TEXT)) == (BLOCK_TEXT, False)


def test_a_single_file_is_read_in_blocks_and_several_beside_each_other(tmp_path, monkeypatch):
    calls = []

    def count(*arguments):
        calls.append(arguments[-1])
        return decompress_blocks(*arguments)

    monkeypatch.setattr(compression, "decompress_blocks", count)
    files = []
    for number in range(2):
        (tmp_path / f"{number}").write_bytes(bzip2(BLOCK_TEXT))
        files.append(File(tmp_path / f"{number}"))
    for sources in (files[:1], files):
        with compression.FileOpener(sources, 2) as opener:
            for file in sources:
                with opener.open(file) as (raw, read):
                    content = b"".join(iter(lambda read=read: read(1 << 16), b""))
                assert content == BLOCK_TEXT
                assert raw.bytes_read == file.path.stat().st_size
        assert calls == [2]
