"""Writing beside the target and renaming: the old or the new, never a part, never a trace."""

import errno
import os
import tempfile

import pytest

from embeddings.errors import OutputError
from embeddings.support import files
from embeddings.support.files import check_file, check_output, atomic_write


class Crash(Exception):
    """What a test raises while it writes."""


@pytest.fixture(params=["file", "folder"])
def target(request, tmp_path):
    """A path that does not exist yet, to be written as a file or as a folder."""
    return tmp_path / "out", request.param == "folder"


def write(path, folder, text, *, force=False, crash=None):
    """Write a text, in a file of a folder if so; `crash` is raised in the middle."""
    with atomic_write(path, force=force, folder=folder) as fresh:
        (fresh / "inside" if folder else fresh).write_text(text[: len(text) // 2] if crash else text)
        if crash:
            raise crash


def content(path):
    """Every file below a path with its text."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {str(p.relative_to(path.parent)): p.read_text() for p in files}


def test_writes(target):
    path, folder = target
    write(path, folder, "new")
    assert list(content(path).values()) == ["new"]
    assert path.is_dir() == folder
    assert os.listdir(path.parent) == ["out"]


def test_existing_is_kept_unless_forced(target):
    path, folder = target
    write(path, folder, "old")
    with pytest.raises(OutputError, match="out exists.*force=True"):
        write(path, folder, "new")
    assert list(content(path).values()) == ["old"]
    write(path, folder, "newer", force=True)
    assert list(content(path).values()) == ["newer"]
    assert os.listdir(path.parent) == ["out"]


@pytest.mark.parametrize("crash", [Crash(), KeyboardInterrupt(), SystemExit()], ids=repr)
def test_a_crash_leaves_what_was_there(target, crash):
    path, folder = target
    with pytest.raises(type(crash)):
        write(path, folder, "new", crash=crash)
    assert os.listdir(path.parent) == []
    write(path, folder, "old")
    with pytest.raises(type(crash)):
        write(path, folder, "new", force=True, crash=crash)
    assert list(content(path).values()) == ["old"]
    assert os.listdir(path.parent) == ["out"]


def test_a_full_disk_is_told_in_a_line(target):
    path, folder = target
    write(path, folder, "old")
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OutputError, match="out cannot be written: No space left on device"):
        write(path, folder, "new", force=True, crash=full)
    assert list(content(path).values()) == ["old"]
    assert os.listdir(path.parent) == ["out"]


def test_nothing_written_is_told_and_nothing_replaced(tmp_path):
    (tmp_path / "out").write_text("old")
    with pytest.raises(OutputError, match="out cannot be written"), atomic_write(tmp_path / "out", force=True):
        pass
    assert content(tmp_path / "out") == {"out": "old"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_takes_the_place_of_a_folder_whole(tmp_path):
    for name in ("first", "second"):
        with atomic_write(tmp_path / "out", force=True, folder=True) as fresh:
            (fresh / name).write_text(name)
            (fresh / "sub").mkdir()
            (fresh / "sub" / "deep").write_text(name)
    assert content(tmp_path / "out") == {"out/second": "second", "out/sub/deep": "second"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_that_cannot_be_replaced_comes_back(tmp_path):
    """The new one is gone when its turn comes: the old one, stepped aside, takes its place again."""
    write(tmp_path / "out", True, "old")
    with (
        pytest.raises(OutputError, match="out cannot be written"),
        atomic_write(tmp_path / "out", force=True, folder=True) as fresh,
    ):
        fresh.rmdir()
    assert content(tmp_path / "out") == {"out/inside": "old"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_is_replaced_and_not_what_it_points_to(tmp_path):
    (tmp_path / "real").write_text("real")
    (tmp_path / "out").symlink_to("real")
    write(tmp_path / "out", False, "new", force=True)
    assert (tmp_path / "real").read_text() == "real"
    assert not (tmp_path / "out").is_symlink()


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("there", ["folder", "nowhere"])
def test_a_folder_replaces_a_link_and_not_what_it_points_to(tmp_path, monkeypatch, there, exchanges):
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
        with pytest.raises(OutputError, match=f"{name} is a folder, and a file is written"):
            check_file(tmp_path / name, force=True)
        with pytest.raises(OutputError, match=f"{name} is a folder, and a file is written"):
            write(tmp_path / name, False, "new", force=True)
    assert content(tmp_path / "out") == {"out/inside": "old"}


def test_a_link_to_nothing_is_kept_unless_forced(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="link exists.*force=True"):
        check_output(tmp_path / "link")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("folder", [False, True])
def test_pipes_and_devices_are_never_replaced(tmp_path, force, folder):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for name in ("pipe", "link"):
        with (
            pytest.raises(OutputError, match=f"{name} is a pipe or device, and is not replaced"),
            atomic_write(tmp_path / name, force=force, folder=folder),
        ):
            pass
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_char_device()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_the_new_file_is_whole_before_it_has_its_name(tmp_path):
    with atomic_write(tmp_path / "out") as fresh:
        fresh.write_text("new")
        assert fresh.parent.parent == tmp_path
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out").read_text() == "new"


def test_folder_missing(tmp_path):
    with pytest.raises(OutputError, match=r"x cannot be written: .*none is not a folder"):
        check_output(tmp_path / "none" / "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"x cannot be written: .*file is not a folder"):
        check_output(tmp_path / "file" / "x")


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(OutputError, match="cannot be written: File name too long"):
        write(tmp_path / ("x" * 300), False, "new")


def test_check_changes_nothing(tmp_path):
    assert check_output(str(tmp_path / "out")) == tmp_path / "out"
    assert os.listdir(tmp_path) == []


def test_relative_paths_are_of_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("out", False, "new")
    assert (tmp_path / "out").read_text() == "new"


CHECK = """
import os, sys
from embeddings import files
from embeddings import files
from embeddings.errors import OutputError
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    files.check_output(sys.argv[1])
except OutputError as error:
    print(error)
"""


@pytest.mark.parametrize("mode", [0o555, 0o444], ids=["not writable", "not searchable"])
def test_no_permission(mode, python):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, mode)
        found = python("-c", CHECK, f"{folder}/out")
        os.chmod(folder, 0o700)
    assert found.stdout == f"{folder}/out cannot be written: Permission denied in {folder}\n"
