"""Atomic writes: the old content or the new, never a part, and no temporary files."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from platforms import needs_locks, needs_pipes, needs_users

import embeddings as em
from embeddings.errors import OutputError, RemoteError
from embeddings.support import files
from embeddings.support.files import atomic_write, check_file, check_output


class Crash(Exception):
    """Raised by tests during a write."""


@pytest.fixture(params=["file", "folder"])
def target(request, tmp_path):
    """A path that does not exist yet, to be written as a file or as a folder."""
    return tmp_path / "out", request.param == "folder"


def write(path, folder, text, *, force=False, crash=None):
    """Write a text to a file, or to a file in a folder; `crash` is raised in the middle."""
    with atomic_write(path, force=force, folder=folder) as temporary:
        (temporary / "inside" if folder else temporary).write_text(text[: len(text) // 2] if crash else text)
        if crash:
            raise crash


def content(path):
    """Every file below a path with its text."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {str(p.relative_to(path.parent)): p.read_text() for p in files}


def test_existing_output_is_replaced_only_with_force(target):
    path, folder = target
    write(path, folder, "old")
    with pytest.raises(OutputError, match=r"out exists.*force=True"):
        write(path, folder, "new")
    assert list(content(path).values()) == ["old"]
    write(path, folder, "newer", force=True)
    assert list(content(path).values()) == ["newer"]
    assert os.listdir(path.parent) == ["out"]


@pytest.mark.parametrize("crash", [Crash(), KeyboardInterrupt(), SystemExit()], ids=repr)
def test_a_crash_leaves_the_old_content(target, crash):
    path, folder = target
    with pytest.raises(type(crash)):
        write(path, folder, "new", crash=crash)
    assert os.listdir(path.parent) == []
    write(path, folder, "old")
    with pytest.raises(type(crash)):
        write(path, folder, "new", force=True, crash=crash)
    assert list(content(path).values()) == ["old"]
    assert os.listdir(path.parent) == ["out"]


def test_a_full_disk_is_reported_in_one_line(target):
    path, folder = target
    write(path, folder, "old")
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OutputError, match="out cannot be written: No space left on device"):
        write(path, folder, "new", force=True, crash=full)
    assert list(content(path).values()) == ["old"]
    assert os.listdir(path.parent) == ["out"]


