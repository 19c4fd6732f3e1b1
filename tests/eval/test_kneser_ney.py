"""Perplexity of Kneser-Ney n-gram models: against a naive implementation, and against nltk."""

import json
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from commands import expect, refused

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.tasks import kneser_ney
from embeddings.eval.tasks.kneser_ney import ngram_perplexity


def random_lines(seed, count, words=25):
    """Lines of words that tend to follow each other."""
    rng = np.random.default_rng(seed)
    lines = []
    for length in rng.integers(0, 25, count):
        line = [int(rng.zipf(1.6) % words)]
        while len(line) < length:
            line.append((line[-1] * 7 + 3) % words if rng.random() < 0.6 else int(rng.zipf(1.6) % words))
        lines.append([f"w{word}" for word in line])
    return lines


def adjusted_counts(lines, order, has_starts):
    """For each order the counts of n-grams: occurrences for the highest and at starts, else different words before."""
    padded = [["<s>", *line] if has_starts and line else line for line in lines]
    raw = [
        Counter(tuple(line[i : i + n]) for line in padded for i in range(len(line) - n + 1)) for n in range(order + 2)
    ]
    counts = {}
    for n in range(1, order + 1):
        counts[n] = Counter({g: c for g, c in raw[n].items() if n == order or g[0] == "<s>"})
        if n < order:
            counts[n].update(g[1:] for g in raw[n + 1])
        counts[n] = {g: c for g, c in counts[n].items() if g[-1] != "<s>"}
    return counts


def naive_perplexity(lines, test, order, discount=None, has_starts=True):
    vocabulary = {word for line in lines for word in line}
    counts = adjusted_counts(lines, order, has_starts)
    discounts, following = {}, {}
    for n in range(1, order + 1):
        number = Counter(counts[n].values())
        discounts[n] = [0, *(kneser_ney.estimate_discounts(np.array([0, *(number[k] for k in range(1, 5))])))]
        if discount is not None:
            discounts[n] = [0, discount, discount, discount]
        following[n] = defaultdict(list)
        for ngram, count in counts[n].items():
            following[n][ngram[:-1]].append(count)

    def probability(ngram):
        n = len(ngram)
        if n == 0:
            return 1 / len(vocabulary)
        others = following[n].get(ngram[:-1])
        if not others:
            return probability(ngram[1:])
        count = counts[n].get(ngram, 0)
        rest = sum(discounts[n][min(other, 3)] for other in others)
        return (max(count - discounts[n][min(count, 3)], 0) + rest * probability(ngram[1:])) / sum(others)

    losses = []
    for line in test:
        known = ["<s>"] * has_starts + [word for word in line if word in vocabulary]
        losses += [
            -np.log(probability(tuple(known[max(0, i + 1 - order) : i + 1]))) for i in range(has_starts, len(known))
        ]
    return float(np.exp(np.mean(losses))), len(losses), probability


LINES, TEST = random_lines(1, 200), random_lines(2, 40, words=29)


@pytest.mark.parametrize("has_starts", [True, False])
@pytest.mark.parametrize("discount", [None, 0.6])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_perplexity_equals_the_naive_implementation(order, discount, has_starts):
    options = {"order": order, "discount": discount, "line_starts": has_starts}
    result = ngram_perplexity(em.Corpus(LINES), em.Corpus(TEST), **options)
    expected, words, _ = naive_perplexity(LINES, TEST, order, discount, has_starts)
    assert result.perplexity == pytest.approx(expected, rel=1e-9)
    assert (result.words, result.total) == (words, sum(map(len, TEST)))


@pytest.mark.parametrize("context", [(), ("<s>",), ("w3",), ("w3", "w24"), ("w9", "w9", "w9")])
def test_naive_probabilities_sum_to_one(context):
    _, _, probability = naive_perplexity(LINES, TEST, 3)
    assert sum(probability((*context[-2:], f"w{i}")) for i in range(25)) == pytest.approx(1)


