"""gensim's .kv: loadable by gensim, one file, counts kept, and read only when allowed."""

import pickle

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors

pytestmark = pytest.mark.golden


@pytest.fixture
def vectors():
    rng = np.random.default_rng(5)
    return Vectors(["the", "new york", "日本\n"], rng.standard_normal((3, 4)), counts=[9, 5, 5])


@pytest.mark.reads("gensim", "gensim", "`KeyedVectors.load`: words, components, counts; `most_similar`")
def test_gensim_reads_ours_with_counts(tmp_path, vectors):
    from gensim.models import KeyedVectors

    vectors.save(tmp_path / "v.kv")
    keyed = KeyedVectors.load(str(tmp_path / "v.kv"))
    assert keyed.index_to_key == vectors.words
    assert np.array_equal(keyed.vectors, vectors.matrix)
    assert [keyed.get_vecattr(word, "count") for word in vectors.words] == [9, 5, 5]
    assert keyed.most_similar("the", topn=2)[0][0] == vectors.most_similar("the")[0][0]


def test_large_ones_stay_one_file(tmp_path):
    from gensim.models import KeyedVectors

    rows = 11 * 2**20 // 64
    Vectors([str(row) for row in range(rows)], np.ones((rows, 64), "f4")).save(tmp_path / "v.kv")
    assert [path.name for path in tmp_path.iterdir()] == ["v.kv"]
    assert len(KeyedVectors.load(str(tmp_path / "v.kv"))) == rows


def test_memory_mapped_vectors_stand_alone(tmp_path, vectors):
    vectors.matrix.tofile(tmp_path / "raw")
    mapped = np.memmap(tmp_path / "raw", dtype=np.float32, mode="r", shape=(3, 4))
    Vectors(vectors.words, mapped).save(tmp_path / "v.kv")
    (tmp_path / "raw").unlink()
    assert np.array_equal(load(tmp_path / "v.kv", allow_pickle=True).matrix, vectors.matrix)


def test_round_trip(tmp_path, vectors):
    vectors.save(tmp_path / "v.kv")
    again = load(tmp_path / "v.kv", allow_pickle=True)
    assert again.words == vectors.words
    assert np.array_equal(again.matrix, vectors.matrix)
    assert again.counts.tolist() == [9, 5, 5]


@pytest.mark.writes("gensim", "gensim", "whole models saved by it")
def test_whole_gensim_models_are_read(tmp_path):
    from gensim.models import Word2Vec

    model = Word2Vec([["a", "b", "c"]] * 5, vector_size=3, min_count=1, workers=1)
    model.save(str(tmp_path / "m"))
    vectors = load(tmp_path / "m", allow_pickle=True)
    assert vectors.words == model.wv.index_to_key
    assert np.array_equal(vectors.matrix, model.wv.vectors)
    assert vectors.counts.tolist() == [5, 5, 5]


class Bomb:
    def __reduce__(self):
        return exec, ("raise RuntimeError('it ran')",)


def test_pickles_are_refused_unless_allowed(tmp_path):
    (tmp_path / "v.kv").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(
        FormatError, match=r"is a pickle, which can run any code .* allow_pickle=True \(--allow-pickle\)"
    ):
        load(tmp_path / "v.kv")
    with pytest.raises(FormatError, match="cannot be read by gensim: RuntimeError: it ran"):
        load(tmp_path / "v.kv", allow_pickle=True)


def test_truncated_and_foreign_pickles(tmp_path, vectors):
    vectors.save(tmp_path / "v.kv")
    whole = (tmp_path / "v.kv").read_bytes()
    (tmp_path / "v.kv").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="cannot be read by gensim"):
        load(tmp_path / "v.kv", allow_pickle=True)
    (tmp_path / "v.kv").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(FormatError, match=r"v\.kv "):
        load(tmp_path / "v.kv", allow_pickle=True)
