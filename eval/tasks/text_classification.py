"""Classification of texts: predicted labels compared with those of labelled texts."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.reading.sources import resolve_source
from embeddings.eval.statistics.results import ItemScores
from embeddings.eval.tasks.evaluation_kind import Kind, KindSettings, Subject, several
from embeddings.eval.tasks.label_scores import LabelMetric, LabelScores, predict_labels
from embeddings.eval.test_sets import ALL, Half, select_texts
from embeddings.models.loading import load_classifier
from embeddings.models.model import Model
from embeddings.settings import Range
from embeddings.support.progress_display import MEGABYTES, ProgressOption, showing

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor


@dataclass(frozen=True, kw_only=True)
class LabelSettings(KindSettings):
    """How labels are written and predicted; see `embeddings.evaluate`."""

    k: Annotated[int, Range(ge=-1)] = 1
    threshold: Annotated[float, Range(ge=0, le=1)] = 0.0
    metrics: Sequence[str] = several((), str)
    label_prefix: str = PREFIX
    label_separator: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    half: Half = ALL
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    threads: int | None = None


def evaluate_classifier(
    classifier: Union["LabelPredictor", Model, str, os.PathLike[str]],
    source: str | os.PathLike[str] | Iterable[Any], *,
    progress: ProgressOption = None, name: str | None = None, **settings: Any,
) -> LabelScores:  # fmt: skip
    """Compare the labels of texts with the predictions of a classifier; `results()` has all scores.

    The texts are read in batches; memory grows with their number by a few bytes each. Texts without labels are left
    out, and counted in `predictions.unlabelled`.

    Arguments:
        classifier: a classifier, or the path of one.
        source: a file of lines with labels as for fastText, a table, or an iterable of such lines or of mappings.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of bytes read, as stored on disk, and the total.
        name: what results call the classifier; by default its path.
        settings: k, threshold, metrics, label_prefix, label_separator, text_column, label_column, half, encoding,
            encoding_errors and threads, as in `evaluate`.

    Raises:
        SettingError: an argument is out of range.
        CorpusError: the texts cannot be read, or none has a label.
        FormatError: the classifier cannot be read.
    """
    own = LabelSettings(**settings)
    form = LabelFormat(own.label_prefix, own.text_column, own.label_column, own.label_separator)
    sources, metrics = resolve_source(source), [LabelMetric.parse(metric, own.label_prefix) for metric in own.metrics]
    if isinstance(classifier, str | os.PathLike):
        name = name or Path(classifier).name
        classifier = load_classifier(classifier, errors=own.encoding_errors)
    elif isinstance(classifier, Model):
        classifier = classifier.classifier
    title = Path(source).name if isinstance(source, str | os.PathLike) else sources[0].name
    with showing(progress, "predicting", MEGABYTES) as shown:
        batches = form.read(sources, encoding=own.encoding, encoding_errors=own.encoding_errors, report=shown)
        if own.half != ALL:
            batches = (select_texts(batch, own.half) for batch in batches)
        predictions = predict_labels(
            classifier, batches, own.k, own.threshold, prefix=own.label_prefix, threads=own.threads, source=title
        )
    return LabelScores(predictions, title, name or "classifier", own.k, own.threshold, metrics, own.half)


@dataclass(frozen=True)
class LabelledFile:
    """Labelled texts, which are read for each classifier, and the settings of `evaluate_classifier`."""

    source: Any
    settings: LabelSettings


def read_labelled_file(source: Any, settings: LabelSettings) -> LabelledFile:
    """Refuse a missing file or an unknown metric."""
    resolve_source(source)
    for metric in settings.metrics:
        LabelMetric.parse(metric, settings.label_prefix)
    return LabelledFile(source, settings)


def score_labels(subject: Subject, test: LabelledFile) -> list[ItemScores]:
    """The scores of a classifier on labelled texts, and its confusions."""
    scores = evaluate_classifier(subject.classifier, test.source, name=subject.name, **vars(test.settings))
    return scores.item_scores()


KIND = Kind(
    name="labels",
    metavar="FILE...",
    read=read_labelled_file,
    score=score_labels,
    settings=LabelSettings,
    options={
        "k": "--top k", "threshold": None, "metrics": "--metric metrics METRIC...", "label_prefix": "TEXT",
        "text_column": "NAME", "label_column": "NAME", "label_separator": "TEXT", "encoding": "NAME", "half": "HALF",
    },
    of_words=False,
)  # fmt: skip