def test_perplexity_equals_that_of_nltk():
    """One long line that ends as it starts, since nltk counts n-grams at the start of a text differently."""
    models = pytest.importorskip("nltk.lm.models")
    from nltk.util import everygrams

    order, discount = 3, 0.6
    text = [word for line in LINES for word in line]
    text += text[: order + 1]
    reference = models.KneserNeyInterpolated(order, discount=discount)
    reference.fit([list(everygrams(text, max_len=order))], text)
    size, estimator = len(set(text)), reference.estimator
    bigrams = set(pairwise(text))
    before = Counter(second for _, second in bigrams)
    rest = discount * len(before) / len(bigrams) / size  # the interpolation of unigrams, which nltk lacks
    estimator.unigram_score = lambda word: max(before[word] - discount, 0) / len(bigrams) + rest
    test = [word for line in TEST for word in line if word in set(text)]
    losses = [-np.log(reference.unmasked_score(word, tuple(test[max(0, i - 2) : i]))) for i, word in enumerate(test)]
    options = {"order": order, "discount": discount, "line_starts": False}
    result = ngram_perplexity(em.Corpus([text]), em.Corpus([test]), **options)
    assert result.loss == pytest.approx(np.mean(losses), rel=1e-9)


def test_small_tables_take_more_passes_and_give_the_same_result(monkeypatch):
    many = random_lines(3, 3000, words=400)
    whole = ngram_perplexity(em.Corpus(many), em.Corpus(TEST), order=4)
    monkeypatch.setattr(kneser_ney, "CHUNK", 1000)
    monkeypatch.setattr(kneser_ney, "UNIT_BYTES", 250)  # of 1 MB
    reports = []
    small = ngram_perplexity(
        em.Corpus(many), em.Corpus(TEST), order=4, memory=0.001, report=lambda done, total: reports.append(done / total)
    )
    assert small.loss == pytest.approx(whole.loss, rel=1e-12)
    assert small.passes > whole.passes == 4
    assert reports[-1] == 1
    assert reports == sorted(reports)


def test_tables_without_room_for_one_word_are_refused(monkeypatch):
    lines = [[f"w{i}", "the"] for i in range(3000)]
    monkeypatch.setattr(kneser_ney, "UNIT_BYTES", 1000)
    with pytest.raises(SettingError, match=r"memory.*0\.001"):
        ngram_perplexity(em.Corpus(lines), em.Corpus([*TEST, ["the"]]), order=2, memory=0.001)


def test_the_vocabulary_is_chosen_as_in_training():
    result = ngram_perplexity(em.Corpus(LINES), em.Corpus(TEST), order=2, max_vocab=10)
    kept = set(em.Corpus(LINES).encode().select(max_vocab=10).words)
    expected, words, _ = naive_perplexity([[word for word in line if word in kept] for line in LINES], TEST, 2)
    assert (result.vocabulary, result.words) == (10, words)
    assert result.perplexity == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order"),
        ({"discount": 1.5}, "discount"),
        ({"discount": 5e-324}, r"discount is too small.*5e-324"),
        ({"memory": 0}, "memory"),
        ({"order": 99}, "order"),
    ],
)
def test_arguments_out_of_range(options, message):
    with pytest.raises(SettingError, match=message):
        ngram_perplexity(em.Corpus(LINES), em.Corpus(TEST), **options)


def test_a_text_of_other_words_is_refused():
    with pytest.raises(CorpusError, match="no word of the test text"):
        ngram_perplexity(em.Corpus(LINES), em.Corpus([["other"]]))


def test_the_command(tmp_path):
    for name, lines in (("train.txt", LINES), ("test.txt", TEST)):
        (tmp_path / name).write_text("\n".join(map(" ".join, lines)), "utf-8")
    paths = [tmp_path / "train.txt", "--test", tmp_path / "test.txt"]
    rows = json.loads(expect("perplexity", *paths, "--order", 3, "--min-count", 1, "--json", "--quiet").stdout)
    for row in rows:
        expected, words, _ = naive_perplexity(LINES, TEST, row["order"])
        assert row["perplexity"] == pytest.approx(expected, rel=1e-6)
        assert row["words"] == words
    assert [row["order"] for row in rows] == [3]
    assert "missing.txt" in refused("perplexity", tmp_path / "train.txt", "--test", tmp_path / "missing.txt", code=1)
