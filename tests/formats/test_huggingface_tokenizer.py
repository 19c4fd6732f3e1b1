"""The tokenizer of a folder for model2vec and sentence-transformers."""

import json

import numpy as np
import pytest
from optional_libraries import needs

import embeddings as em
from embeddings.corpora.word_rules import WordForm, WordRules
from embeddings.formats import huggingface

pytestmark = needs("tokenizers")


@pytest.mark.parametrize(
    ("words", "lower", "split"),
    [
        (["the", "été", "日本", "नमस्ते", "new_york", "x2"], True, True),
        (["the", "The"], False, True),
        (["ΣΑΣ"], False, True),
        (["u.s", "don't", "3.14", "\U0001f600"], True, True),
        (["u.s.", "the"], True, False),
        (["new york"], True, False),
        ([], True, True),
    ],
)
def test_how_text_is_split_follows_from_the_words(tmp_path, words, lower, split):
    huggingface.write_tokenizer(words, tmp_path / "t")
    tokenizer = json.loads((tmp_path / "t").read_text())
    assert ({"type": "Lowercase"} in tokenizer["normalizer"]["normalizers"]) == lower
    assert tokenizer["pre_tokenizer"]["type"] == ("Split" if split else "WhitespaceSplit")


def test_text_is_split_and_normalised_like_the_words_of_a_model(tmp_path):
    rules = WordRules("words")
    text = "Don\u2019t go to cafe\u0301 (3.14, 1,000.5) \u2764\ufe0f\U0001f600 e.g. U.S.A. one,two 12:30 l'homme हिन्दी"
    words = [rules.normalize_one(word) for word in rules.tokenizer(text)]
    huggingface.write_tokenizer(sorted(set(words)), tmp_path / "t")
    assert huggingface.import_tokenizers().Tokenizer.from_file(str(tmp_path / "t")).encode(text).tokens == words


def test_vectors_of_unknown_origin_have_the_tokenizer_that_embed_assumes(tmp_path):
    """A word that no text is split into must not make the tokenizer split at white space only."""
    words, texts = ["hair", "her", "styling", "o'", "x²"], ["Styling her hair.", "her hair, o' hair!"]
    vectors = em.Vectors(words, np.eye(5, dtype=np.float32))
    vectors.save(tmp_path / "m", "model2vec")
    tokenizer = huggingface.import_tokenizers().Tokenizer.from_file(str(tmp_path / "m" / "tokenizer.json"))
    assert [tokenizer.encode(text).tokens[-1] for text in texts] == ["hair", "hair"]
    np.testing.assert_allclose(em.embed(vectors, texts, pool="sum")[:, 0], [1, 2])
    known = em.Vectors(
        words, np.eye(5, dtype=np.float32), word_form=WordForm({"tokenizer": "whitespace", "case": "keep"})
    )
    known.save(tmp_path / "k", "model2vec")
    tokenizer = huggingface.import_tokenizers().Tokenizer.from_file(str(tmp_path / "k" / "tokenizer.json"))
    assert tokenizer.encode("her o'").tokens == ["her", "o'"]
