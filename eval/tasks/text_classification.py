"""Classification of texts: predicted labels compared with those of labelled texts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.reading.sources import Source, resolve_source
from embeddings.eval.statistics.results import ItemScores
from embeddings.eval.tasks.evaluation_kind import Kind, KindSettings, Subject, several
from embeddings.eval.tasks.label_scores import LabelMetric, LabelScores, predict_labels
from embeddings.eval.test_sets import ALL, Half, select_texts
from embeddings.settings import Range


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


@dataclass(frozen=True)
class LabelledFile:
    """Labelled texts, which are read for each classifier in batches, and the metrics by which they are scored."""

    sources: list[Source]
    name: str
    settings: LabelSettings
    metrics: list[LabelMetric]


def read_labelled_file(source: Any, settings: LabelSettings) -> LabelledFile:
    """Labelled texts, not read yet: a file of lines or a table, or an iterable of lines or mappings.

    Raises:
        CorpusError: there is no such file.
        SettingError: a metric is unknown.
    """
    sources = resolve_source(source)
    metrics = [LabelMetric.parse(one, settings.label_prefix) for one in settings.metrics]
    name = Path(source).name if isinstance(source, str | os.PathLike) else sources[0].name
    return LabelledFile(sources, name, settings, metrics)


def score_labels(subject: Subject, test: LabelledFile) -> list[ItemScores]:
    """The scores of a classifier on labelled texts, and its confusions; memory grows by a few bytes a text.

    Raises:
        CorpusError: the texts cannot be read, or none has a label.
    """
    own = test.settings
    form = LabelFormat(own.label_prefix, own.text_column, own.label_column, own.label_separator)
    batches = form.read(test.sources, encoding=own.encoding, encoding_errors=own.encoding_errors)
    if own.half != ALL:
        batches = (select_texts(batch, own.half) for batch in batches)
    predictions = predict_labels(
        subject.classifier,
        batches,
        own.k,
        own.threshold,
        prefix=own.label_prefix,
        threads=own.threads,
        source=test.name,
    )
    return LabelScores(predictions, test.name, subject.name, own.k, own.threshold, test.metrics, own.half).scores()


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
