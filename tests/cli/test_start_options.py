"""Starting from vectors, and going on with a model, from the command line."""

from pathlib import Path

import numpy as np
import pytest
from test_commands import SMALL, TEXT, ok, run

import embeddings as em


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A folder of a text and a model m of it."""
    place = tmp_path_factory.mktemp("trained")
    (place / "text.txt").write_text(TEXT)
    ok("train", "cbow", place / "text.txt", "-o", place / "m", *SMALL)
    return place


def test_frozen_vectors_stay(text, tmp_path):
    start = em.Vectors(["King", "king", "queen"], np.random.default_rng(1).normal(size=(3, 10)).astype(np.float32))
    start.save(tmp_path / "start.txt")
    given = ["--init", tmp_path / "start.txt", "--freeze", "--init-duplicates", "exact"]
    done = run("train", "skipgram", text, "-o", tmp_path / "v", *SMALL, *given)
    assert done.returncode == 0, done.stderr
    assert "2 of 9 words started from the given vectors" in done.stderr
    model = em.load(tmp_path / "v")
    for word in ("king", "queen"):
        np.testing.assert_allclose(model[word], start[word], rtol=1e-5)


@pytest.mark.parametrize("trainer", [["cbow"], []])
def test_continue_takes_the_settings_of_the_model(text, tmp_path, trainer):
    ok("train", "cbow", text, "-o", tmp_path / "v", *SMALL, "--window", "3", "--case", "keep")
    (tmp_path / "more.txt").write_text("the wolf rules the forest\n" * 20)
    given = ["-o", tmp_path / "w", "--threads", "1", "--epochs", "3"]
    done = run("train", *trainer, "--continue", tmp_path / "v", tmp_path / "more.txt", *given)
    assert done.returncode == 0, done.stderr
    assert "9 words went on from the model, 2 are new" in done.stderr
    model = em.load_model(tmp_path / "w")
    assert (model.settings["window"], model.settings["dim"], model.settings["epochs"]) == (3, 10, 3)
    assert model.vocabulary.counts[model.vocabulary.index("the")] == 440
    assert {"wolf", "forest", "cat"} <= set(model.vectors.words)


def test_continue_needs_a_model(tmp_path):
    done = run("train", "-o", tmp_path / "v", "--continue")
    assert (done.returncode, done.stderr) == (2, "Error: --continue needs the path of a model\n")


@pytest.mark.slow
def test_continue_joins_the_phrases_of_the_model(text, tmp_path):
    (tmp_path / "list").write_text("the king\nno where\n")
    how = ["--phrases", tmp_path / "list", "--joiner", "+", "--phrase-words", "alternate"]
    ok("train", "cbow", text, "-o", tmp_path / "v", *SMALL, *how)
    (tmp_path / "more.txt").write_text("the king and the wolf\n" * 20)
    given = ["train", "--continue", tmp_path / "v", tmp_path / "more.txt", "--threads", "1"]
    done = run(*given, "-o", tmp_path / "w")
    assert done.returncode == 0, done.stderr
    before, model = em.load_model(tmp_path / "v"), em.load_model(tmp_path / "w")
    counts = [known.vocabulary.counts[known.vocabulary.index("the+king")] for known in (before, model)]
    assert counts[1] == counts[0] + 10
    assert model.record["text"]["phrases"]["joiner"] == "+"
    done = run(*given, "-o", tmp_path / "x", "--joiner=#")
    assert done.returncode == 2
    assert done.stderr == "Error: the words of the model's phrases are joined by '+': join these so too\n"  # not read
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_gensims_own_files_are_read_if_that_is_allowed(text, tmp_path):
    em.Vectors(["king"], np.full((1, 10), 0.5)).save(tmp_path / "start.kv")
    given = ["train", "skipgram", text, "-o", tmp_path / "v", *SMALL, "--freeze", "--init", tmp_path / "start.kv"]
    done = run(*given)
    assert (done.returncode, "(--allow-pickle)" in done.stderr) == (1, True)
    ok(*given, "--allow-pickle")
    assert em.load(tmp_path / "v")["king"].tolist() == [0.5] * 10


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (["cbow", "text.txt", "--freeze"], 2, "--freeze is of use only with --init"),
        (["cbow", "text.txt", "--init-duplicates", "average"], 2, "--init-duplicates is of use only with --init"),
        (["cbow", "text.txt", "--allow-pickle"], 2, "--allow-pickle is of use only with --init"),
        (["cbow", "text.txt", "--init", "missing"], 1, "missing does not exist"),
        (["cbow", "text.txt", "--init", "m", "--dim", "7"], 2, "the vectors to start from have 10 components"),
        (["skipgram", "text.txt", "--continue", "m"], 2, "m is a cbow model: train cbow goes on with it"),
        (["--continue", "m", "text.txt", "--init", "m"], 2, "leave out init"),
        (["--continue", "m", "text.txt", "--vocab", "m"], 2, "leave out --vocab"),
        (["--continue", "m", "text.txt", "--dim", "7"], 2, "trained with dim 10, which cannot become 7"),
        (["--continue", "missing", "text.txt"], 1, "missing"),
    ],
    ids=str,
)
def test_what_is_asked_for_wrongly(trained, tmp_path, given, code, told):
    done = run("train", *given, "-o", tmp_path / "w", "--threads", "1", cwd=trained)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "w").exists()
