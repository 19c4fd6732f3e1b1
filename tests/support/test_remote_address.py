"""Addresses of remote files, without credentials."""

from pathlib import Path

import pytest

from embeddings.errors import SettingError
from embeddings.support.logs import hide_secrets, secrets
from embeddings.support.remote import address
from embeddings.support.remote.address import (
    Address,
    display_name,
    is_remote,
    parse_address,
    without_query,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/folder/file.txt", Address("s3", "bucket", "folder/file.txt")),
        ("s3a://bucket/folder/", Address("s3", "bucket", "folder")),
        ("gcs://bucket", Address("gs", "bucket", "")),
        ("HTTPS://host:80/a%20b.txt?x=1#y", Address("https", "host:80", "a%20b.txt")),
        ("hf://datasets/org/name/x.parquet", Address("hf", "datasets", "org/name/x.parquet")),
        ("s3://bucket/a@b:c", Address("s3", "bucket", "a@b:c")),
        ("hf://org/name@revision/x", Address("hf", "org", "name@revision/x")),
        ("https://[::1]:80/x", Address("https", "[::1]:80", "x")),
        ("https://host?x=1", Address("https", "host", "")),
    ],
)
def test_an_address_is_split_and_survives_being_a_path(text, expected):
    assert is_remote(text)
    assert parse_address(text) == expected
    assert parse_address(Path(str(expected))) == expected


@pytest.mark.parametrize(
    "text", ["text.txt", "/s3/x", "C:\\s3\\x", "-", "a s3://b", "s3:", "s3://", "news:x", b"s3://b", 3]
)
def test_other_paths_are_local(text):
    assert not is_remote(text)


@pytest.mark.parametrize("text", ["http://host:99999/x", "http://host:0", "https://[::1]:x/y"])
def test_an_impossible_port_is_refused(text):
    with pytest.raises(SettingError, match="port"):
        parse_address(text)


@pytest.mark.parametrize("text", ["ftp://host/x", "hdfs://host:8020/x", "file:///C:/x"])
def test_other_schemes_are_refused(text):
    assert is_remote(text)
    with pytest.raises(SettingError, match="s3://, gs://"):
        parse_address(text)


@pytest.mark.parametrize("start", ["", "-o", "--out=", "name="])
@pytest.mark.parametrize(
    "text",
    [
        "s3://key:hush@bucket/x",
        "s3://key:hush/hush@bucket/x",
        "s3://key:1/hush@bucket/x",
        "s3:/key:hush@bucket/x",
        "gs://hush@bucket",
        "https://user:hush@host/x",
        "https://user:hush/hush@host",
        "https://hush@host:80/x",
        "ftp://user:hush@host",
    ],
)
def test_a_user_or_password_is_refused_and_not_repeated(text, start):
    for read in (parse_address, without_query) if not start else (without_query,):
        with pytest.raises(SettingError, match="user or password") as error:
            read(start + text)
        assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["me@host", "a:b/c@d", "see https://me:word@host", "C:/a@b:c", "https://medium.com/@me"]
)
def test_other_text_with_such_marks_is_no_login(text):
    assert without_query(text) == text


def test_no_name_has_a_query_which_is_remembered(monkeypatch):
    monkeypatch.setattr(address, "queries", {})
    assert display_name("https://host/x?Signature=abcdefg") == "https://host/x"
    assert without_query("--words=https://host/x?Signature=abcdefg") == "--words=https://host/x"
    assert without_query("see https://host/x?q=1 there") == "see https://host/x?q=1 there"
    assert address.queries == {Address("https", "host", "x"): "Signature=abcdefg"}
    assert hide_secrets("with Signature=abcdefg") == "with ***"
    secrets.clear()


@pytest.mark.parametrize("text", ["ab:/", "ab:/ ", "?", "ab:/? ", "ab:/x?y "])
def test_long_text_is_searched_for_queries_in_linear_time(text):
    assert without_query(200_000 * text) == 200_000 * text
