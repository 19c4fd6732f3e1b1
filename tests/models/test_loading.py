"""Loading: the format is detected by content; errors for what cannot be read."""

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.models.loading import load, load_model
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def vectors():
    return Vectors(["the", "of", "and"], np.random.default_rng(0).standard_normal((3, 5)))


@pytest.mark.parametrize(
    ("file", "fact"),
    [("part-0.parquet", "from_arrow"), ("embeddings.npy", r"model\.json"), ("text-index.json", "search")],
)
def test_folders_of_another_kind_are_refused_with_what_to_do(tmp_path, file, fact):
    (tmp_path / file).touch()
    for read in (load, load_model):
        with pytest.raises(FormatError, match=fact):
            read(tmp_path)


def test_unknown_content(tmp_path):
    (tmp_path / "poem.txt").write_text("tyger tyger burning bright\n")
    with pytest.raises(FormatError, match=r"poem\.txt.*unknown"):
        load(tmp_path / "poem.txt")


def test_counts_beside_a_file_are_read_back(tmp_path, vectors, caplog):
    counted = Vectors(vectors.words, vectors.matrix, counts=[30, 2, 1])
    for name in ("v.bin", "v.txt"):
        counted.save(tmp_path / name, counts=True)
        assert load(tmp_path / name).counts.tolist() == [30, 2, 1]
    (tmp_path / "v.bin.vocab").write_text("the 30\nof 2\n")
    assert load(tmp_path / "v.bin").counts is None
    assert all(fact in caplog.text for fact in ("v.bin.vocab", "and"))
