"""Evaluate a text classifier on labelled texts in one call."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.reading.reader import Report
from embeddings.corpora.reading.sources import resolve_source
from embeddings.eval.datasets.halves import ALL, check_half, select_texts
from embeddings.eval.measures.label_metrics import LabelMetric
from embeddings.eval.measures.label_scores import LabelScores
from embeddings.eval.measures.predicted_labels import Ranker, predict_labels
from embeddings.models.loading import load_classifier

Classifier = Ranker | str | os.PathLike[str]


def evaluate_classifier(
    classifier: Classifier, source: str | os.PathLike[str] | Iterable[Any], *, k: int = 1, threshold: float = 0.0,
    label_prefix: str = PREFIX, label_separator: str | None = None, text_column: str | None = None,
    label_column: str | None = None, metrics: Iterable[str] = (), encoding: str = "utf-8",
    encoding_errors: str = "strict", half: str = ALL, threads: int | None = None, report: Report | None = None,
    name: str | None = None,
) -> LabelScores:  # fmt: skip
    """Compare the labels of texts with those that a classifier predicts; `results()` has all scores.

    The texts are read in batches; memory grows with their number by a few bytes each. Texts without labels are left
    out, and counted in `predictions.unlabelled`.

    Arguments:
        classifier: a classifier, or the path of one.
        source: a file of lines with labels as for fastText, a table, or an iterable of such lines or of mappings.
        k: the maximum number of predicted labels; -1 for all.
        threshold: the minimum probability of a predicted label.
        label_prefix: begins the words of a line that are labels; the names of labels are compared without it.
        label_separator: separates several labels in a cell of a table; see `LabelFormat` for it and the columns.
        text_column: the text column of a table; by default `text`, or the only other column of strings.
        label_column: the label column of a table; by default `label`.
        metrics: further metrics to report, such as "recall-at-precision:90:sport"; see `LabelMetric.parse`.
        encoding: the encoding of the texts, such as "cp1252".
        encoding_errors: "strict", "replace" or "ignore" for bytes that are invalid in it.
        half: "dev" or "test" for half of the texts, which a hash of each text fixes; see
            `embeddings.eval.datasets.halves`.
        threads: by default all cores.
        report: called with the number of bytes read, as stored on disk, and their total.
        name: what results call the classifier; by default its path.

    Raises:
        SettingError: an argument is out of range.
        CorpusError: the texts cannot be read, or none has a label.
        FormatError: the classifier cannot be read.
    """
    form = LabelFormat(label_prefix, text_column, label_column, label_separator)
    sources, label_metrics = resolve_source(source), [LabelMetric.parse(metric, label_prefix) for metric in metrics]
    if isinstance(classifier, str | os.PathLike):
        name = name or Path(classifier).name
        ranker: Ranker = load_classifier(classifier, errors=encoding_errors)
    else:
        ranker = classifier
    batches = form.read(sources, encoding=encoding, encoding_errors=encoding_errors, report=report)
    if check_half(half) != ALL:
        batches = (select_texts(batch, half) for batch in batches)
    title = Path(source).name if isinstance(source, str | os.PathLike) else sources[0].name
    predictions = predict_labels(ranker, batches, k, threshold, prefix=label_prefix, threads=threads, source=title)
    return LabelScores(predictions, title, name or "classifier", k, threshold, label_metrics, half)
