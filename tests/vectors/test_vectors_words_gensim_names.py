"""Calls with gensim's argument names."""

import pytest

from embeddings.errors import SettingError


@pytest.mark.parametrize(
    ("method", "arguments", "name", "ours"),
    [
        ("most_similar", {"positive": "w1", "topn": 3}, "topn", "top"),
        ("most_similar", {"positive": "w1", "restrict_vocab": 3}, "restrict_vocab", "restrict"),
        ("most_similar_many", {"queries": ["w1"], "topn": 3}, "topn", "top"),
        ("analogy", {"a": "w1", "b": "w2", "c": "w3", "topn": 3}, "topn", "top"),
        ("n_similarity", {"ws1": ["w1"], "ws2": ["w2"]}, "ws1", "words_a"),
        ("get_mean_vector", {"keys": ["w1"]}, "keys", "words"),
        ("get_mean_vector", {"words": ["w1"], "pre_normalize": False}, "pre_normalize", "normalize"),
    ],
)
def test_hints(random, method, arguments, name, ours):
    with pytest.raises(SettingError, match=rf"{method}.*{name}.*{ours}$"):
        getattr(random, method)(**arguments)


def test_other_unknown_arguments_stay_type_errors(random):
    with pytest.raises(TypeError, match="tops"):
        random.most_similar("w1", tops=3)
