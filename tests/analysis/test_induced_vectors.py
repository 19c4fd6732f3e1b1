"""Vectors from contexts, compared with plain Python loops and a regression by numpy's least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embeddings as em
from embeddings.analysis import induced_vectors
from embeddings.analysis.induced_vectors import ContextReader, regression
from embeddings.errors import CorpusError, SettingError

LETTERS = "abcdef"
SENTENCES = st.lists(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=9), min_size=1, max_size=6)
KNOWN = em.Vectors(list("abce"), np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32))


def naive_mean(sentences, phrase, window):
    """The mean vector around a phrase, and its number of occurrences with a context."""
    n, rows, count = len(phrase), [], 0
    for line in sentences:
        for i in range(len(line) - n + 1):
            if line[i : i + n] != phrase:
                continue
            near = [word for word in line[max(0, i - window) : i] + line[i + n : i + n + window] if word in KNOWN]
            rows += [KNOWN[word].astype(float) for word in near]
            count += bool(near)
    return (sum(rows) / len(rows) if rows else np.zeros(3)), count


@settings(max_examples=60)
@given(SENTENCES, st.integers(1, 4), st.integers(1, 3))
def test_means_equal_plain_loops(sentences, window, threads):
    encoded = em.Corpus(sentences, tokenizer="whitespace").encode()
    words = encoded.vocabulary.words
    if not any(word in KNOWN for word in words):
        return
    inducer = em.analysis.ContextInducer(KNOWN, encoded, window=window, threads=threads)
    phrases = [[word] for word in LETTERS] + [["a", "b"], ["d", "d"]]
    rows, occurrences = inducer.rows_of([inducer.parts(" ".join(phrase)) for phrase in phrases])
    for phrase, row, number in zip(phrases, rows, occurrences, strict=True):
        mean, count = naive_mean(sentences, phrase, window)
        assert number == count
        assert row == pytest.approx(mean, abs=1e-5)


def sample_model():
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(60)]
    lines = [
        rng.choice(words, size=int(rng.integers(2, 12)), p=np.arange(60, 0, -1) / 1830).tolist() for _ in range(400)
    ]
    lines.append(["w1", "w0"])  # the last word is frequent
    return em.Vectors(words, rng.normal(size=(60, 5)).astype(np.float32)), em.Corpus(lines, tokenizer="whitespace")


def test_the_map_is_that_of_weighted_least_squares(monkeypatch):
    vectors, corpus = sample_model()
    encoded = corpus.encode()
    ids = np.flatnonzero(encoded.vocabulary.counts >= 20)
    means = ContextReader(encoded, vectors, 3).word_means(ids).means
    monkeypatch.setattr(induced_vectors, "CHUNK", len(encoded.ids) - 1)  # the last part is one word
    fitted = em.analysis.fit_context_map(vectors, corpus, window=3, min_count=20, threads=2)
    targets = vectors[[encoded.vocabulary.words[i] for i in ids]]
    scale = np.sqrt(np.log(encoded.vocabulary.counts[ids]))[:, None]
    expected = np.linalg.lstsq(scale * means, scale * targets.astype(float), rcond=None)[0].T
    assert fitted.words == len(ids) < 60
    assert fitted.matrix == pytest.approx(expected, rel=1e-4, abs=1e-6)
    word = next(word for word in encoded.vocabulary.words)
    image = em.analysis.ContextInducer(vectors, corpus, fitted)([word, "unseen"])
    assert image[0] == pytest.approx(expected @ means[0], abs=1e-5)
    assert not image[1].any()


def test_ridge_is_a_share_of_the_mean_eigenvalue():
    rng = np.random.default_rng(2)
    means, targets, weights = rng.normal(size=(4, 6)), rng.normal(size=(4, 6)).astype(np.float32), rng.random(4)
    moments = (means * weights[:, None]).T @ means
    penalty = 0.5 * np.trace(moments) / 6
    rows = np.vstack([np.sqrt(weights)[:, None] * means, np.sqrt(penalty) * np.eye(6)])
    values = np.vstack([np.sqrt(weights)[:, None] * targets, np.zeros((6, 6))])
    assert regression(means, targets, weights, 0.5) == pytest.approx(np.linalg.lstsq(rows, values, rcond=None)[0].T)
    with pytest.raises(SettingError, match="ridge"):
        regression(means, targets, weights, 0.0)
    with pytest.raises(SettingError, match="ridge"):
        regression(np.repeat(means[:1], 50, axis=0), np.repeat(targets[:1], 50, axis=0), np.ones(50), 0.0)


def test_results_do_not_depend_on_threads():
    vectors, corpus = sample_model()
    one, three = (em.analysis.fit_context_map(vectors, corpus, window=2, min_count=5, threads=n).matrix for n in (1, 3))
    assert np.array_equal(one, three)


def test_induced_words_know_their_contexts():
    lines = ["New York is big", "the emu is big", "new york is old", "emu", "an ox"]
    vectors = em.Vectors(["is", "big", "old", "the"], np.eye(4, dtype=np.float32), counts=[4, 2, 1, 1])
    inducer = em.analysis.ContextInducer(vectors, em.Corpus(lines), window=2)
    result = inducer.induce(["new york", "Emu", "emu", "ox", "zebra", "the"])
    assert result.vectors.words == ["new_york", "emu"]
    assert result.vectors.counts.tolist() == [2, 1]
    assert result.vectors["new_york"] == pytest.approx([0.5, 0.25, 0.25, 0])
    assert result.vectors["emu"] == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    assert (result.known, result.missing) == (["the"], {"ox": 0, "zebra": 0})
    assert inducer.induce(["new york", "emu"], min_contexts=2).missing == {"emu": 1}
    rows = em.lookup(vectors, ["the", "emu", "ox"], "contexts", contexts=inducer)
    assert rows == pytest.approx(np.array([[0, 0, 0, 1], [1 / 3, 1 / 3, 0, 1 / 3], [0, 0, 0, 0]]))


def test_what_cannot_be_fitted_is_refused(monkeypatch):
    vectors, corpus = sample_model()
    with pytest.raises(CorpusError, match="no word of the corpus"):
        em.analysis.ContextInducer(vectors, em.Corpus(["other words"]), window=2)
    with pytest.raises(SettingError, match=r"0 words.*lower min_count"):
        em.analysis.fit_context_map(vectors, corpus, min_count=10**6)
    monkeypatch.setattr(induced_vectors, "MAX_WORDS", 3)
    with pytest.raises(SettingError, match="ridge"):
        em.analysis.fit_context_map(vectors, corpus, min_count=1)
    monkeypatch.undo()
    broken = em.Vectors(vectors.words, np.where(np.arange(60)[:, None] == 7, np.nan, vectors.matrix))
    with pytest.raises(SettingError, match="w7"):
        em.analysis.fit_context_map(broken, corpus)
    inducer = em.analysis.ContextInducer(vectors, corpus)
    assert inducer.induce([""]).missing == {"": 0}
    assert not len(inducer.induce([]).vectors)
    for words in ("word", [3]):
        with pytest.raises(SettingError):
            inducer.induce(words)
    with pytest.raises(SettingError, match="min_contexts"):
        inducer.induce(["other"], min_contexts=0)
    with pytest.raises(SettingError, match="window"):
        em.analysis.ContextInducer(vectors, corpus, em.analysis.fit_context_map(vectors, corpus, min_count=5), window=3)
    other = em.Vectors(vectors.words, vectors.matrix + 1)
    with pytest.raises(SettingError, match="other vectors"):
        em.analysis.ContextInducer(other, corpus, em.analysis.fit_context_map(vectors, corpus, min_count=5))
    for unseen, contexts in (("contexts", None), ("zero", inducer)):
        with pytest.raises(SettingError, match="require each other"):
            em.lookup(vectors, ["w1"], unseen, contexts=contexts)
