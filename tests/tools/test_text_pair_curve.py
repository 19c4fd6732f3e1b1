"""The loss curve of training on pairs: its held-out scores, and a picture of a small text."""

import random

import numpy as np
import pytest
from studies import text_pair_curve as curve
from study import main

import embeddings as em
from embeddings.training.run_log import HELD_OUT_LOSS, read_curves


def toy_articles(count, topics):
    """Articles whose sentences are words of one topic."""
    rng = random.Random(1)

    def sentence(topic):
        return " ".join(rng.sample([f"word{topic}x{n}" for n in range(12)], 8)).capitalize() + "."

    return [[f"Title{n}", " ".join(sentence(n % topics) for _ in range(5))] for n in range(count)]


def test_scores_of_a_batch():
    """Loss and accuracy are those of a softmax in both directions."""
    vectors = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32))
    loss, accuracy = curve.score_batch(vectors, [("a", "a"), ("b", "c"), ("c", "b")])
    cosines = np.array([[1, 0, 0.6], [0.6, 0.8, 1], [0, 1, 0.8]]) / curve.TEMPERATURE
    own = cosines.diagonal()
    expected = [np.log(np.exp(cosines).sum(axis)) - own for axis in (0, 1)]
    assert np.isclose(loss, np.mean(expected), rtol=1e-5)
    assert accuracy == 1 / 3


def test_held_out_articles_are_not_learned_from(tmp_path):
    articles = toy_articles(10, 10)
    (tmp_path / "t.txt").write_text("\n\n".join("\n".join(article) for article in articles))
    training, held_out = curve.split_pairs(tmp_path / "t.txt", 0.2)
    topics = [{text.split("x")[0].lower() for pair in part for text in pair} for part in (training, held_out)]
    assert [len(part) for part in (training, held_out)] == [32, 8]
    assert topics[1] == {"word0", "word5"}
    assert topics[0].isdisjoint(topics[1])


@pytest.mark.slow
def test_a_picture_of_a_small_text(tmp_path, monkeypatch):
    (tmp_path / "t.txt").write_text("\n\n".join("\n".join(article) for article in toy_articles(60, 12)))
    drawn, draw = [], curve.draw_loss_curve

    def draw_and_read(log, out, *, force):
        drawn.append(read_curves(log))
        draw(log, out, force=force)

    monkeypatch.setattr(curve, "draw_loss_curve", draw_and_read)
    arguments = ["--text", str(tmp_path / "t.txt"), "--out", str(tmp_path / "c"), "--dim", "16", "--epochs", "3"]
    main(["pair-curve", *arguments, "--learning-rate", "0.2"])
    assert drawn[0].unit == "pairs"
    losses = [loss for _, loss in drawn[0].scores[HELD_OUT_LOSS]]
    assert len(losses) == 3
    assert max(losses) < np.log(12)
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")
