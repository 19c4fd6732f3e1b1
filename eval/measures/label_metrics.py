"""Metrics by name, such as "f1:sport" or "precision-at-recall:30:sport": what a search for settings maximises."""

import re
from dataclasses import dataclass

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.measures.predicted_labels import BOTH, PredictedLabels
from embeddings.eval.statistics.confidence_intervals import (
    MIN_ITEMS,
    NO_INTERVAL,
    Interval,
    bootstrap_weights,
    percentiles,
)
from embeddings.eval.statistics.item_groups import group_of

MACRO_F1 = "macro-f1"
PRECISION_AT_RECALL, RECALL_AT_PRECISION = "precision-at-recall", "recall-at-precision"
AVERAGES = ("f1", MACRO_F1, "precision", "recall")
OPERATING_POINTS = (PRECISION_AT_RECALL, RECALL_AT_PRECISION)
FORMS = "f1, macro-f1, precision, recall, precision-at-recall:PERCENT or recall-at-precision:PERCENT"


@dataclass(frozen=True)
class LabelMetric:
    """A metric of predicted labels.

    Arguments:
        name: one of `AVERAGES`, micro-averaged unless it is "macro-f1"; or one of `OPERATING_POINTS`.
        label: the only label that counts; None for all.
        level: of operating points, the recall or precision that must be reached, in percent.
    """

    name: str
    label: str | None = None
    level: float | None = None

    @classmethod
    def parse(cls, text: str, prefix: str) -> "LabelMetric":
        """The metric that a string names, also in fastText's spelling, such as "precisionAtRecall:30:__label__sport".

        Arguments:
            prefix: that of labels, which may be given.

        Raises:
            SettingError: it names none.
        """
        name, *rest = text.split(":", 1)
        name = re.sub("(?<=[a-z])[A-Z]", lambda capital: f"-{capital[0].lower()}", name)
        level = None
        if name in OPERATING_POINTS and rest:
            percent, *rest = rest[0].split(":", 1)
            level = parse_percent(percent, text)
        has_no_name = name not in (*AVERAGES, *OPERATING_POINTS) or (level is None) == (name in OPERATING_POINTS)
        if has_no_name or rest == [""] or (rest and name == MACRO_F1):
            raise SettingError(f"the metric must be one of {FORMS}, each but macro-f1 also with :LABEL, got {text!r}")
        return cls(name, rest[0].removeprefix(prefix) if rest else None, level)

    def __str__(self) -> str:
        return self.name if self.level is None else f"{self.name}:{self.level:g}"

    def check_label(self, labels: PredictedLabels) -> None:
        """Refuse a label that neither the classifier nor the texts have."""
        if self.label is not None and self.label not in labels.names:
            raise SettingError(f"neither the classifier nor the texts have the label {self.label!r}")


def parse_percent(text: str, metric: str) -> float:
    """A number from 0 to 100."""
    try:
        level = float(text)
    except ValueError:
        level = -1.0
    if not 0 <= level <= 100:
        raise SettingError(f"the level of the metric {metric!r} must be in [0, 100] percent, got {text!r}")
    return level


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """The predictions of a label, or of all, in descending order of probability.

    The curve has a point after each group of equal probabilities, and one of precision 1 and recall 0.

    Arguments:
        text: int64 (predictions,), the texts. is_hit: bool (predictions,). ends: int64 (points,), the last prediction
            of each point.
        actual: int64 (occurrences,), the texts with the label, once for each of their labels.
        texts: the number of texts.
    """

    text: np.ndarray
    is_hit: np.ndarray
    ends: np.ndarray
    actual: np.ndarray
    texts: int

    @classmethod
    def of(cls, labels: PredictedLabels, label: str | None) -> "PrecisionRecallCurve":
        """The curve of a label, or of all labels."""
        is_member = np.ones(len(labels.label), bool)
        if label is not None:
            is_member = labels.label == labels.names.index(label)
        rows = np.flatnonzero(is_member & labels.is_predicted)
        rows = rows[np.argsort(-labels.score[rows], kind="stable")]
        scores = labels.score[rows]
        ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)[: len(rows)])
        actual = labels.text[is_member & labels.is_actual]
        return cls(labels.text[rows], labels.kind[rows] == BOTH, ends, actual, len(labels))

    def value(self, metric: LabelMetric) -> float | None:
        """An operating point; None if no text has the label."""
        return self.best(metric, np.ones(self.texts)) if len(self.actual) else None

    def interval(self, metric: LabelMetric) -> Interval:
        """Its bootstrap interval over texts."""
        if self.texts < MIN_ITEMS or not len(self.actual):
            return NO_INTERVAL
        group = group_of(self.texts)
        values = [
            self.best(metric, weights[group]) for block in bootstrap_weights(int(group.max()) + 1) for weights in block
        ]
        return percentiles(np.array(values))

    def best(self, metric: LabelMetric, weights: np.ndarray) -> float:
        """An operating point where texts count as often as their weights say, (texts,); NaN if it is undefined."""
        counts, total = weights[self.text], weights[self.actual].sum()
        if not total:
            return np.nan
        hits, predicted = np.cumsum(counts * self.is_hit)[self.ends], np.cumsum(counts)[self.ends]
        hits, predicted = hits[predicted > 0], predicted[predicted > 0]
        precision, recall = np.append(hits / predicted, 1.0), np.append(hits / total, 0.0)
        assert metric.level is not None
        if metric.name == PRECISION_AT_RECALL:
            return float(precision[recall >= metric.level / 100].max(initial=0.0))
        return float(recall[precision >= metric.level / 100].max(initial=0.0))
