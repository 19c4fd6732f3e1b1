"""Simultaneous writers of one output, and the permissions of what is written."""

import errno
import os
import stat
import threading

import numpy as np
import pytest
from interrupted_runs import interrupted_checkpoints
from platforms import needs_locks

import embeddings as em
from embeddings.errors import OutputError
from embeddings.support import files
from embeddings.support.files import atomic_write, atomic_write_all

PAIRS = 50
MISSING = [{}, {"renameat2": errno.ENOSYS}, {"renameat2": errno.EINVAL, "link": errno.EPERM}]


def write_file(path, text):
    with atomic_write(path) as temporary:
        temporary.write_text(text)
        yield


def write_folder(path, text):
    with atomic_write(path, folder=True) as temporary:
        (temporary / "content").write_text(text)
        yield


def write_files(path, text, force=False):
    with atomic_write_all([path, path.with_suffix(".b"), path.with_suffix(".c")], force=force) as temporary:
        for file in temporary:
            file.write_text(text)
        yield


def replace_files(path, text):
    yield from write_files(path, text, force=True)


def write_at_once(writers):
    """Run writers in threads that all rename at the same time; returns what each raised, or None."""
    barrier, errors = threading.Barrier(len(writers)), {}

    def run(writer):
        try:
            for _ in writer:
                barrier.wait(60)
            errors[writer] = None
        except Exception as error:
            errors[writer] = error

    threads = [threading.Thread(target=run, args=[writer]) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [errors[writer] for writer in writers]


def content(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("write", [write_file, write_folder, write_files], ids=lambda write: write.__name__)
@pytest.mark.parametrize("missing", MISSING, ids=["", "no renameat2", "no links"])
def test_of_two_simultaneous_writers_exactly_one_succeeds(tmp_path, monkeypatch, write, missing):
    if "renameat2" in missing:
        monkeypatch.setattr(files, "renameat2", lambda *_: missing["renameat2"])
    if "link" in missing:
        if write is not write_folder:
            pytest.skip("a system without both can replace a file")
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(missing["link"], "")))
    for number in range(PAIRS):
        folder = tmp_path / str(number)
        folder.mkdir()
        errors = write_at_once([write(folder / "out", "first"), write(folder / "out", "second")])
        (winner,) = (text for text, error in zip(("first", "second"), errors, strict=True) if error is None)
        (error,) = (error for error in errors if error is not None)
        assert isinstance(error, OutputError)
        assert "exists; choose another path" in str(error)
        assert set(content(folder).values()) == {winner}
        assert len(os.listdir(folder)) == (3 if write is write_files else 1)  # no temporary folder is left


@needs_locks
def test_files_of_two_writers_are_never_mixed(tmp_path):
    """Both may replace what is there; at the end all files are of one of them."""
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        list(write_files(folder / "out", "old"))
        errors = write_at_once([replace_files(folder / "out", "first"), replace_files(folder / "out", "second")])
        assert errors == [None, None]
        assert list(content(folder).values()) in [["first"] * 3, ["second"] * 3]


def test_a_new_file_is_not_replaced_without_links(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "renameat2", lambda *_: errno.EINVAL)
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "")))
    list(write_file(tmp_path / "new", "text"))
    assert (tmp_path / "new").read_text() == "text"
    writer = write_file(tmp_path / "out", "second")
    next(writer)
    (tmp_path / "out").write_text("first")
    with pytest.raises(OutputError, match="out exists"):
        next(writer)
    assert (tmp_path / "out").read_text() == "first"


@pytest.fixture
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.skipif(os.name == "nt", reason="there is no umask")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o027], indirect=True, ids=oct)
def test_permissions_follow_the_umask(tmp_path, umask):
    """Of all that is written in one step, as models, vectors and indexes are, and of checkpoints."""
    for write, name in ((write_file, "file"), (write_folder, "folder"), (write_files, "files")):
        list(write(tmp_path / name, "text"))
    em.Vectors(list("ab"), np.eye(2)).save(tmp_path / "v.npy")
    interrupted_checkpoints(tmp_path / "checkpoints", 3)
    paths = sorted(tmp_path.rglob("*"))
    assert len(paths) > 10
    for path in paths:
        expected = (0o777 if path.is_dir() else 0o666) & ~umask
        assert stat.S_IMODE(path.stat().st_mode) == expected, path
