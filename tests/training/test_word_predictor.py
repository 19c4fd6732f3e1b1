"""Probabilities of words by trained models."""

import pytest

import embeddings as em

TEXT = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog", "the rug and the mat"] * 30
SMALL = {"dim": 5, "min_count": 1, "epochs": 3, "threads": 1, "window": 2, "learning_rate": 0.2, "subsample": 0.0}


@pytest.mark.parametrize(
    "settings",
    [
        *({"objective": name} for name in ("nce", "sampled-softmax", "hierarchical-softmax")),
        {"objective": "adaptive-softmax", "cutoffs": "3,6"},
    ],
    ids=str,
)
def test_training_lowers_the_perplexity_of_all_objectives(settings, tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.training.word_predictor.MAX_HIDDEN", 30)  # several blocks
    monkeypatch.setattr("embeddings.training.word_predictor.MAX_CONTEXTS", 12)
    (tmp_path / "text.txt").write_text("\n".join(TEXT[:4]))
    few, many = (em.train("cbow", TEXT, **{**SMALL, "epochs": epochs}, **settings) for epochs in (1, 20))
    before, after = (em.evaluate(model, perplexity=[tmp_path / "text.txt"])[1].value for model in (few, many))
    assert after < before
    assert 1 < after < len(many.vectors)
