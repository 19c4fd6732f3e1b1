"""Measurements of this package beside other libraries, on small files."""

import numpy as np
import pytest
from optional_libraries import import_gensim
from studies import library_speed
from studies.library_speed import READERS, Loading
from study import main


@pytest.mark.slow
def test_every_reader_reads_a_small_file(tmp_path):
    import_gensim()
    main(["loading", "--words", "50", "--dim", "4", "--rounds", "1", "--out", str(tmp_path / "loading")])
    about, _, heads, _, *lines = (tmp_path / "loading.md").read_text().splitlines()
    assert "50 vectors of 4 components" in about
    assert heads.strip("| ").split(" | ")[2:] == list(Loading.columns)
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert [row[:2] for row in rows] == [
        [form, library] for form, libraries in READERS.items() for library in libraries
    ]
    assert all(float(value) >= 0 for row in rows for value in row[2:])


def test_accuracy_counts_nearest_texts():
    rows = np.eye(4, 6)
    assert library_speed.accuracy(rows, np.array([[[0, 0], [0, 1]], [[2, 2], [2, 3]]])) == 1
    assert library_speed.accuracy(rows, np.array([[[0, 0], [1, 1]], [[2, 2], [0, 3]]])) == 0
