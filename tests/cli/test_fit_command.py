"""`embeddings fit`, `compose` and `evaluate --phrases`."""

import json
import os
import re

import numpy as np
import pytest
from commands import expect, refused, table
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


@pytest.mark.parametrize("out", ["model.bin", "model.txt", "-"])
def test_names_of_files_and_options_are_refused_before_the_fit(folder, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    message = refused("fit", folder / "vectors.bin", "-o", out, *SMALL, code=2)
    assert "--out" in message
    assert out in message
    assert not any(tmp_path.iterdir())


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


def test_vectors_of_any_kind_are_added(folder):
    command = ["compose", folder / "vectors.bin", "w1", "w2", "--vector"]
    text = expect(*command, "--function", "additive").stdout
    vectors = em.load(folder / "vectors.bin")
    np.testing.assert_array_equal(np.array(text.split("\t"), np.float32), vectors["w1"] + vectors["w2"])
    assert expect(*command).stdout == text
    message = refused(*command, "--function", "tensor-indexing", code=2)
    assert "'tensor-indexing'" in message
    assert "additive, multiplicative, own" in message


@pytest.mark.parametrize(
    ("args", "code", "fact"),
    [
        (["w1", "unheard"], 1, "'unheard'"),
        (["w1", "w2", "--type", "pink"], 2, "'pink'"),
        (["w1", "w2", "--function", "sum"], 2, "'sum'"),
        (["w1"], 2, "SECOND"),
    ],
)
def test_compose_refuses(folder, args, code, fact):
    assert fact in refused("compose", folder / "model", *args, code=code)


def test_held_out_phrases_and_ratings(folder):
    sets = ["--phrases", "held-out", "--phrases", folder / "rated.txt"]
    rows = json.loads(expect("evaluate", folder / "model", *sets, "--json").stdout)
    results = {(row["set"], row["section"], row["method"], row["measure"]) for row in rows}
    for function in (
        "additive",
        "weighted-additive",
        "multiplicative",
        "full-additive",
        "tensor-indexing",
        "tensor-additive",
    ):
        assert ("held-out", "red", function, "squared-error") in results
        assert ("rated", "adjective-noun", function, "spearman") in results
    assert {row["vectors"] for row in rows} == {str(folder / "model")}
    lines = table(expect("evaluate", folder / "model", "--phrases", "held-out").stdout)
    assert len(lines) == sum(row["set"] == "held-out" for row in rows)
    refused("evaluate", folder / "vectors.bin", "--phrases", "held-out", code=2)


@pytest.mark.parametrize(
    ("args", "code", "facts"),
    [
        (["--rank", "7"], 2, ["rank", "6", "7"]),
        (["--phrase-list", "nowhere.tsv"], 1, ["nowhere.tsv"]),
        (["--joiner", "x"], 2, ["joiner", "'x'"]),
        (["--joiner", "+"], 1, ["got 0", "100", "--min-phrases"]),
        (["--held-out", "0.9"], 2, ["--held-out", "0.4", "0.9"]),
        (["--untyped", "--lexicon", "x"], 2, ["lexicon"]),
    ],
    ids=str,
)
def test_fit_refuses(folder, args, code, facts):
    message = refused("fit", folder / "vectors.bin", "-o", folder / "no", *args, code=code)
    assert all(fact in message for fact in facts), message
    assert not (folder / "no").exists()


def test_errors_in_a_phrase_list_name_the_line(folder, tmp_path):
    (tmp_path / "odd.tsv").write_text("red car\nalone\n")
    options = ["-o", tmp_path / "no", "--phrase-list", tmp_path / "odd.tsv"]
    assert "odd.tsv, line 2" in refused("fit", folder / "vectors.bin", *options, code=1)


def test_existing_output_is_replaced_only_with_force(folder, tmp_path):
    before = (folder / "model" / "model.json").read_bytes()
    assert "--force" in refused("fit", folder / "vectors.bin", "-o", folder / "model", *SMALL, code=1)
    assert (folder / "model" / "model.json").read_bytes() == before
    expect("fit", folder / "vectors.bin", "-o", tmp_path / "m", *SMALL, "--untyped")
    expect("fit", tmp_path / "m", "-o", tmp_path / "m", "--force", *SMALL, "--untyped", "--rank", "3")
    assert em.Model.load(tmp_path / "m").settings["rank"] == 3
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.slow
def test_trained_from_a_corpus_of_joined_words(tmp_path):
    rng = np.random.default_rng(0)
    colours, things = ["red", "green", "black", "white"], ["car", "house", "door", "boat", "tree"]
    lines = [
        f"the {a}{mark}{b} is here\n"
        for mark in (" ", "_")
        for a in colours
        for b in things
        for _ in range(rng.integers(6, 9))
    ]
    (tmp_path / "text.txt").write_text("".join(lines))
    options = ["--dim", "8", "--epochs", "2", "--min-phrases", "15", "--fit-epochs", "2", "--tokenizer", "whitespace"]
    result = expect("train", "tensor-indexing", tmp_path / "text.txt", "-o", tmp_path / "m", *options)
    assert "of dimension 8" in result.stderr
    rows = table(expect("compose", tmp_path / "m", "red", "boat", "--type", "adjective-noun").stdout)
    assert len(rows) == 10
    description = expect("info", tmp_path / "m").stdout
    assert re.search(r"adjective-noun/tensor-indexing/left\t9 8 8\b", description)
    assert len(table(expect("neighbours", tmp_path / "m", "green door", "--top", "2").stdout)) == 2