def test_a_folder_replaces_a_folder_entirely(tmp_path):
    for name in ("first", "second"):
        with atomic_write(tmp_path / "out", force=True, folder=True) as temporary:
            (temporary / name).write_text(name)
            (temporary / "sub").mkdir()
            (temporary / "sub" / "deep").write_text(name)
    assert content(tmp_path / "out") == {"out/second": "second", "out/sub/deep": "second"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_that_cannot_be_replaced_is_restored(tmp_path):
    """The new folder vanishes before the rename: the old one is restored."""
    write(tmp_path / "out", True, "old")
    with (
        pytest.raises(OutputError, match="out cannot be written"),
        atomic_write(tmp_path / "out", force=True, folder=True) as temporary,
    ):
        temporary.rmdir()
    assert content(tmp_path / "out") == {"out/inside": "old"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_is_replaced_but_not_its_target(tmp_path):
    (tmp_path / "real").write_text("real")
    (tmp_path / "out").symlink_to("real")
    write(tmp_path / "out", False, "new", force=True)
    assert (tmp_path / "real").read_text() == "real"
    assert not (tmp_path / "out").is_symlink()


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("there", ["folder", "nowhere"])
def test_a_folder_replaces_a_link_but_not_its_target(tmp_path, monkeypatch, there, exchanges):
    if not exchanges:
        monkeypatch.setattr(files, "exchange", lambda first, second: False)
    write(tmp_path / "folder", True, "old")
    (tmp_path / "out").symlink_to(there)
    with pytest.raises(OutputError, match="out exists"):
        write(tmp_path / "out", True, "new")
    write(tmp_path / "out", True, "new", force=True)
    assert content(tmp_path / "out") == {"out/inside": "new"}
    assert content(tmp_path / "folder") == {"folder/inside": "old"}
    assert sorted(os.listdir(tmp_path)) == ["folder", "out"]


def test_a_file_does_not_replace_a_folder(tmp_path):
    write(tmp_path / "out", True, "old")
    (tmp_path / "link").symlink_to("out")
    for name in ("out", "link"):
        with pytest.raises(OutputError, match=f"{name} is a folder"):
            check_file(tmp_path / name, force=True)
        with pytest.raises(OutputError, match=f"{name} is a folder"):
            write(tmp_path / name, False, "new", force=True)
    assert content(tmp_path / "out") == {"out/inside": "old"}


@needs_pipes
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("folder", [False, True])
def test_pipes_and_devices_are_never_replaced(tmp_path, force, folder):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for name in ("pipe", "link"):
        with (
            pytest.raises(OutputError, match=f"{name} is a pipe or device"),
            atomic_write(tmp_path / name, force=force, folder=folder),
        ):
            pass
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_char_device()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_folder_missing(tmp_path):
    with pytest.raises(OutputError, match=r"x cannot be written: .*none is not a folder"):
        check_output(tmp_path / "none" / "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"x cannot be written: .*file is not a folder"):
        check_output(tmp_path / "file" / "x")


CHECK = """
import os, sys
from embeddings.support import files
import embeddings as em
from embeddings.errors import OutputError, RemoteError
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    files.check_output(sys.argv[1])
except OutputError as error:
    print(error)
"""


@needs_users
@pytest.mark.parametrize("mode", [0o555, 0o444], ids=["not writable", "not searchable"])
def test_no_permission(mode, python):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, mode)
        result = python("-c", CHECK, f"{folder}/out")
        os.chmod(folder, 0o700)
    assert result.stdout == f"{folder}/out cannot be written: Permission denied in {folder}\n"


def test_a_file_that_the_caller_cannot_read_is_named(tmp_path):
    """The output is not at fault."""
    with pytest.raises(FileNotFoundError, match="missing"), atomic_write(tmp_path / "out") as temporary:
        temporary.write_bytes((tmp_path / "missing").read_bytes())
    with pytest.raises(RemoteError, match="file cannot be read"), atomic_write(tmp_path / "out"):
        raise RemoteError("s3://bucket/file", "cannot be read")
    assert os.listdir(tmp_path) == []


@needs_locks
def test_what_killed_writers_left_is_removed_by_the_next(tmp_path):
    code = """
import os, sys
from pathlib import Path
from embeddings.support.files import atomic_write
with atomic_write(Path(sys.argv[1]), folder=True, force=True) as folder:
    (folder / "half").write_bytes(b"x")
    print(folder, flush=True)
    if len(sys.argv) > 2:
        sys.stdin.read()
    os.kill(os.getpid(), 9)
"""
    target = tmp_path / "v[1]"
    run = [sys.executable, "-c", code, str(target)]
    killed = Path(subprocess.run(run, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()).parent
    moved = tmp_path / ".v[1].abcdefgh.partial"  # a killed rename has moved the target here
    (moved / "old").mkdir(parents=True)
    others = [tmp_path / ".v[1].mine.partial", tmp_path / ".v1.abcdefgh.partial"]
    for other in others:
        other.mkdir()
    with subprocess.Popen([*run, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        writing = Path(writer.stdout.readline().strip()).parent
        for folder in (killed, moved, writing, *others):
            os.utime(folder, (0, 0))
        with atomic_write(target, folder=True) as folder:
            (folder / "whole").write_bytes(b"x")
        assert not killed.exists()
        assert all(folder.exists() for folder in (moved, writing, *others))
        writer.kill()
    assert [path.name for path in target.iterdir()] == ["whole"]


def test_a_disk_without_room_for_temporary_files_is_named(monkeypatch):
    def refuse():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", refuse)
    for write in (lambda: em.Corpus(["red car"]).encode(), lambda: em.TextIndex.build(None, ["red"])):
        with pytest.raises(OutputError, match=r"/tmp.*TMPDIR"):
            write()
