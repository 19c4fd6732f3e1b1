"""Patterns of remote files, and local copies in the cache."""

import os

import pytest
from remote_servers import web_server

from embeddings.errors import RemoteError
from embeddings.support import cache_folder
from embeddings.support.local_paths import local_path
from embeddings.support.remote import copies
from embeddings.support.remote.store import matches
from embeddings.support.system import size_on_disk


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.txt", "a.txt", True),
        ("*.txt", "b/a.txt", False),
        ("**/*.txt", "b/c/a.txt", True),
        ("**/*.txt", "a.txt", True),
        ("b/**", "b/c/a.txt", True),
        ("b*", "bc/d/a.txt", True),
        ("a[0-9]?.txt", "a1x.txt", True),
        ("a[0-9]?.txt", "ax1.txt", False),
    ],
)
def test_patterns_match_as_local_ones_do(tmp_path, pattern, path, expected):
    from embeddings.corpora.reading.sources import find_files

    assert matches(path.split("/"), pattern.split("/")) == expected
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("x")
    try:
        found = find_files(tmp_path / pattern) == [tmp_path / path]
    except Exception:
        found = False
    assert found == expected


@pytest.fixture
def web(own_cache):
    with web_server(files={"/v.npy": b"matrix", "/v.txt": b"words", "/w.npy": b"other"}) as server:
        yield server


def test_copies_with_and_without_companions_stay_side_by_side(web):
    alone, both = local_path(f"{web.url}/v.npy"), local_path(f"{web.url}/v.npy", [".txt"])
    assert both.with_name("v.txt").read_bytes() == b"words"
    assert alone.read_bytes() == both.read_bytes() == b"matrix"


def test_a_new_copy_replaces_the_outdated_one(web):
    outdated = local_path(f"{web.url}/v.npy")
    web.files["/v.npy"] = b"new"
    assert local_path(f"{web.url}/v.npy").read_bytes() == b"new"
    assert not outdated.exists()


def test_folders_of_killed_downloads_are_removed_after_a_day(web):
    copies = local_path(f"{web.url}/v.npy").parent.parent
    for name in (".old.partial", ".new.partial"):
        (copies / name).mkdir()
        (copies / name / "part").write_bytes(b"x")
    for path in (copies / ".old.partial" / "part", copies / ".old.partial"):
        os.utime(path, (0, 0))
    local_path(f"{web.url}/w.npy")
    assert [path.name for path in copies.iterdir() if path.name.startswith(".")] == [".new.partial"]


def test_folders_of_others_in_the_cache_stay(web, monkeypatch):
    first = local_path(f"{web.url}/v.npy")
    mine = first.parent.parent / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    monkeypatch.setattr(cache_folder, "MAX_SIZE", 1)
    local_path(f"{web.url}/w.npy")
    assert not first.exists()
    assert (mine / "notes.txt").read_text() == "mine"


def test_a_failed_download_leaves_nothing(web, own_cache, monkeypatch):
    def fail(address, target, is_abandoned):
        target.write_bytes(b"a part")
        raise OSError("the disk is full")

    monkeypatch.setattr(copies, "download", fail)
    with pytest.raises(RemoteError, match="the disk is full"):
        local_path(f"{web.url}/v.npy")
    assert list((own_cache / "remote").iterdir()) == []


def test_a_new_copy_counts_towards_the_limit(web, monkeypatch):
    first = local_path(f"{web.url}/v.npy")
    monkeypatch.setattr(cache_folder, "MAX_SIZE", size_on_disk(first.parent))
    second = local_path(f"{web.url}/w.npy")
    assert second.exists()
    assert not first.exists()


def test_the_same_copy_of_a_faster_process_stays(web, monkeypatch):
    download, first = copies.download, []

    def download_twice(*arguments):
        monkeypatch.setattr(copies, "download", download)
        first.append(local_path(f"{web.url}/v.npy"))
        first.append(first[0].stat().st_ino)
        download(*arguments)

    monkeypatch.setattr(copies, "download", download_twice)
    assert local_path(f"{web.url}/v.npy") == first[0]
    assert first[0].stat().st_ino == first[1]
