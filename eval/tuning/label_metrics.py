"""What a search for a classifier's settings maximises: a metric of the labels predicted for validation texts."""

from dataclasses import dataclass
from typing import Any

from embeddings.corpora.reading.labelled_texts import LabelFormat, LabelledTexts
from embeddings.corpora.reading.sources import resolve_source
from embeddings.errors import SettingError
from embeddings.eval.measures.label_scores import counts_by, macro_f1
from embeddings.eval.measures.predicted_labels import PredictedLabels, Ranker, predict_labels
from embeddings.eval.tuning.search import TuningError

METRICS = ("f1", "macro-f1", "precision", "recall")


@dataclass(frozen=True)
class LabelMetric:
    """A metric: "f1", "precision" or "recall", micro-averaged or of one label ("f1:LABEL"), or "macro-f1"."""

    name: str
    label: str | None = None

    @classmethod
    def parse(cls, text: str, prefix: str) -> "LabelMetric":
        """The metric that a string such as "f1:sport" names; the prefix of labels may be given."""
        name, has_label, label = text.partition(":")
        if name not in METRICS or (has_label and (name == "macro-f1" or not label)):
            raise SettingError(f"the metric must be one of {', '.join(METRICS)}, or f1:LABEL, got {text!r}")
        return cls(name, label.removeprefix(prefix) if has_label else None)

    def value(self, labels: PredictedLabels) -> float:
        """The value for predictions; 0 if nothing is predicted."""
        counts = counts_by(labels.label, labels, len(labels.names))
        if self.name == "macro-f1":
            return macro_f1(*counts)
        if self.label is not None and self.label not in labels.names:
            raise TuningError(f"neither the training nor the validation texts have the label {self.label!r}")
        columns = slice(None) if self.label is None else labels.names.index(self.label)
        hits, actual, predicted = (int(column[columns].sum()) for column in counts)
        parts = {"f1": (2 * hits, actual + predicted), "precision": (hits, predicted), "recall": (hits, actual)}
        numerator, denominator = parts[self.name]
        return numerator / denominator if denominator else 0.0


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
        """Read the validation texts; arguments are those of `evaluate_classifier`."""
        wanted = LabelMetric.parse(metric, form.prefix)
        batches = list(form.read(resolve_source(source), encoding=encoding, encoding_errors=encoding_errors))
        return cls(batches, wanted, form.prefix, k, threads)

    def __call__(self, classifier: Ranker) -> float:
        """The score of a classifier."""
        labels = predict_labels(classifier, self.batches, self.k, prefix=self.prefix, threads=self.threads)
        return self.metric.value(labels)
