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
from embeddings.eval.test_sets import ALL, Half, check_half, select_texts
from embeddings.models.loading import load_classifier
from embeddings.settings import Range
from embeddings.support.progress_display import MEGABYTES, ProgressOption, showing

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor


def evaluate_classifier(
    classifier: Union["LabelPredictor", str, os.PathLike[str]], source: str | os.PathLike[str] | Iterable[Any], *,
    k: Annotated[int, Range(ge=-1)] = 1, threshold: Annotated[float, Range(ge=0, le=1)] = 0.0,
    label_prefix: str = PREFIX, label_separator: str | None = None, text_column: str | None = None,
    label_column: str | None = None, metrics: Iterable[str] = (), encoding: str = "utf-8",
    encoding_errors: str = "strict", half: str = ALL, threads: int | None = None,
    progress: ProgressOption = None, name: str | None = None,
) -> LabelScores:  # fmt: skip
    """Compare the labels of texts with the predictions of a classifier; `results()` has all scores.

    The texts are read in batches; memory grows with their number by a few bytes each. Texts without labels are left
    out, and counted in `predictions.unlabelled`.

    Arguments:
        classifier: a classifier, or the path of one.
        source: a file of lines with labels as for fastText, a table, or an iterable of such lines or of mappings.
        k: maximum number of labels per text; -1 for all.
        threshold: minimum probability of a label.
        label_prefix: begins the words of a line that are labels; the names of labels are compared without it.
        label_separator: separates several labels in a cell of a table; see `LabelFormat` for it and the columns.
        text_column: the text column of a table; by default `text`, or the only other column of strings.
        label_column: the label column of a table; by default `label`.
        metrics: also report precision-at-recall:PERCENT or recall-at-precision:PERCENT, of one label with :LABEL behind
            it, or a score of one label, as in f1:LABEL.
        encoding: the encoding of the texts, such as "cp1252".
        encoding_errors: "strict", "replace" or "ignore" for bytes that are invalid in it.
        half: "dev" or "test" for half of the texts, which a hash of each text fixes; see
            `embeddings.eval.test_sets`.
        threads: by default all cores.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of bytes read, as stored on disk, and the total.
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
        classifier = load_classifier(classifier, errors=encoding_errors)
    title = Path(source).name if isinstance(source, str | os.PathLike) else sources[0].name
    with showing(progress, "predicting", MEGABYTES) as shown:
        batches = form.read(sources, encoding=encoding, encoding_errors=encoding_errors, report=shown)
        if check_half(half) != ALL:
            batches = (select_texts(batch, half) for batch in batches)
        predictions = predict_labels(
            classifier, batches, k, threshold, prefix=label_prefix, threads=threads, source=title
        )
    return LabelScores(predictions, title, name or "classifier", k, threshold, label_metrics, half)


@dataclass(frozen=True, kw_only=True)
class LabelSettings(KindSettings):
    """How labels are written and predicted; see `embeddings.evaluate`."""

    k: Annotated[int, Range(ge=-1)] = 1
    threshold: Annotated[float, Range(ge=0, le=1)] = 0.0
    metrics: Sequence[str] = several((), lambda name, value: [value] if isinstance(value, str) else list(value))
    label_prefix: str = PREFIX
    label_separator: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    half: Half = ALL
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    threads: int | None = None


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
