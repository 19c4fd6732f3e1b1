"""Groups of words: clusters and files."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError
from embeddings.explorer import word_map
from embeddings.explorer.word_map import cluster, read_groups


@pytest.fixture
def vectors():
    rows = [[1, 0], [0.9, 0.1], [0.95, 0.05], [0, 1], [0.1, 0.9]]
    return em.Vectors(["a", "b", "c", "x", "y"], np.array(rows, np.float32))


def test_clusters_are_those_of_the_vectors_and_repeat(vectors):
    groups = cluster(vectors.unit_rows, vectors.words, 2, seed=1)
    assert groups.numbers.tolist() == [0, 0, 0, 1, 1]
    assert [sorted(name.split(", ")) for name in groups.names] == [["a", "b", "c"], ["x", "y"]]
    again = cluster(vectors.unit_rows, vectors.words, 2, seed=1)
    assert again.names == groups.names


@pytest.mark.parametrize("rows", [np.ones((6, 2)), np.zeros((3, 2)), np.eye(3)])
def test_more_clusters_than_vectors(rows):
    groups = cluster(rows.astype(np.float32), [str(row) for row in range(len(rows))], 5, seed=1)
    assert set(groups.numbers.tolist()) == set(range(len(groups.names)))


def test_a_file_names_groups(vectors, tmp_path):
    (tmp_path / "g.tsv").write_text("x\tlast\n\na\tfirst letters\nb\tfirst letters\nunknown\tother\n", encoding="utf-8")
    groups = read_groups(tmp_path / "g.tsv", vectors)
    assert groups.names == ["first letters", "last"]
    assert groups.numbers.tolist() == [0, 0, -1, 1, -1]


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"a\tone\nb\n", "line 2"),
        (b"a\t \n", "line 1"),
        (b"\xff\t1\n", "g.tsv"),
        (b"", "g.tsv"),
        (b"q\tone\n", "0 groups"),
    ],
)
def test_wrong_files_are_refused(vectors, tmp_path, content, fact):
    (tmp_path / "g.tsv").write_bytes(content)
    with pytest.raises(EmbeddingsError, match=fact):
        read_groups(tmp_path / "g.tsv", vectors)


def test_too_many_groups_are_refused(vectors, tmp_path, monkeypatch):
    monkeypatch.setattr(word_map, "MAX_GROUPS", 1)
    (tmp_path / "g.tsv").write_text("a\t1\nb\t2\n")
    with pytest.raises(EmbeddingsError, match="2 groups"):
        read_groups(tmp_path / "g.tsv", vectors)
