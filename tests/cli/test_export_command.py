"""`embeddings export`: formats, tables, words, counts, precision."""

import json

import numpy as np
from commands import expect, refused
from subword_models import fasttext_model
from supervised_models import supervised_model

import embeddings as em


def test_classifiers_are_written_for_fasttext(tmp_path):
    (tmp_path / "m.ftz").write_bytes(supervised_model(quantised=True, pruned=11).data)
    result = expect("export", tmp_path / "m.ftz", tmp_path / "c.ftz", "--format", "fasttext", "--json")
    assert json.loads(result.stdout) | {"files": None} == {
        "files": None, "format": "fasttext", "labels": 5, "words": 9,
    }  # fmt: skip
    assert (tmp_path / "c.ftz").read_bytes() == (tmp_path / "m.ftz").read_bytes()
    (tmp_path / "m.bin").write_bytes(supervised_model().data)
    expect("export", tmp_path / "m.bin", tmp_path / "words.npy")
    assert len(em.load(tmp_path / "words.npy")) == 9


def test_json(tmp_path, model):
    result = expect("export", model, tmp_path / "v.npy", "--json", "--dtype", "float16")
    summary = json.loads(result.stdout)
    assert summary["files"] == [str(tmp_path / "v.npy"), str(tmp_path / "v.txt")]
    assert (summary["format"], summary["words"], summary["dim"], summary["dtype"]) == ("npy", 4, 6, "float16")
    assert 0 < summary["max_error"] < 0.01
    assert 0.99 < summary["min_cosine"] <= 1


def test_another_table(tmp_path, model):
    expect("export", model, tmp_path / "o.npy", "--table", "output")
    assert np.load(tmp_path / "o.npy").tolist() == np.arange(24).reshape(4, 6).tolist()
    for table, facts in [
        ("wrong", ["'wrong'", "vectors, "]),
        ("bias", ["(3,)", "4 words"]),
        ("positions", ["(5, 6)"]),
    ]:
        message = refused("export", model, tmp_path / "x.npy", "--table", table, code=2)
        assert all(fact in message for fact in facts), message


def test_fewer_words(tmp_path, model):
    expect("export", model, tmp_path / "two.bin", "--words", "2")
    assert em.load(tmp_path / "two.bin").words == ["the", "king"]
    (tmp_path / "list").write_text("queen\nunseen\nnew york\nnor this\n")
    result = expect("export", model, tmp_path / "some.npy", "--words", tmp_path / "list")
    assert em.load(tmp_path / "some.npy").words == ["queen", "new york"]
    assert f"2 of the 4 words in {tmp_path / 'list'}" in result.stderr
    assert "'unseen'" in result.stderr
    (tmp_path / "list").write_text("unseen\n")
    assert "none of the 1 words" in refused("export", model, tmp_path / "x.npy", "--words", tmp_path / "list", code=1)


def test_counts(tmp_path, model):
    expect("export", model, tmp_path / "v.npy", "--counts", "--words", "3")
    assert (tmp_path / "v.npy.vocab").read_text() == "the 9\nking 5\nqueen 5\n"
    expect("export", model, tmp_path / "v.parquet", "--no-counts")
    assert em.load(tmp_path / "v.parquet").counts is None


def test_whole_models(tmp_path):
    path = tmp_path / "m.bin"
    fasttext_model().export(path, "fasttext")
    expect("export", path, tmp_path / "again.bin", "--format", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()
    expect("export", path, tmp_path / "v.arrow")
    assert np.array_equal(em.load(tmp_path / "v.arrow").matrix, em.load(path).matrix)
    message = refused("export", path, tmp_path / "few.bin", "--format", "fasttext", "--words", 3, code=1)
    assert "whole model" in message
    expect("export", path, tmp_path / "output.npy", "--table", "output")
    assert np.array_equal(np.load(tmp_path / "output.npy"), em.load_model(path).tables["output"])
    assert "counts" in refused("export", path, tmp_path / "x.bin", "--format", "fasttext", "--no-counts", code=2)
