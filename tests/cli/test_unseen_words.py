"""Unseen words on the command line: composed vectors are said to be so."""

import numpy as np
import pytest
from commands import expect
from subword_models import model

import embeddings as em


@pytest.fixture
def made():
    return model()


@pytest.fixture
def path(tmp_path, made):
    made.export(tmp_path / "m.bin", "fasttext")
    return tmp_path / "m.bin"


def test_neighbours_of_an_unseen_word(path, made):
    done = expect("neighbours", path, "wheres", "the", "--top", 2)
    assert "composed, not among the 11 words: wheres\n" in done.stderr
    assert done.stdout.splitlines()[1].split("\t")[1] == made.vectors.most_similar("wheres")[0][0]
    assert "composed" not in expect("neighbours", path, "the").stderr
    assert "none can be composed" in expect("neighbours", path, "", code=1).stderr
    assert "composed" in expect("analogy", path, "the", "where", "wheres").stderr


def test_export_of_whole_models(tmp_path, path):
    expect("export", path, tmp_path / "again.bin", "--format", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()
    expect("export", path, tmp_path / "v.arrow")
    assert np.array_equal(em.load(tmp_path / "v.arrow").matrix, em.load(path).matrix)
    done = expect("export", path, tmp_path / "few.bin", "--format", "fasttext", "--words", 3, code=1)
    assert "takes their whole model" in done.stderr
    expect("export", path, tmp_path / "output.npy", "--table", "output")
    assert np.array_equal(np.load(tmp_path / "output.npy"), em.load_model(path).tables["output"])
    assert (
        "always holds"
        in expect("export", path, tmp_path / "x.bin", "--format", "fasttext", "--no-counts", code=2).stderr
    )


def test_evaluation_with_composed_words(tmp_path, path):
    (tmp_path / "pairs.tsv").write_text("the\twhere\t1\nthes\twhere\t2\na\twheres\t3\n")
    table = [
        line.split("\t")
        for line in expect("evaluate", path, "--similarity", tmp_path / "pairs.tsv", "--compose").stdout.splitlines()
    ]
    assert dict(zip(table[0], table[1], strict=True))["composed"] == "2"
    assert "composed" not in expect("evaluate", path, "--similarity", tmp_path / "pairs.tsv").stdout.splitlines()[0]
