"""An interrupt while a folder is being replaced, and what is forced to the disk before it is."""

import os
from pathlib import Path

import pytest

from embeddings.errors import OutputError
from embeddings.support import files
from embeddings.support.files import fsync, atomic_write


@pytest.fixture
def saved(tmp_path):
    """A folder that is there already."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    return folder


def fails_at(monkeypatch, number, error):
    """From now on the rename of that number raises, once."""
    rename, done = Path.replace, []

    def replace(self, target):
        done.append(self)
        if len(done) == number:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    return done


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupt_between_the_renames_leaves_the_old_folder(monkeypatch, saved, number, error):
    monkeypatch.setattr(files, "exchange", lambda first, second: False)  # where a system cannot do it in one step
    done = fails_at(monkeypatch, number, error())
    with pytest.raises(error), atomic_write(saved, force=True, folder=True) as fresh:
        (fresh / "new.txt").write_text("new")
    assert len(done) >= number
    assert [path.name for path in saved.iterdir()] == ["old.txt"]
    assert (saved / "old.txt").read_text() == "old"
    assert list(saved.parent.iterdir()) == [saved]


def test_an_interrupt_while_writing_leaves_the_old_folder(saved):
    def write():
        with atomic_write(saved, force=True, folder=True) as fresh:
            (fresh / "new.txt").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert [path.name for path in saved.iterdir()] == ["old.txt"]
    assert list(saved.parent.iterdir()) == [saved]


def test_a_file_that_is_interrupted_leaves_the_old_one(monkeypatch, tmp_path):
    target = tmp_path / "v.bin"
    target.write_text("old")
    fails_at(monkeypatch, 1, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt), atomic_write(target, force=True) as fresh:
        fresh.write_text("new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def synced(monkeypatch):
    """The files forced to the disk from now on."""
    found, sync = [], os.fsync

    def fsync(number):
        found.append(Path(os.readlink(f"/proc/self/fd/{number}")).name)
        sync(number)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_every_file_of_a_folder_is_forced_to_the_disk(monkeypatch, tmp_path):
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    names = ["a", "deep/b", "deep/deeper/c", "deep/.hidden", "empty"]
    for name in names:
        (tmp_path / name).write_text("x" * (name != "empty"))
    found = synced(monkeypatch)
    fsync(tmp_path)
    assert sorted(found) == sorted(Path(name).name for name in names)
    assert (tmp_path / "deep" / "deeper" / "c").read_text() == "x"


def test_one_file_is_forced_to_the_disk(monkeypatch, tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    found = synced(monkeypatch)
    fsync(tmp_path / "a")
    assert found == ["a"]


@pytest.mark.parametrize("folder", [True, False])
def test_all_is_on_the_disk_before_the_first_rename(monkeypatch, tmp_path, folder):
    found, seen = synced(monkeypatch), []
    rename = Path.replace

    def replace(self, target):
        seen.append(sorted(found))
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with atomic_write(tmp_path / "out", folder=folder) as fresh:
        for path in [fresh / "a", fresh / "b"] if folder else [fresh]:
            path.write_text("x")
    assert seen == [["a", "b"] if folder else ["out"]]


def test_a_folder_is_replaced_in_one_step_where_the_system_can(monkeypatch, saved):
    (saved.parent / "other").mkdir()
    if not files.exchange(saved, saved.parent / "other"):
        pytest.skip("this system cannot")
    assert files.exchange(saved, saved.parent / "other")
    (saved.parent / "other").rmdir()
    done = fails_at(monkeypatch, 1, KeyboardInterrupt())
    with atomic_write(saved, force=True, folder=True) as fresh:
        (fresh / "new.txt").write_text("new")
    assert done == []
    assert [path.name for path in saved.iterdir()] == ["new.txt"]
    assert list(saved.parent.iterdir()) == [saved]
    assert not files.exchange(saved, saved.parent / "missing")


@pytest.mark.parametrize("number", range(1, 7))
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")], ids=str)
def test_files_of_which_one_cannot_be_renamed_leave_all_the_old_ones(monkeypatch, tmp_path, number, error):
    """Never one of the new beside one of the old."""
    targets = [tmp_path / name for name in "abc"]
    for target in targets:
        target.write_text("old")
    done = fails_at(monkeypatch, number, error)
    with (  # noqa: PT012  # the error comes at the end of the block
        pytest.raises((KeyboardInterrupt, OutputError)),  # the error comes at the end of the block
        files.atomic_write_all(targets, force=True) as fresh,
    ):
        for path in fresh:
            path.write_text("new")
    assert len(done) >= number
    assert [target.read_text() for target in targets] == ["old"] * 3
    assert sorted(tmp_path.iterdir()) == targets
