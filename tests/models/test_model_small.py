"""Small models: what they keep, compose and refuse, before and after saving."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_models import word_model
from subword_models import UNSEEN, WORDS, fasttext_model, naive_vector

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, SettingError

RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def large():
    return fasttext_model(min_n=3, max_n=5)


def saved(model, folder):
    model.save(folder / "small")
    return em.load_model(folder / "small")


@pytest.mark.parametrize("storage", ["codes", "int8", "float16"])
def test_a_saved_small_model_answers_as_the_large_one(large, storage, tmp_path):
    small = saved(large.quantize(storage=storage, dsub=1), tmp_path)
    assert list(small.vectors) == list(large.vectors)
    np.testing.assert_array_equal(small.vocabulary.counts, large.vocabulary.counts)
    for word in [*WORDS, *UNSEEN[:4]]:
        np.testing.assert_allclose(small[word], large[word], rtol=0.1, atol=0.06 * np.abs(large[word]).max())
    assert "matrix" not in vars(small.vectors)  # nothing was decoded but the words that were read
    nearest = small.most_similar(WORDS[0], top=2)
    assert {word for word, _ in nearest} <= set(large.vectors)
    np.testing.assert_allclose(
        [cosine for _, cosine in nearest], [cosine for _, cosine in large.most_similar(WORDS[0], top=2)], atol=0.05
    )
    assert not small.vectors["the"].flags.writeable


def test_pruned_ngrams_are_zero(large):
    table = large.tables["ngrams"]
    small = large.quantize(20, storage="float16")
    kept = np.argsort(-np.linalg.norm(table, axis=1), kind="stable")[:20]
    pruned = np.zeros_like(table)
    pruned[kept] = table[kept].astype(np.float16)
    tables = {"words": large.tables["words"], "ngrams": pruned}
    naive = SimpleNamespace(tables=tables, settings=large.settings, vectors=large.vectors)
    for word in UNSEEN[:3]:
        expected = naive_vector(naive, word)
        np.testing.assert_allclose(small.compose([word])[0], expected, atol=1e-5)


def test_tables_for_training_are_left_out_and_others_stay(tmp_path):
    documents, other = RNG.standard_normal((5, 8)).astype(np.float32), np.ones((3, 3), np.float32)
    output = RNG.standard_normal((400, 8)).astype(np.float32)
    model = word_model(tables={"output": output, "documents": documents, "other": other})
    small = saved(model.quantize(), tmp_path)
    assert set(small.tables) == {"documents", "other"}
    np.testing.assert_array_equal(small.documents.matrix, documents)


def test_a_small_model_is_a_tenth_and_deterministic(tmp_path):
    model = word_model(words=5000, dim=64)
    for name in ("first", "again"):
        model.quantize(dsub=4, seed=7).save(tmp_path / name)
    model.save(tmp_path / "large")
    first, again, large = (
        (tmp_path / name / "tensors.safetensors").read_bytes() for name in ("first", "again", "large")
    )
    assert first == again
    assert len(first) < len(large) / 8


def test_what_cannot_be_made_small_is_refused(large):
    with pytest.raises(SettingError, match="small already"):
        large.quantize().quantize()
    with pytest.raises(SettingError, match="cutoff"):
        word_model().quantize(10)
    with pytest.raises(SettingError, match="dsub"):
        word_model().quantize(dsub=9)
    with pytest.raises(SettingError, match="storage"):
        word_model().quantize(storage="int4")
    with pytest.raises(SettingError, match="seed"):
        word_model().quantize(seed=-1)
    with pytest.raises(SettingError, match="classifier"):
        word_model(labels=Vocabulary(["a"], [1])).quantize()
    composed = word_model(composer=lambda model: lambda words: np.zeros((len(words), 8), np.float32))
    with pytest.raises(SettingError, match="n-grams"):
        composed.quantize()


def test_a_small_model_that_composes_is_not_written_as_fasttext(large, tmp_path):
    with pytest.raises(FormatError, match="small model"):
        large.quantize().export(tmp_path / "small.bin", format="fasttext")


def test_a_small_model_is_not_trained_further():
    model = em.SkipGram(dim=8, epochs=1, min_count=1).train([["a", "b"] * 20], threads=1)
    small = model.quantize()
    with pytest.raises(SettingError, match="small"):
        em.SkipGram(dim=8, epochs=1, min_count=1).train([["a", "b"] * 20], threads=1, continued=small)
    with pytest.raises(SettingError, match="output"):
        small.predict_output_word(["a"])


def test_a_damaged_small_model_is_refused(large, tmp_path):
    small = large.quantize()
    small.compact["ngrams"].arrays["norms"] = np.zeros(3, np.float32)
    small.save(tmp_path / "small")
    with pytest.raises(FormatError, match="ngrams"):
        em.load_model(tmp_path / "small")
