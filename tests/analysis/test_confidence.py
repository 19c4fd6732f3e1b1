"""Confidence of similarities and analogies that follows from replicates of a model."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import embeddings as em
from embeddings.analysis.confidence import cosines_and_ranks


def test_intervals_and_ranks_equal_plain_formulas(model, replicates):
    vectors = model.vectors
    found = em.analysis.confident_neighbours(vectors, replicates, "king", top=3)
    assert [(one.neighbour, one.similarity.cosine) for one in found] == vectors.most_similar("king", top=3)
    king = vectors.index("king")
    for one in found:
        row = vectors.index(one.neighbour)
        cosines = np.array([float(rows[king].astype(float) @ rows[row].astype(float)) for rows in replicates.resamples])
        seeds = np.array([float(rows[king].astype(float) @ rows[row].astype(float)) for rows in replicates.seeds])
        similarity = one.similarity
        rest = np.delete(vectors.unit_rows @ vectors.unit_rows[king], king)
        center = cosines.mean()
        half = stats.t.ppf(0.975, 3) * (cosines.var(ddof=1) + (center - similarity.cosine) ** 2) ** 0.5
        assert similarity.low == pytest.approx(max(center - half, -1), abs=1e-4)
        assert similarity.high == pytest.approx(min(center + half, 1), abs=1e-4)
        assert similarity.seed_sd == pytest.approx(seeds.std(ddof=1), abs=1e-5)
        data = max(cosines.var(ddof=1) - seeds.var(ddof=1), 0) ** 0.5
        assert similarity.data_sd == (pytest.approx(data, abs=1e-4) if data else None)
        ranks = []
        for rows in replicates.resamples:
            by_cosine = np.argsort(-(rows.astype(np.float32) @ rows[king].astype(np.float32)), kind="stable").tolist()
            by_cosine.remove(king)
            ranks.append(1 + by_cosine.index(row))
        assert one.in_top == np.mean(np.array(ranks) <= 3)
        assert one.rank_low == 1 + np.sum(rest > similarity.high)
        assert one.rank_high == min(1 + np.sum(rest > similarity.low), len(rest))
        pair = em.analysis.confident_similarity(vectors, replicates, "king", one.neighbour)
        assert (one.pair_low, one.pair_high) == pytest.approx((pair.low, pair.high), abs=1e-4)
        assert (pair.low + pair.high) / 2 == pytest.approx(similarity.cosine) or pair.high == 1 or pair.low == -1


def test_tables_say_what_varies_and_what_is_corrected(model, replicates):
    found = em.analysis.confident_neighbours(model, replicates, "king", top=3)
    text = repr(found)
    assert "4 resamples of documents" in text
    assert "few resamples" in text
    assert "corrected for the selection" in text
    assert "few" not in replace(replicates, resamples=replicates.resamples * 3).note
    same = replace(replicates, seeds=replicates.resamples)
    assert em.analysis.confident_similarity(model, same, "king", "queen").data_sd is None


def test_resamples_without_a_word_do_not_count(model, replicates):
    row = model.vectors.index("queen")
    changed = [rows.copy() for rows in replicates.resamples]
    for rows in changed[:2]:
        rows[row] = 0
    fewer = replace(replicates, resamples=changed)
    rest = replace(replicates, resamples=replicates.resamples[2:])
    assert em.analysis.confident_similarity(model, fewer, "king", "queen") == em.analysis.confident_similarity(
        model, rest, "king", "queen"
    )
    changed[2][row] = 0
    one = em.analysis.confident_similarity(model, replace(replicates, resamples=changed), "king", "queen")
    assert (one.low, one.high, one.data_sd) == (-1, 1, None)
    found = em.analysis.confident_neighbours(model, replace(replicates, resamples=changed), "king", top=20)
    queen = next(one for one in found if one.neighbour == "queen")
    assert (queen.rank_low, queen.rank_high, queen.in_top) == (1, len(model.vectors) - 1, 0.25)


def test_differences_equal_plain_formulas(model, replicates):
    vectors = model.vectors
    one = em.analysis.confident_difference(model, replicates, "king", "queen", "rules")
    assert one.difference == pytest.approx(vectors.similarity("king", "queen") - vectors.similarity("king", "rules"))
    king, queen, rules = (vectors.index(word) for word in ("king", "queen", "rules"))
    units = [rows.astype(float) for rows in replicates.resamples]
    values = np.array([rows[king] @ rows[queen] - rows[king] @ rows[rules] for rows in units])
    assert one.high - one.difference == pytest.approx(stats.t.ppf(0.975, 3) * values.std(ddof=1), abs=1e-4)
    assert one.first_closer == np.mean(values > 0)


def test_analogies_have_the_scores_of_the_model(model, replicates):
    found = em.analysis.confident_analogy(model, replicates, "king", "rules", "queen", top=4)
    answers = model.vectors.analogy("king", "rules", "queen", top=4)
    assert [(one.neighbour, one.similarity.cosine) for one in found] == answers
    a, b, c, x = (model.vectors.index(word) for word in ("king", "rules", "queen", found[0].neighbour))
    scores = []
    for rows in replicates.resamples:
        unit = rows.astype(float)
        query = unit[b] - unit[a] + unit[c]
        scores.append(unit[x] @ query / np.linalg.norm(query))
    one = found[0].similarity
    half = stats.t.ppf(0.975, 3) * np.hypot(np.std(scores, ddof=1), np.mean(scores) - one.cosine)
    assert one.low == pytest.approx(max(np.mean(scores) - half, -1), abs=1e-4)
    assert em.analysis.confident_analogy(model, replicates, "king", "rules", "king", top=1)[0].neighbour != "king"


def test_without_other_seeds_the_spread_is_not_divided(model, corpus):
    replicates = em.analysis.stability(model, corpus, resamples=2, seeds=0, threads=1)
    one = em.analysis.confident_similarity(model.vectors, replicates, "king", "queen")
    assert em.analysis.confident_similarity(model, replicates, "king", "queen") == one
    assert (replicates.seeds, one.data_sd, one.seed_sd) == ([], None, None)


def test_arguments_are_checked(model, corpus):
    for name, value in {"resamples": 1, "seeds": 1, "resample_by": "words", "threads": 0}.items():
        with pytest.raises(em.EmbeddingsError, match=name):
            em.analysis.stability(model, corpus, **{name: value})
    with pytest.raises(em.EmbeddingsError, match="Corpus"):
        em.analysis.stability(model, "text.txt")
    with pytest.raises(em.EmbeddingsError, match="too few"):
        em.analysis.stability(model, em.Corpus(["the king rules"] * 3), resamples=2)
    labelled = em.Corpus(["__label__a one two", "__label__b three four"] * 9, labels=em.corpora.LabelFormat())
    classifier = em.TextClassification(dim=4, epochs=1, min_count=1).train(labelled, threads=1)
    with pytest.raises(em.EmbeddingsError, match="classifier"):
        em.analysis.stability(classifier, labelled)


def test_replicates_of_other_vectors_are_refused(model, replicates):
    other = em.Vectors(model.vectors.words, model.vectors.matrix + 1)
    for measure, words in (
        (em.analysis.confident_similarity, ["king", "queen"]),
        (em.analysis.confident_difference, ["king", "queen", "rules"]),
        (em.analysis.confident_neighbours, ["king"]),
        (em.analysis.confident_analogy, ["king", "queen", "rules"]),
    ):
        with pytest.raises(em.EmbeddingsError, match="belong to other vectors"):
            measure(other, replicates, *words)


def test_equal_cosines_share_a_rank():
    matrix = np.array([[1, 0], [0.6, 0.8], [0.6, 0.8], [0.8, 0.6]], np.float16)
    _, ranks = cosines_and_ranks(np.array([1, 2, 3]), {0: 1.0}, matrix)
    assert ranks.tolist() == [2, 2, 1]
