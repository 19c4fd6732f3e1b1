"""Scores classifiers of a search by the labels that they predict for labelled texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.labelled_texts import LabelFormat, LabelledTexts
from embeddings.corpora.reading.sources import resolve_source
from embeddings.errors import SettingError
from embeddings.eval.datasets.halves import ALL, DEV, TEST, select_texts
from embeddings.eval.measures.label_comparison import compare_labels
from embeddings.eval.measures.label_metrics import MACRO_F1, LabelMetric, PrecisionRecallCurve
from embeddings.eval.measures.label_scores import LabelScores, counts_by, macro_f1
from embeddings.eval.measures.predicted_labels import PredictedLabels, Ranker, predict_labels
from embeddings.eval.statistics.paired_tests import Comparison
from embeddings.eval.statistics.results import Result
from embeddings.eval.tuning.fingerprints import content_fingerprint
from embeddings.eval.tuning.model_size import quantize_to_size
from embeddings.eval.tuning.trials import Judgement, TuningError
from embeddings.models.model import Model
from embeddings.training.trainer import Trainer


@dataclass(frozen=True)
class LabelJudge:
    """Scores classifiers on labelled texts, which are kept in memory."""

    batches: list[LabelledTexts]
    metric: LabelMetric
    prefix: str
    k: int = 1
    threads: int | None = None

    @classmethod
    def read(
        cls, source: Any, form: LabelFormat, metric: str, *, k: int = 1, half: str = ALL, threads: int | None = None,
        encoding: str = "utf-8", encoding_errors: str = "strict",
    ) -> "LabelJudge":  # fmt: skip
        """Read the texts; arguments are those of `evaluate_classifier`, and `LabelMetric.parse`."""
        wanted = LabelMetric.parse(metric, form.prefix)
        batches = form.read(resolve_source(source), encoding=encoding, encoding_errors=encoding_errors)
        return cls([select_texts(batch, half) for batch in batches], wanted, form.prefix, k, threads)

    def __call__(self, classifier: Ranker) -> float:
        """The score of a classifier."""
        return score(self.metric, self.predict(classifier))

    def predict(self, classifier: Ranker) -> PredictedLabels:
        """The labels that a classifier predicts."""
        return predict_labels(classifier, self.batches, self.k, prefix=self.prefix, threads=self.threads)


@dataclass(frozen=True)
class LabelMetricOfTexts:
    """A score of labels, of classifiers that are quantised first if their size is limited; see `Metric`."""

    dev: LabelJudge
    held_back: LabelJudge | None
    name: str
    size: int | None
    seed: int
    fixed: Sequence[str] = ()

    @classmethod
    def read(
        cls, source: Any, corpus: Corpus, metric: str, *, half: str = DEV, k: int, size: int | None,
        threads: int | None, seed: int,
    ) -> "LabelMetricOfTexts":  # fmt: skip
        """Read labelled texts, which are written as those of the corpus.

        Arguments:
            half: "dev", or "all" of the texts, of which none are then held back.

        Raises:
            SettingError: the metric is unknown, or a half of the texts is empty.
            CorpusError: the texts cannot be read.
        """
        assert corpus.labels is not None
        LabelMetric.parse(metric, corpus.labels.prefix)
        sources = resolve_source(source)
        read = corpus.labels.read(sources, encoding=corpus.encoding, encoding_errors=corpus.encoding_errors)
        batches, wanted = list(read), LabelMetric.parse(metric, corpus.labels.prefix)
        judges = []
        for one in (ALL,) if half == ALL else (DEV, TEST):
            part = [select_texts(batch, one) for batch in batches]
            if not any(batch.labels for batch in part):
                place = sources[0].name if one == ALL else f"the {one} half of {sources[0].name}"
                raise SettingError(f"{place} has no labels: use more texts with labels")
            judges.append(LabelJudge(part, wanted, corpus.labels.prefix, k, threads))
        return cls(judges[0], None if half == ALL else judges[1], sources[0].name, size, seed)

    @property
    def description(self) -> str:
        """The metric and the texts."""
        metric = self.dev.metric
        name = str(metric) if metric.label is None else f"{metric}:{metric.label}"
        part = "all texts" if self.held_back is None else "the dev half"
        return f"{name} on {part} of {self.name}"

    @property
    def fingerprint(self) -> str:
        """What identifies the texts and labels of all parts."""
        parts = [one.batches for one in (self.dev, self.held_back) if one is not None]
        content = [
            [[sha256(text.data).hexdigest(), text.starts, text.labels, text.label_starts] for text in batches]
            for batches in parts
        ]
        return content_fingerprint(content)

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The whole text."""
        return encoded

    def judge(self, model: Model) -> Judgement:
        """Score a classifier by the dev half, or all texts."""
        if self.size is None:
            return Judgement(self.dev(model.classifier), model)
        small, cutoff = quantize_to_size(model.classifier, self.size, self.seed)
        return Judgement(self.dev(small), small, {"cutoff": cutoff})

    def test(self, results: dict[str, Any]) -> tuple[list[Result], list[Comparison]]:
        """Score classifiers, and the most frequent labels, by the test half."""
        judge, scores = self.held_back, list[LabelScores]()
        if judge is None:
            return [], []
        for name, result in results.items():
            predictions = judge.predict(result.classifier if isinstance(result, Model) else result)
            scores.append(LabelScores(predictions, self.name, name, judge.k, 0.0, [judge.metric], TEST))
        lines = [line for one in scores for line in one.results() if line.section is None and not line.is_detail]
        pairs = [compare_labels(scores[0], other) for other in scores[1:]]
        return list(dict.fromkeys(lines)), [line for pair in pairs for line in pair]


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
