"""Addresses of remote files, and that their credentials are in no name."""

from pathlib import Path

import pytest

from embeddings.errors import SettingError
from embeddings.support.foreign_files import is_hidden
from embeddings.support.logs import hide_secrets
from embeddings.support.remote import address
from embeddings.support.remote.address import (
    Address,
    display_name,
    is_remote,
    parse_address,
    without_credentials,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/folder/file.txt", Address("s3", "bucket", "folder/file.txt")),
        ("s3a://bucket/folder/", Address("s3", "bucket", "folder")),
        ("gcs://bucket", Address("gs", "bucket", "")),
        ("hdfs:///user/me", Address("hdfs", "default", "user/me")),
        ("hdfs://host:8020/user", Address("hdfs", "host:8020", "user")),
        ("HTTPS://host:80/a%20b.txt?x=1#y", Address("https", "host:80", "a%20b.txt")),
        ("hf://datasets/org/name/x.parquet", Address("hf", "datasets", "org/name/x.parquet")),
        ("s3://key:se/cret@bucket/x", Address("s3", "bucket", "x")),
        ("https://user:word@host/x", Address("https", "host", "x")),
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


@pytest.mark.parametrize("text", ["http://host:99999/x", "http://host:0", "https://me:pass/word", "hdfs://host:x/y"])
def test_an_impossible_port_is_refused(text):
    with pytest.raises(SettingError, match="port") as error:
        parse_address(text)
    assert "word" not in str(error.value)


@pytest.mark.parametrize("text", ["ftp://host/x", "s3n://key:secret@bucket/x", "file:///etc/hosts"])
def test_other_schemes_are_refused(text):
    assert is_remote(text)
    with pytest.raises(SettingError, match="s3://, gs://") as error:
        parse_address(text)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["s3://key:secret/x", "s3://key:secret@", "https://user:secret@/x"])
def test_an_incomplete_address_is_refused_without_its_secret(text):
    with pytest.raises(SettingError) as error:
        parse_address(text)
    assert "secret" not in str(error.value).replace("s3://key:secret@bucket/path", "")  # the form of an address


def test_no_name_has_credentials_which_are_remembered(monkeypatch):
    monkeypatch.setattr(address, "credentials", {})
    monkeypatch.setattr(address, "queries", {})
    assert display_name("s3://ME:w%2Ford@bucket/x") == "s3://bucket/x"
    assert without_credentials("--out=s3://ME:w%2Ford@bucket/x") == "--out=s3://bucket/x"
    assert without_credentials("https://host/x?Signature=abc") == "https://host/x"
    assert without_credentials("see https://host/x?q=1 there") == "see https://host/x?q=1 there"
    assert address.credentials["s3", "bucket"] == ("ME", "w/ord")
    assert hide_secrets("ME with w/ord\nand Signature=abc") == "*** with *** and ***"


def test_records_of_spark_are_hidden():
    assert all(map(is_hidden, ["_SUCCESS", "_metadata", ".part-0.crc", "_temporary", "_committed_12"]))
    assert not any(map(is_hidden, ["part-00000.snappy.parquet", "_notes.txt", "lang=en"]))
