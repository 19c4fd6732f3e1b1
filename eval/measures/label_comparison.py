"""Paired tests of the labels that two classifiers predict for the same texts."""

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.measures.label_scores import LabelScores, counts_by, macro_f1, macro_f1_resamples
from embeddings.eval.statistics.confidence_intervals import ratios
from embeddings.eval.statistics.item_groups import group_sums
from embeddings.eval.statistics.paired_tests import TEXTS, Comparison, Pair, bootstrap_test
from embeddings.eval.statistics.results import Key


def compare_labels(first: LabelScores, second: LabelScores) -> list[Comparison]:
    """Test whether precision, recall, F1 and macro-F1 of two classifiers differ on the same texts.

    Where each text has one label and gets one prediction, the texts that each gets right are compared by McNemar's
    exact test; other measures by a paired bootstrap over texts.

    Raises:
        SettingError: the texts are not the same, or another number of labels is predicted.
    """
    same = (first.set, len(first.predictions), first.k, first.threshold, first.half)
    if same != (second.set, len(second.predictions), second.k, second.threshold, second.half):
        raise SettingError("a paired test requires predictions for the same texts, with the same k and threshold")
    counts = [counts_by(one.predictions.text, one.predictions, len(one.predictions)) for one in (first, second)]
    (hits, actual, predicted), (other_hits, _, other_predicted) = counts
    names = [measure + first.at_k for measure in ("precision", "recall", "f1", "macro-f1")]
    texts = len(first.predictions)
    pairs = [Pair(Key(first.set, name, half=first.half), first.classifier, second.classifier, texts) for name in names]
    if (np.stack([actual, predicted, other_predicted]) == 1).all():
        comparisons = [pair.compare_shares(hits == 1, other_hits == 1) for pair in pairs[:3]]
    else:
        shares = (
            ((hits, predicted), (other_hits, other_predicted)),
            ((hits, actual), (other_hits, actual)),
            ((2 * hits, actual + predicted), (2 * other_hits, actual + other_predicted)),
        )
        comparisons = [compare_ratios(pair, *sides) for pair, sides in zip(pairs[:3], shares, strict=True)]
    return [*comparisons, compare_macro_f1(pairs[3], first, second)]


def compare_ratios(
    pair: Pair, first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> Comparison:
    """Compare two ratios of sums over texts, each given as numerators and denominators, int64 (texts,)."""
    texts, values, resampled = len(first[0]), [], []
    for numerators, denominators in (first, second):
        columns = group_sums(np.stack([numerators, denominators], axis=1).astype(np.float64))
        total = int(denominators.sum())
        values.append(int(numerators.sum()) / total if total else 0.0)
        resampled.append(ratios(*columns.T))
    interval, p = bootstrap_test(resampled[0] - resampled[1], texts)
    return pair.comparison((values[0], values[1]), interval, items=texts, p=p, test=TEXTS)


def compare_macro_f1(pair: Pair, first: LabelScores, second: LabelScores) -> Comparison:
    """Compare the means of the F1 of labels."""
    labels = first.predictions, second.predictions
    values = [macro_f1(*LabelScores.label_counts(one)) for one in labels]
    resampled = [macro_f1_resamples(one) for one in labels]
    interval, p = bootstrap_test(resampled[0] - resampled[1], len(labels[0]))
    return pair.comparison((values[0], values[1]), interval, items=len(labels[0]), p=p, test=TEXTS)
