"""WARC files as corpora."""

import gzip

import pytest
from naive_corpora import decoded, encode
from web_archives import warc

from embeddings.errors import CorpusError


def test_broken_warc_files(tmp_path):
    pytest.importorskip("warcio")
    data = warc([("conversion", "http://a", "text/plain", b"text " * 100)] * 3)
    (tmp_path / "garbage").write_bytes(data + b"GARBAGE " * 100)
    with pytest.raises(CorpusError, match="garbage is a truncated or broken WARC file"):
        encode(tmp_path / "garbage")
    (tmp_path / "short").write_bytes(data[:-50])
    with pytest.raises(CorpusError, match=f"short is a truncated or broken WARC file: .* byte {len(data) - 50} "):
        encode(tmp_path / "short")
    for number in (b"-5", b"x", b"490", b"9" * 30):
        (tmp_path / "length").write_bytes(data.replace(b"Length: 500", b"Length: " + number, 1))
        with pytest.raises(CorpusError, match=r"length is a truncated or broken WARC file: .* Content-Length"):
            encode(tmp_path / "length")
    for header in (b"a: b\r\n" * 200_000, b"a: " + b"b" * (1 << 20) + b"\r\n"):
        (tmp_path / "headers.gz").write_bytes(
            gzip.compress(data.replace(b"Content-Length", header + b"Content-Length", 1))
        )
        with pytest.raises(CorpusError, match=r"headers\.gz is a broken WARC file: .* headers of 1048576 bytes"):
            encode(tmp_path / "headers.gz")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(data)[:-20])
    with pytest.raises(CorpusError, match=r"cut\.gz is truncated or corrupt gzip data"):
        encode(tmp_path / "cut.gz")


def test_long_pages_are_skipped(tmp_path, monkeypatch, caplog):
    pytest.importorskip("warcio")
    monkeypatch.setattr("embeddings.corpora.reading.warc_records.MAX_PAGE", 1000)
    records = [
        ("conversion", "http://a", "text/plain", b"text " * 1000),
        ("conversion", "http://b", "text/plain", b"b"),
    ]
    (tmp_path / "t").write_bytes(warc(records))
    with encode(tmp_path / "t") as encoded:
        assert [line for line in decoded(encoded) if line] == [["b"]]
    assert "skipped 1 pages" in caplog.text


def test_deep_pages_are_skipped(tmp_path, caplog):
    pytest.importorskip("warcio")
    pytest.importorskip("resiliparse")
    deep = b"<DIV>" * 30_000 + b"king" + b"</div>" * 30_000
    flat = b"<html><body><main>" + b"<div>king</div>" * 1000 + b"<div>" * 400 + b"queen"
    records = [("response", "http://a", "text/html", deep), ("response", "http://b", "text/html", flat)]
    (tmp_path / "t").write_bytes(warc(records))
    with encode(tmp_path / "t", tag_column="url") as encoded:
        assert encoded.tags.to_pylist() == ["http://b"]
    assert "skipped 1 pages with more than 500 elements" in caplog.text
