"""Memory-mapped files that another program truncates."""

import os

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.support.mapped_files import check_mapped_files


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10_000))
    return tmp_path / "a.npy"


def test_a_truncated_file_is_reported(path):
    array = np.load(path, mmap_mode="r")
    views = [array, np.asarray(array), np.asarray(array)[5:9].reshape(2, 2), array.view(np.uint8)]
    check_mapped_files(views)
    os.truncate(path, path.stat().st_size - 1)
    for view in views:
        with pytest.raises(FormatError, match=r"a\.npy was truncated from at least 80,128 to 80,127 bytes"):
            check_mapped_files([np.zeros(3), view])


def test_a_longer_removed_or_replaced_file_is_no_error(path):
    array = np.asarray(np.load(path, mmap_mode="r"))
    with path.open("ab") as stream:
        stream.write(b"more")
    check_mapped_files([array])
    path.unlink()
    check_mapped_files([array])
    np.save(path, np.arange(10_001))
    check_mapped_files([array])
    assert array.sum() == 49_995_000


def test_other_arrays_are_ignored():
    check_mapped_files([np.zeros(3), np.frombuffer(b"abcd", np.uint8)])
