"""Contexts that two words share, compared with plain Python and with vectors trained without them."""

import math
from collections import Counter

import pytest

import embeddings as em
from embeddings.analysis.explanation import explain

TEXTS = ["the cat drinks milk", "the dog drinks water and milk", "the cat sleeps", "a dog sleeps", "the end", "cat dog"]


def contexts_of(word, window):
    counts = Counter()
    for text in TEXTS:
        words = text.split()
        for i, one in enumerate(words):
            if one == word:
                counts.update(words[max(0, i - window) : i] + words[i + 1 : i + 1 + window])
    return counts


def description(word, window):
    """The weight of each context."""
    totals = Counter(word for text in TEXTS for word in text.split())
    scale, contexts = sum(count**0.75 for count in totals.values()), contexts_of(word, window)
    n = sum(contexts.values())
    weights = {}
    for context, count in contexts.items():
        pmi = math.log(count / n / (totals[context] ** 0.75 / scale))
        lower = min(n, totals[context])
        weights[context] = max(pmi, 0) * count / (count + 1) * lower / (lower + 1)
    return weights


@pytest.mark.parametrize("window", [1, 2, 5])
def test_shares_and_cosine_equal_plain_python(window):
    evidence = explain(None, em.Corpus(TEXTS), "cat", "dog", window=window, top=100)
    cat, dog = description("cat", window), description("dog", window)
    products = {context: cat[context] * dog[context] for context in cat if cat[context] * dog.get(context, 0)}
    total = sum(products.values())
    norms = math.prod(math.sqrt(sum(weight**2 for weight in one.values())) for one in (cat, dog))
    assert evidence.context_cosine == pytest.approx(total / norms)
    assert {one.context: one.share for one in evidence.contexts} == pytest.approx(
        {context: product / total for context, product in products.items()}
    )
    assert [one.share for one in evidence.contexts] == sorted((one.share for one in evidence.contexts), reverse=True)
    counts = contexts_of("cat", window), contexts_of("dog", window)
    for one in evidence.contexts:
        assert (one.count, one.other_count) == (counts[0][one.context], counts[1][one.context])
    assert (evidence.count, evidence.other_count, evidence.joint_count) == (3, 3, 1)
    tokens = sum(len(text.split()) for text in TEXTS)
    assert evidence.pmi == pytest.approx(math.log(1 * tokens / (counts[0].total() * 3)))
    assert (evidence.n_contexts, evidence.cosine, evidence.same_corpus) == (len(products), None, None)


def test_lines_show_each_word_near_the_context():
    evidence = explain(None, em.Corpus(TEXTS), "Cat", "dog", window=2, lines=2)
    by_context = {one.context: one.lines for one in evidence.contexts}
    assert [(line.keyword, line.right) for line in by_context["drinks"]] == [
        ("cat", "drinks milk"),
        ("dog", "drinks water and milk"),
    ]
    assert not explain(None, em.Corpus(TEXTS), "cat", "dog", lines=0).contexts[0].lines


def test_words_without_shared_contexts():
    evidence = explain(None, em.Corpus(["a b", "c d"]), "a", "c")
    assert (evidence.contexts, evidence.context_cosine, evidence.joint_count, evidence.pmi) == ([], 0, 0, None)
    alone = explain(None, em.Corpus(["a", "b"]), "a", "b")
    assert (alone.contexts, alone.context_cosine) == ([], 0)


def test_a_model_gives_the_cosine_the_window_and_whether_the_corpus_is_its_own():
    corpus = em.Corpus(TEXTS * 5)
    model = em.SkipGram(dim=4, window=3, subsample=0, min_count=1, epochs=1).train(corpus, threads=1)
    evidence = explain(model, corpus, "cat", "dog")
    assert evidence.cosine == pytest.approx(model.vectors.similarity("cat", "dog"))
    assert (evidence.window, evidence.same_corpus) == (3, True)
    assert explain(model, em.Corpus(TEXTS), "cat", "dog").same_corpus is False
    assert explain(model.vectors, corpus, "cat", "dog").window == 5


def test_errors():
    corpus = em.Corpus(TEXTS)
    with pytest.raises(em.EmbeddingsError, match="Vectors or a Model"):
        explain(3, corpus, "cat", "dog")
    with pytest.raises(em.EmbeddingsError, match="window"):
        em.analysis.concordance(corpus, "cat", "dog", window=10**21)
    for name, value in {"window": 10**9, "top": 0, "lines": -1, "width": 10**21}.items():
        with pytest.raises(em.EmbeddingsError, match=name):
            explain(None, corpus, "cat", "dog", **{name: value})
