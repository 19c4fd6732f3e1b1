"""Starting from pretrained vectors and continuing a model."""

from pathlib import Path

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, refused

import embeddings as em


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A folder with a text and a model m trained on it."""
    place = tmp_path_factory.mktemp("trained")
    (place / "text.txt").write_text(TEXT)
    expect("train", "cbow", place / "text.txt", "-o", place / "m", *SMALL)
    return place


@pytest.mark.parametrize("trainer", [["cbow"], []])
def test_continue_takes_the_settings_of_the_model(text, tmp_path, trainer):
    expect("train", "cbow", text, "-o", "v", *SMALL, "--window", "3", "--case", "keep")
    (tmp_path / "more.txt").write_text("the wolf rules the forest\n" * 20)
    result = expect("train", *trainer, "--continue", "v", "more.txt", "-o", "w", "--threads", "1", "--epochs", "3")
    assert "9 words" in result.stderr
    assert "2 " in result.stderr
    model = em.load_model("w")
    assert (model.settings["window"], model.settings["dim"], model.settings["epochs"]) == (3, 10, 3)
    assert model.vocabulary.counts[model.vocabulary.index("the")] == 440
    assert {"wolf", "forest", "cat"} <= set(model.vectors.words)


@pytest.mark.slow
def test_continue_joins_the_phrases_of_the_model(text, tmp_path):
    (tmp_path / "list").write_text("the king\nno where\n")
    phrases = ["--phrases", "list", "--joiner", "+", "--phrase-mode", "alternate"]
    expect("train", "cbow", text, "-o", "v", *SMALL, *phrases)
    (tmp_path / "more.txt").write_text("the king and the wolf\n" * 20)
    command = ["train", "--continue", "v", "more.txt", "--threads", "1"]
    expect(*command, "-o", "w")
    before, model = em.load_model("v"), em.load_model("w")
    counts = [one.vocabulary.counts[one.vocabulary.index("the+king")] for one in (before, model)]
    assert counts[1] == counts[0] + 10
    assert model.record["text"]["phrases"]["joiner"] == "+"
    assert "'+'" in refused(*command, "-o", "x", "--joiner=#", code=2)
    assert not (tmp_path / "x").exists()


def test_the_dimension_is_that_of_the_vectors_unless_it_is_given(text):
    em.Vectors(["king", "queen"], np.eye(2, 12, dtype=np.float32)).save("start.txt")
    sizes = [word for word in SMALL if word not in ("--dim", SMALL[SMALL.index("--dim") + 1])]
    expect("train", "cbow", text, "-o", "v", *sizes, "--init", "start.txt")
    assert em.load("v").dim == 12
    assert "dim must be 12" in refused("train", "cbow", text, "-o", "w", *SMALL, "--init", "start.txt", code=2)
