import bz2
import gzip
import io
import lzma
import os

import pyarrow
import pytest
from naive_corpora import decoded, encode

from embeddings.corpora.reading.compression import decompress, detect_compression, peek
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
