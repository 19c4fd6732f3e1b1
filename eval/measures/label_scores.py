"""Precision, recall and F1 of predicted labels, confusions of labels, and the calibration of probabilities."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.measures.label_metrics import LabelMetric, PrecisionRecallCurve
from embeddings.eval.measures.predicted_labels import BOTH, NO_LABEL, PredictedLabels
from embeddings.eval.statistics.confidence_intervals import (
    MIN_ITEMS,
    NO_INTERVAL,
    Interval,
    bootstrap_weights,
    divide_or_nan,
    percentiles,
    ratio_interval,
    wilson,
)
from embeddings.eval.statistics.item_groups import group_of, group_sums
from embeddings.eval.statistics.results import Result

BINS = 15  # of the calibration error, of equal width
LABEL_BLOCK = 512  # labels whose resampled counts are in memory at a time
KNOWN = "known to the classifier"
CALIBRATION, CONFUSION = "calibration error", "confusion"
MAJORITY = "the most frequent labels"
PROTOCOL = (
    "micro-averaged over texts with labels; {threshold}; a text of which the classifier knows no word is predicted no "
    "label, and labels that it does not know count in recall; fastText's test leaves out both, as the section "
    f"'{KNOWN}' does; F1: 2 hits / (labels + predictions); macro: the mean over labels that occur or are predicted; "
    f"calibration error: of the most probable label, {BINS} bins of equal width; interval: Wilson's where each text "
    "counts at most once, else bootstrap over texts"
)


class Confusion(NamedTuple):
    """How many texts with a label have this first prediction, None for none.

    A text whose first prediction is one of its labels counts for this label only, another one for each of its labels.
    """

    label: str
    predicted: str | None
    texts: int


@dataclass(frozen=True)
class LabelScores:
    """Scores of predictions.

    Arguments:
        predictions: the labels and predictions of the texts.
        set: the name of the texts.
        classifier: the name of the classifier.
        k: the maximum number of labels predicted for a text; -1 for all.
        threshold: the minimum probability of a predicted label.
        metrics: further metrics to report.
        half: the half of the texts that is used, or "all".
    """

    predictions: PredictedLabels
    set: str
    classifier: str
    k: int = 1
    threshold: float = 0.0
    metrics: Sequence[LabelMetric] = ()
    half: str = "all"

    def results(self) -> list[Result]:
        """All results: of each label (section), of what the classifier knows, if that differs, and of all texts.

        Raises:
            SettingError: a metric is of a label that neither the classifier nor the texts have.
        """
        everything, known = self.predictions, self.predictions.known_part()
        results = list(self.by_label())
        if len(known.text) != len(everything.text) and len(known):
            results += self.overall(known, KNOWN)
        requested = [self.requested(metric) for metric in self.metrics]
        return [
            *results, *self.overall(everything, None), *self.overall(self.majority(), None, MAJORITY), *requested,
            self.calibration(),
        ]  # fmt: skip

    def overall(self, labels: PredictedLabels, section: str | None, method: str | None = None) -> Iterator[Result]:
        """Micro-averaged precision, recall and F1, and macro-averaged F1."""
        hits, actual, predicted = counts_by(labels.text, labels, len(labels))
        is_single = (actual == 1).all() and (predicted == 1).all()
        values = {
            "precision": ratio(hits, predicted),
            "recall": ratio(hits, actual),
            "f1": ratio(hits, actual) if is_single else ratio(2 * hits, actual + predicted),
            "macro-f1": (macro_f1(*self.label_counts(labels)), percentiles_or_none(macro_f1_resamples(labels))),
        }
        yield from (self.result(measure, section, *value, method=method) for measure, value in values.items())

    def requested(self, metric: LabelMetric) -> Result:
        """The result of a metric."""
        metric.check_label(self.predictions)
        if metric.level is not None:
            curve = PrecisionRecallCurve.of(self.predictions, metric.label)
            return self.result(str(metric), metric.label, curve.value(metric), curve.interval(metric))
        results = self.overall(self.predictions, None) if metric.label is None else self.by_label()
        name = metric.name + self.at_k
        found = (one for one in results if (one.measure, one.section) == (name, metric.label))
        return replace(next(found, self.result(metric.name, metric.label, None)), is_detail=False)

    def by_label(self) -> Iterator[Result]:
        """Precision, recall and F1 of each label that occurs or is predicted."""
        counts = [column.tolist() for column in self.label_counts(self.predictions)]
        for name, hits, actual, predicted in zip(self.predictions.names, *counts, strict=True):
            if actual or predicted:
                yield self.result("precision", name, *share(hits, predicted), texts=actual)
                yield self.result("recall", name, *share(hits, actual), texts=actual)
                yield self.result("f1", name, *dice(hits, actual + predicted - hits), texts=actual)

    def share_result(self, measure: str, section: str, hits: int, texts: int) -> Result:
        """A share of texts with Wilson's interval."""
        return self.result(measure, section, *share(hits, texts), texts=texts)

    def majority(self) -> PredictedLabels:
        """The same texts if the most frequent labels were predicted for each of them.

        These are k labels, or as many as the classifier predicts on average if k is -1.
        """
        _, actual, predicted = self.label_counts(self.predictions)
        k = self.k if self.k > 0 else max(1, round(predicted.sum() / len(self.predictions)))
        best = np.argsort(-actual, kind="stable")[:k]
        return self.predictions.with_predictions(np.sort(best))

    def calibration(self) -> Result:
        """The expected calibration error of the most probable label (Guo et al. 2017)."""
        labels = self.predictions
        is_covered = labels.best != NO_LABEL
        if not is_covered.any():
            return self.result(CALIBRATION, None, None)
        keys, codes = labels.text << 32 | labels.label, np.arange(len(labels)) << 32 | np.maximum(labels.best, 0)
        is_correct = np.isin(codes, keys[labels.is_actual])[is_covered]
        confidence = np.minimum(labels.confidence[is_covered].astype(np.float64), 1)
        bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
        gaps = np.zeros((len(bins), BINS))
        gaps[np.arange(len(bins)), bins] = confidence - is_correct
        grouped = group_sums(gaps)
        value = float(np.abs(gaps.sum(axis=0)).sum() / len(gaps))
        resampled = [np.abs(block @ grouped).sum(axis=1) / len(gaps) for block in bootstrap_weights(len(grouped))]
        interval = percentiles(np.concatenate(resampled)) if len(gaps) >= MIN_ITEMS else NO_INTERVAL
        return self.result(CALIBRATION, None, value, interval)

    def result(
        self, measure: str, section: str | None, value: float | None, interval: Interval = NO_INTERVAL,
        *, texts: int | None = None, method: str | None = None,
    ) -> Result:  # fmt: skip
        """A result; coverage is of texts, of a label those that have it."""
        at_k = self.at_k * (measure not in (CALIBRATION, CONFUSION))
        threshold = f"at most {self.k} labels" if self.k > 0 else "all labels"
        threshold += f" with a probability of at least {self.threshold}" * (self.threshold > 0)
        covered = int((self.predictions.best != NO_LABEL).sum())
        return Result(
            self.set, measure + at_k, section, method=method, is_detail=texts is not None, half=self.half,
            vectors=self.classifier, value=value, low=interval[0], high=interval[1],
            covered=covered if texts is None else texts, total=len(self.predictions) if texts is None else texts,
            protocol=PROTOCOL.format(threshold=threshold),
            reason=None if value is not None else "nothing is predicted" if measure != "recall" else "does not occur",
        )  # fmt: skip

    @property
    def at_k(self) -> str:
        """What the names of measures end with."""
        return f"@{self.k}" if self.k > 0 else "@all"

    @staticmethod
    def label_counts(labels: PredictedLabels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hits, occurrences and predictions of each label, int64 (labels,)."""
        return counts_by(labels.label, labels, len(labels.names))

    @cached_property
    def confusion_matrix(self) -> list[Confusion]:
        """The pairs of labels and first predictions that occur, most frequent first."""
        labels = self.predictions
        first = labels.first[labels.text]
        is_hit = labels.is_actual & (labels.label == first)
        has_hit = np.bincount(labels.text[is_hit], minlength=len(labels)) > 0
        counted = is_hit | (labels.is_actual & ~has_hit[labels.text])
        codes = labels.label[counted].astype(np.int64) << 32 | (first[counted] + 1)
        distinct, counts = np.unique(codes, return_counts=True)
        order, names = np.argsort(-counts, kind="stable"), [None, *labels.names]
        pairs = [(str(labels.names[code >> 32]), names[code & 0xFFFFFFFF]) for code in distinct[order].tolist()]
        return [Confusion(*pair, count) for pair, count in zip(pairs, counts[order].tolist(), strict=True)]

    @property
    def confusions(self) -> list[Confusion]:
        """Those of different labels."""
        return [one for one in self.confusion_matrix if one.label != one.predicted]


def counts_by(group: np.ndarray, labels: PredictedLabels, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits, occurrences and predictions of each text or label, int64 (size,)."""
    masks = labels.kind == BOTH, labels.is_actual, labels.is_predicted
    hits, actual, predicted = (np.bincount(group[mask], minlength=size) for mask in masks)
    return hits, actual, predicted


def ratio(hits: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[float | None, Interval]:
    """The sum of `hits` over that of `sizes`, (texts,), with its interval."""
    if not sizes.sum():
        return None, NO_INTERVAL
    if sizes.max() == 1:
        return share(int(hits.sum()), int(sizes.sum()))
    sums = group_sums(np.stack([hits, sizes], axis=1).astype(np.float64))
    return float(hits.sum() / sizes.sum()), ratio_interval(*sums.T)


def share(hits: int, total: int) -> tuple[float | None, Interval]:
    """A share of independent items and Wilson's interval."""
    return (hits / total, wilson(hits, total)) if total else (None, NO_INTERVAL)


def dice(hits: int, either: int) -> tuple[float, Interval]:
    """F1 from the texts that have a label or are predicted it, each of which is a hit or not; Wilson's interval."""
    value, low, high = (2 * jaccard / (1 + jaccard) for jaccard in (hits / either, *wilson(hits, either)))
    return value, (low, high)


def macro_f1(hits: np.ndarray, actual: np.ndarray, predicted: np.ndarray) -> float:
    """The mean F1 of the labels that occur or are predicted."""
    return float(np.nanmean(divide_or_nan(2.0 * hits, (actual + predicted).astype(np.float64))))


def percentiles_or_none(resampled: np.ndarray) -> Interval:
    """The interval of resampled values; none if there are none."""
    return percentiles(resampled) if len(resampled) else NO_INTERVAL


def macro_f1_resamples(labels: PredictedLabels) -> np.ndarray:
    """Its values in resamples of texts (resamples,), over the labels that occur or are predicted in each.

    There are none for too few texts.
    """
    if len(labels) < MIN_ITEMS:
        return np.empty(0)
    from scipy.sparse import csr_array

    group = group_of(len(labels))[labels.text]
    order = np.argsort(labels.label, kind="stable")
    label, group, is_hit = labels.label[order], group[order], labels.kind[order] == BOTH
    draws = np.concatenate(list(bootstrap_weights(int(group.max()) + 1))).T
    total, count = np.zeros(draws.shape[1]), np.zeros(draws.shape[1])
    for first in range(0, len(labels.names), LABEL_BLOCK):
        part = slice(*np.searchsorted(label, [first, first + LABEL_BLOCK]))
        cells, shape = (label[part] - first, group[part]), (LABEL_BLOCK, len(draws))
        hits, members = (
            csr_array((weights, cells), shape) @ draws for weights in (2.0 * is_hit[part], 1.0 + is_hit[part])
        )
        scores = divide_or_nan(hits, members)
        total, count = total + np.nansum(scores, axis=0), count + np.isfinite(scores).sum(axis=0)
    return divide_or_nan(total, count)
