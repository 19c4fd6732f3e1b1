"""Scores classifiers of a search by the labels that they predict for validation texts."""

from dataclasses import dataclass
from typing import Any

from embeddings.corpora.reading.labelled_texts import LabelFormat, LabelledTexts
from embeddings.corpora.reading.sources import resolve_source
from embeddings.eval.measures.label_metrics import MACRO_F1, LabelMetric, PrecisionRecallCurve
from embeddings.eval.measures.label_scores import counts_by, macro_f1
from embeddings.eval.measures.predicted_labels import PredictedLabels, Ranker, predict_labels
from embeddings.eval.tuning.search import TuningError


@dataclass(frozen=True)
class LabelJudge:
    """Scores classifiers on validation texts, which are kept in memory."""

    batches: list[LabelledTexts]
    metric: LabelMetric
    prefix: str
    k: int = 1
    threads: int | None = None

    @classmethod
    def read(
        cls, source: Any, form: LabelFormat, metric: str, *, k: int = 1, threads: int | None = None,
        encoding: str = "utf-8", encoding_errors: str = "strict",
    ) -> "LabelJudge":  # fmt: skip
        """Read the validation texts; arguments are those of `evaluate_classifier`, and `LabelMetric.parse`."""
        wanted = LabelMetric.parse(metric, form.prefix)
        batches = list(form.read(resolve_source(source), encoding=encoding, encoding_errors=encoding_errors))
        return cls(batches, wanted, form.prefix, k, threads)

    def __call__(self, classifier: Ranker) -> float:
        """The score of a classifier."""
        labels = predict_labels(classifier, self.batches, self.k, prefix=self.prefix, threads=self.threads)
        return score(self.metric, labels)


def score(metric: LabelMetric, labels: PredictedLabels) -> float:
    """The value of a metric; 0 if nothing is predicted.

    Raises:
        TuningError: the metric is of a label that neither the training nor the validation texts have.
    """
    if metric.label is not None and metric.label not in labels.names:
        raise TuningError(f"neither the training nor the validation texts have the label {metric.label!r}")
    if metric.level is not None:
        return PrecisionRecallCurve.of(labels, metric.label).value(metric) or 0.0
    counts = counts_by(labels.label, labels, len(labels.names))
    if metric.name == MACRO_F1:
        return macro_f1(*counts)
    columns = slice(None) if metric.label is None else labels.names.index(metric.label)
    hits, actual, predicted = (int(column[columns].sum()) for column in counts)
    parts = {"f1": (2 * hits, actual + predicted), "precision": (hits, predicted), "recall": (hits, actual)}
    numerator, denominator = parts[metric.name]
    return numerator / denominator if denominator else 0.0
