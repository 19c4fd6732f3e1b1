"""`embeddings fit`, `compose` and `evaluate --phrases`."""

import json

import numpy as np
import pytest
from commands import expect, table
from composition_data import synthetic_phrases

import embeddings as em

HEADING = "participant type s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating\n"
SMALL = ["--min-phrases", "50", "--fit-epochs", "3", "--threads", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Vectors, a list of their phrases with types, and a model fitted to them."""
    place = tmp_path_factory.mktemp("composition")
    vectors, triples, _ = synthetic_phrases()
    vectors.save(place / "vectors.bin")
    rows = [f"{triple.first} {triple.second}\t{triple.type}\n" for triple in triples]
    (place / "list.tsv").write_text("phrase\ttype\n" + "".join(rows) + "w1 unheard\tgreen\n")
    options = ["--phrase-list", place / "list.tsv", *SMALL, "--json"]
    result = expect("fit", place / "vectors.bin", "-o", place / "model", *options)
    (place / "stderr").write_text(result.stderr)
    (place / "stdout").write_text(result.stdout)
    (place / "rated.txt").write_text(
        HEADING + "".join(f"p{i} adjectivenouns w{i} w1 w2 w{i} {i % 7}\n" for i in range(9))
    )
    return place


def test_fit_reports_phrases_errors_and_output(folder):
    report = (folder / "stderr").read_text()
    assert "green" not in report
    assert "red: 3" in report
    assert "dev error 0." in report
    assert f"saved to {folder / 'model'}" in report
    summary = json.loads((folder / "stdout").read_text())
    assert summary["out"] == str(folder / "model")
    assert summary["phrases"]["red"] >= 3


def test_fit_is_what_python_gives(folder):
    from embeddings.corpora.phrases import read_phrases

    model = em.Model.load(folder / "model")
    trainer = em.TensorIndexing(min_phrases=50, fit_epochs=3)
    again = trainer.fit(folder / "vectors.bin", read_phrases(folder / "list.tsv"), threads=1)
    np.testing.assert_array_equal(model.compose("w1", "w2"), again.compose("w1", "w2"))
    assert model.settings["min_phrases"] == 50


def test_neighbours_of_a_phrase(folder):
    command = ["compose", folder / "model", "w1", "w2", "--top", 3]
    rows = json.loads(expect(*command, "--type", "red", "--json").stdout)
    model = em.Model.load(folder / "model")
    assert [row["neighbour"] for row in rows] == [
        word
        for word, _ in model.vectors.most_similar(model.compose("w1", "w2", type="red"), top=5)
        if word not in ("w1", "w2")
    ][:3]
    rows = table(expect(*command, "--function", "additive").stdout)
    assert [list(row) for row in rows] == [["neighbour", "cosine"]] * 3


def test_the_composed_vector(folder):
    expected = em.Model.load(folder / "model").compose("w1", "w2")
    text = expect("compose", folder / "model", "w1", "w2", "--vector").stdout
    np.testing.assert_array_equal(np.array(text.split("\t"), np.float32), expected)
    numbers = json.loads(expect("compose", folder / "model", "w1", "w2", "--vector", "--json").stdout)
    np.testing.assert_array_equal(np.array(numbers, np.float32), expected)
