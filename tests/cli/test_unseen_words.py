"""Unseen words on the command line: composed vectors are said to be so."""

import numpy as np
import pytest
from click.testing import CliRunner
from subword_models import model

import embeddings as em
from embeddings import cli


@pytest.fixture
def made():
    return model()


@pytest.fixture
def path(tmp_path, made):
    made.export(tmp_path / "m.bin", "fasttext")
    return tmp_path / "m.bin"


@pytest.fixture
def run():
    def call(*args, code=0):
        done = CliRunner().invoke(cli.main, list(map(str, args)))
        assert done.exit_code == code, done.output
        return done

    return call


def test_neighbours_of_an_unseen_word(run, path, made):
    done = run("neighbours", path, "wheres", "the", "--top", 2)
    assert "composed, not among the 11 words: wheres\n" in done.stderr
    assert done.stdout.splitlines()[1].split("\t")[1] == made.vectors.most_similar("wheres")[0][0]
    assert "composed" not in run("neighbours", path, "the").stderr
    assert "none can be composed" in run("neighbours", path, "", code=1).stderr
    assert "composed" in run("analogy", path, "the", "where", "wheres").stderr


def test_export_of_whole_models(run, tmp_path, path):
    run("export", path, tmp_path / "again.bin", "--format", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()
    run("export", path, tmp_path / "v.arrow")
    assert np.array_equal(em.load(tmp_path / "v.arrow").matrix, em.load(path).matrix)
    done = run("export", path, tmp_path / "few.bin", "--format", "fasttext", "--words", 3, code=1)
    assert "takes their whole model" in done.stderr
    run("export", path, tmp_path / "output.npy", "--table", "output")
    assert np.array_equal(np.load(tmp_path / "output.npy"), em.load_model(path).tables["output"])
    assert (
        "always holds" in run("export", path, tmp_path / "x.bin", "--format", "fasttext", "--no-counts", code=2).stderr
    )


def test_evaluation_with_composed_words(run, tmp_path, path):
    (tmp_path / "pairs.tsv").write_text("the\twhere\t1\nthes\twhere\t2\na\twheres\t3\n")
    table = [
        line.split("\t")
        for line in run("evaluate", path, "--similarity", tmp_path / "pairs.tsv", "--compose").stdout.splitlines()
    ]
    assert dict(zip(table[0], table[1], strict=True))["composed"] == "2"
    assert "composed" not in run("evaluate", path, "--similarity", tmp_path / "pairs.tsv").stdout.splitlines()[0]
