"""Interrupts while a folder is replaced, and which files are flushed to disk before."""

import os
from pathlib import Path

import pytest

from embeddings.errors import OutputError
from embeddings.support import files
from embeddings.support.files import atomic_write


@pytest.fixture
def existing(tmp_path):
    """A folder that is there already."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    return folder


def fail_at(monkeypatch, number, error):
    """Make the rename with this number raise, once; returns the list of renames."""
    done = []

    def failing(rename):
        def replace(path, target):
            done.append(path)
            if len(done) == number:
                raise error
            return rename(path, target)

        return replace

    monkeypatch.setattr(Path, "replace", failing(Path.replace))
    monkeypatch.setattr(files, "rename_to_new", failing(files.rename_to_new))
    return done


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupt_between_the_renames_leaves_the_old_folder(monkeypatch, existing, number, error):
    monkeypatch.setattr(files, "exchange", lambda first, second: False)  # where a system cannot do it in one step
    done = fail_at(monkeypatch, number, error())
    with pytest.raises(error), atomic_write(existing, force=True, folder=True) as temporary:
        (temporary / "new.txt").write_text("new")
    assert len(done) >= number
    assert [path.name for path in existing.iterdir()] == ["old.txt"]
    assert (existing / "old.txt").read_text() == "old"
    assert list(existing.parent.iterdir()) == [existing]


def record_fsync(monkeypatch):
    """A list of the files flushed to disk from now on."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("the names of open files are read in /proc")
    flushed_files, sync = [], os.fsync

    def fsync(number):
        flushed_files.append(Path(os.readlink(f"/proc/self/fd/{number}")).name)
        sync(number)

    monkeypatch.setattr(os, "fsync", fsync)
    return flushed_files


@pytest.mark.parametrize("folder", [True, False])
def test_everything_is_flushed_before_the_first_rename(monkeypatch, tmp_path, folder):
    flushed, seen = record_fsync(monkeypatch), []
    rename = files.rename_to_new

    def rename_and_record(path, target):
        seen.append(sorted(flushed))
        return rename(path, target)

    monkeypatch.setattr(files, "rename_to_new", rename_and_record)
    with atomic_write(tmp_path / "out", folder=folder) as temporary:
        for path in [temporary / "a", temporary / "b"] if folder else [temporary]:
            path.write_text("x")
    assert seen == [["a", "b"] if folder else ["out"]]


def test_a_folder_is_replaced_atomically_if_supported(monkeypatch, existing):
    (existing.parent / "other").mkdir()
    if not files.exchange(existing, existing.parent / "other"):
        pytest.skip("this system cannot")
    assert files.exchange(existing, existing.parent / "other")
    (existing.parent / "other").rmdir()
    done = fail_at(monkeypatch, 1, KeyboardInterrupt())
    with atomic_write(existing, force=True, folder=True) as temporary:
        (temporary / "new.txt").write_text("new")
    assert done == []
    assert [path.name for path in existing.iterdir()] == ["new.txt"]
    assert list(existing.parent.iterdir()) == [existing]
    assert not files.exchange(existing, existing.parent / "missing")


@pytest.mark.parametrize("number", range(1, 7))
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")], ids=str)
def test_a_failed_rename_restores_all_old_files(monkeypatch, tmp_path, number, error):
    """Old and new files are never mixed."""
    targets = [tmp_path / name for name in "abc"]
    for target in targets:
        target.write_text("old")
    done = fail_at(monkeypatch, number, error)
    with (  # noqa: PT012  # the error comes at the end of the block
        pytest.raises((KeyboardInterrupt, OutputError)),  # the error comes at the end of the block
        files.atomic_write_all(targets, force=True) as temporary,
    ):
        for path in temporary:
            path.write_text("new")
    assert len(done) >= number
    assert [target.read_text() for target in targets] == ["old"] * 3
    assert sorted(tmp_path.iterdir()) == targets
