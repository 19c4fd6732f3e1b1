"""load(): any format told apart by content, and a plain word about what it cannot read."""

import numpy as np
import pytest

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def vectors():
    return Vectors(["the", "of", "and"], np.random.default_rng(0).standard_normal((3, 5)))


@pytest.mark.parametrize("form", ["word2vec-text", "word2vec-binary", "gensim"])
def test_content_tells_the_format_whatever_the_name(tmp_path, vectors, form):
    path = tmp_path / "v.misleading.txt"
    vectors.save(path, form)
    found = load(path, allow_pickle=True)
    assert found.words == vectors.words
    assert found.matrix.tobytes() == vectors.matrix.tobytes()


def test_model_folders(tmp_path, vectors):
    Model("any", vectors=vectors, vocabulary=Vocabulary(vectors.words, [3, 2, 1])).save(tmp_path / "m")
    assert load(str(tmp_path / "m")).matrix.tobytes() == vectors.matrix.tobytes()


@pytest.mark.parametrize("dim", [1, 2, 300, 9000])
@pytest.mark.parametrize("form", ["word2vec-text", "word2vec-binary"])
def test_any_number_of_components(tmp_path, dim, form):
    vectors = Vectors(["1", "2"], np.random.default_rng(dim).standard_normal((2, dim)))
    vectors.save(tmp_path / "v", form)
    assert load(tmp_path / "v").matrix.tobytes() == vectors.matrix.tobytes()


def test_missing_paths_and_folders(tmp_path):
    with pytest.raises(FormatError, match=r"nothing\.bin does not exist$"):
        load(tmp_path / "nothing.bin")
    with pytest.raises(FormatError, match=r"has no model\.json"):
        load(tmp_path)


def test_unknown_content(tmp_path):
    (tmp_path / "poem.txt").write_text("tyger tyger burning bright\n")
    with pytest.raises(FormatError, match=r"poem\.txt is in no known format"):
        load(tmp_path / "poem.txt")
