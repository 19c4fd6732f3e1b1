"""fit, compose and evaluate --phrases through real processes."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from composition.planted import world

import embeddings as em

HEADING = "participant type s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating\n"
SMALL = ["--fewest", "50", "--fit-epochs", "3", "--threads", "1"]


def run(*args, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "embeddings", *map(str, args)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Vectors, a list of their phrases with types, and a model fitted to them."""
    place = tmp_path_factory.mktemp("composition")
    vectors, triples, _ = world()
    vectors.save(place / "vectors.bin")
    rows = [f"{triple.first} {triple.second}\t{triple.type}\n" for triple in triples]
    (place / "list.tsv").write_text("phrase\ttype\n" + "".join(rows) + "w1 unheard\tgreen\n")
    told = run("fit", place / "vectors.bin", "-o", place / "model", "--phrase-list", place / "list.tsv", *SMALL).stderr
    (place / "told").write_text(told)
    (place / "rated.txt").write_text(
        HEADING + "".join(f"p{i} adjectivenouns w{i} w1 w2 w{i} {i % 7}\n" for i in range(9))
    )
    return place


def test_fit_says_what_it_did(folder):
    told = (folder / "told").read_text()
    assert "their words make a commoner one: 1" in told
    assert "green" not in told
    assert "red: 3" in told
    assert "phrases, error of dev 0." in told
    assert f"saved in {folder / 'model'}" in told


def test_fit_is_what_python_gives(folder):
    from embeddings.corpora.phrases import read

    model = em.Model.load(folder / "model")
    how = em.TensorIndexing(fewest=50, fit_epochs=3)
    again = how.fit(folder / "vectors.bin", read(folder / "list.tsv"), threads=1)
    np.testing.assert_array_equal(model.compose("w1", "w2"), again.compose("w1", "w2"))
    assert model.settings["fewest"] == 50


def test_nearest_to_a_phrase(folder):
    rows = json.loads(run("compose", folder / "model", "w1", "w2", "--top", 3, "--type", "red", "--json").stdout)
    model = em.Model.load(folder / "model")
    assert [row["neighbour"] for row in rows] == [
        word
        for word, _ in model.vectors.most_similar(model.compose("w1", "w2", type="red"), top=5)
        if word not in ("w1", "w2")
    ][:3]
    text = run("compose", folder / "model", "w1", "w2", "--top", 3, "--function", "additive").stdout
    assert text.splitlines()[0] == "neighbour\tcosine"
    assert len(text.splitlines()) == 4


def test_the_vector_itself(folder):
    wanted = em.Model.load(folder / "model").compose("w1", "w2")
    text = run("compose", folder / "model", "w1", "w2", "--vector").stdout
    np.testing.assert_array_equal(np.array(text.split("\t"), np.float32), wanted)
    numbers = json.loads(run("compose", folder / "model", "w1", "w2", "--vector", "--json").stdout)
    np.testing.assert_array_equal(np.array(numbers, np.float32), wanted)


def test_vectors_of_any_kind_are_added(folder):
    text = run("compose", folder / "vectors.bin", "w1", "w2", "--function", "additive", "--vector").stdout
    vectors = em.load(folder / "vectors.bin")
    np.testing.assert_array_equal(np.array(text.split("\t"), np.float32), vectors["w1"] + vectors["w2"])
    told = run("compose", folder / "vectors.bin", "w1", "w2", code=2).stderr
    assert "there is no function 'tensor-indexing' for the type 'any'; there are additive, multiplicative, own" in told


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["w1", "unheard"], 1, "no vector for 'unheard' among"),
        (["w1", "w2", "--type", "pink"], 2, "no functions were learned for the type 'pink'; there are blue, red, any"),
        (["w1", "w2", "--function", "sum"], 2, "there is no function 'sum' for the type"),
        (["w1"], 2, "Missing argument 'SECOND'"),
    ],
)
def test_compose_told_in_a_line(folder, args, code, told):
    done = run("compose", folder / "model", *args, code=code)
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_held_out_phrases_and_ratings(folder):
    rows = json.loads(
        run("evaluate", folder / "model", "--phrases", "held-out", "--phrases", folder / "rated.txt", "--json").stdout
    )
    found = {(row["set"], row["section"], row["method"], row["measure"]) for row in rows}
    for function in ("additive", "weighted-additive", "multiplicative", "full-additive", "tensor-indexing"):
        assert ("held-out", "red", function, "squared-error") in found
        assert ("rated", "adjective-noun", function, "spearman") in found
    assert {row["vectors"] for row in rows} == {str(folder / "model")}
    text = run("evaluate", folder / "model", "--phrases", "held-out").stdout.splitlines()
    assert len(text) == 1 + sum(row["set"] == "held-out" for row in rows)
    told = run("evaluate", folder / "vectors.bin", "--phrases", "held-out", code=2).stderr
    assert "these vectors are no model that was fitted to phrases" in told


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["--rank", "7"], 2, "rank must be at most the dim of the vectors, 6, not 7"),
        (["--phrase-list", "nowhere.tsv"], 1, "nowhere.tsv cannot be read as a list of phrases"),
        (["--joiner", "x"], 2, "joiner must be marks that are neither letter, digit nor white space, not 'x'"),
        (["--joiner", "+"], 1, "there are 0 phrases to learn from, and 100 are needed (fewest)"),
        (["--held-out", "0.9"], 2, "held_out must be above 0 and at most 0.4, not 0.9"),
        (["--untyped", "--lexicon", "x"], 2, "lexicon tells types"),
    ],
)
def test_fit_refuses(folder, args, code, told):
    done = run("fit", folder / "vectors.bin", "-o", folder / "no", *args, code=code)
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (folder / "no").exists()


def test_odd_lines_are_told_by_their_number(folder, tmp_path):
    (tmp_path / "odd.tsv").write_text("red car\nalone\n")
    told = run(
        "fit", folder / "vectors.bin", "-o", tmp_path / "no", "--phrase-list", tmp_path / "odd.tsv", code=1
    ).stderr
    assert "odd.tsv, line 2: two words or more are needed" in told


def test_nothing_is_replaced_unasked(folder):
    before = (folder / "model" / "model.json").read_bytes()
    told = run("fit", folder / "vectors.bin", "-o", folder / "model", *SMALL, code=1).stderr
    assert "exists; choose another name, or --force to replace it" in told
    assert (folder / "model" / "model.json").read_bytes() == before


def test_a_model_may_be_fitted_into_its_own_place(folder, tmp_path):
    run("fit", folder / "vectors.bin", "-o", tmp_path / "m", *SMALL, "--untyped")
    run("fit", tmp_path / "m", "-o", tmp_path / "m", "--force", *SMALL, "--untyped", "--rank", "3")
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
    args = ["--dim", "8", "--epochs", "2", "--fewest", "15", "--fit-epochs", "2", "--tokenizer", "whitespace"]
    told = run("train", "tensor-indexing", tmp_path / "text.txt", "-o", tmp_path / "m", *args).stderr
    assert "8 components saved" in told
    rows = run("compose", tmp_path / "m", "red", "boat", "--type", "adjective-noun").stdout.splitlines()
    assert len(rows) == 11
    told = run("info", tmp_path / "m").stdout
    assert re.search(r"adjective-noun/tensor-indexing/left\t9 8 8\b", told)
    rows = run("neighbours", tmp_path / "m", "green door", "--top", "2").stdout.splitlines()
    assert len(rows) == 3
