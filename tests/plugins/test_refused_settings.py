"""Settings of trainers that are out of range or have no effect, or that earlier versions had: the error names them."""

import shutil
from pathlib import Path

import pytest
from neural_models import character_model
from small_models import change_settings

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError

REFUSED = [
    ("c2w", {"carry_state": True}, ["carry_state"]),
    ("c2w", {"objective": "adaptive-softmax"}, ["objective"]),
    ("c2w", {"objective": "full-softmax", "negatives": 3}, ["negatives=3"]),
    ("classifier", {"buckets": 100}, ["buckets=100"]),
    ("classifier", {"min_n": 3, "max_n": 2}, ["min_n"]),
    ("classifier", {"negatives": 3}, ["negatives=3"]),
    ("context2vec", {"batch_words": 0}, ["batch_words"]),
    ("context2vec", {"device": "tpu"}, ["device", "cuda"]),
    ("context2vec", {"dropout": 1}, ["dropout"]),
    ("context2vec", {"max_length": 0}, ["max_length"]),
    ("context2vec", {"objective": "hierarchical-softmax"}, ["objective"]),
    ("distill", {"max_n": 0, "buckets": 5}, ["max_n"]),
    ("distill", {"min_n": 6}, ["min_n"]),
    ("fasttext", {"buckets": 0}, ["buckets"]),
    ("fasttext", {"max_n": 0, "buckets": 5}, ["buckets=5", "max_n"]),
    ("fasttext", {"max_n": 101}, ["max_n"]),
    ("fasttext", {"min_n": 6, "max_n": 3}, ["min_n", "6", "3"]),
    ("fasttext", {"position_weights": True}, ["position_weights", "architecture=cbow"]),
    ("paragraph-dm", {"tag_combination": "concat"}, ["tag_combination=concat", "combine=concat"]),
    ("paragraph-dm", {"tag_combination": "mean", "combine": "concat"}, ["tag_combination=mean", "combine=concat"]),
    ("paragraph-dm", {"tag_count": 2}, ["tag_count=2", "combine=concat"]),
    ("sembei", {"max_n": 0}, ["max_n"]),
    ("sembei", {"max_n": 17}, ["max_n"]),
    ("sembei", {"per_length": "3,"}, ["per_length", "'3,'"]),
    ("sembei", {"per_length": "-1"}, ["per_length"]),
    ("sembei", {"per_length": "²"}, ["per_length"]),
    ("sembei", {"per_length": "9" * 10}, ["per_length"]),
    ("sembei", {"per_length": ""}, ["per_length"]),
    ("sembei", {"per_length": "0,0"}, ["per_length=0,0"]),
    ("sembei", {"per_length": "1,2,3", "max_n": 2}, ["per_length=1,2,3", "max_n"]),
    ("tensor-indexing", {"base": "cbow", "min_learning_rate": 0.08}, ["min_learning_rate=0.08", "0.075"]),
    ("tensor-indexing", {"base": "nobody"}, ["'nobody'"]),
    ("tensor-indexing", {"base": "tensor-indexing"}, ["base", "'tensor-indexing'"]),
    ("tensor-indexing", {"held_out": 0.5}, ["held_out", "0.5"]),
    ("tensor-indexing", {"identity": "some"}, ["identity", "elementwise"]),
    ("tensor-indexing", {"lexicon": "x", "typed": False}, ["lexicon=x", "typed"]),
    ("tensor-indexing", {"rank": 0}, ["rank", "0"]),
    ("text-pairs", {"min_n": 2}, ["min_n=2"]),
    ("text-pairs", {"buckets": 9}, ["buckets=9"]),
    ("text-pairs", {"max_n": 2}, ["min_n"]),
    ("text-pairs", {"temperature": 0.001}, ["temperature"]),
]


@pytest.mark.parametrize(("trainer", "settings", "names"), REFUSED, ids=lambda value: str(value))
def test_the_error_names_the_settings(trainer, settings, names):
    with pytest.raises(EmbeddingsError) as caught:
        em.train(trainer, "missing.txt", **settings)
    assert [name for name in names if name not in str(caught.value)] == []
    assert "missing.txt" not in str(caught.value)


def save_model(trainer, folder):
    """Save a small model of a trainer that had more settings."""
    if trainer == "text-pairs":
        shutil.copytree(Path(__file__).parents[1] / "data" / "saved" / "text-pairs", folder)
    elif trainer == "c2w":
        character_model().save(folder)
    else:
        em.train("cbow", ["a b c"] * 9, dim=4, epochs=1, objective="hierarchical-softmax", subsample=0).save(folder)


DEFAULTS = {  # values of removed settings with which models are loaded
    "c2w": {"word_network": "bilstm", "filters": 25, "carry_state": False, "tie": False},
    "text-pairs": {"guide": "a/model", "hidden_size": 20},
    "cbow": {"tree": "huffman"},
}
REMOVED = [
    ("c2w", "word_network", "lookup"),
    ("c2w", "tie", True),
    ("c2w", "carry_state", True),
    ("c2w", "objective", "adaptive-softmax"),
    ("text-pairs", "sides", "map"),
    ("text-pairs", "sides", "tables"),
    ("text-pairs", "linear_map", True),
    ("text-pairs", "objective", "cosine-regression"),
    ("cbow", "tree", "clusters"),
]


@pytest.mark.parametrize(("trainer", "setting", "value"), REMOVED)
def test_models_of_removed_variants_are_refused_and_others_are_loaded(trainer, setting, value, tmp_path):
    save_model(trainer, tmp_path / "m")
    before = em.load_model(tmp_path / "m")
    change_settings(tmp_path / "m", **DEFAULTS[trainer])
    loaded = em.load_model(tmp_path / "m")
    assert loaded.settings == before.settings
    assert loaded.vectors.matrix.tobytes() == before.vectors.matrix.tobytes()
    change_settings(tmp_path / "m", **{setting: value})
    with pytest.raises(FormatError, match=f"{setting}={value}") as caught:
        em.load_model(tmp_path / "m")
    assert "\n" not in str(caught.value)
