"""Predicted labels and their scores: precision-recall curves, calibration, and paired tests of two classifiers."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelledTexts
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.statistics.confidence_intervals import (
    MAX_CACHED,
    MIN_ITEMS,
    NO_INTERVAL,
    Interval,
    bootstrap_weights,
    divide_or_nan,
    percentiles,
    ratio_interval,
    ratios,
    wilson,
)
from embeddings.eval.statistics.results import Comparison, ItemScores, Key, Measurement, Resampled
from embeddings.support.imports import import_library

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor

ACTUAL, PREDICTED, BOTH = 1, 2, 3
NO_LABEL = -1
COLUMN_TYPES = (np.int64, np.int32, np.uint8, np.float32, np.int32, np.int32, np.float32)  # of `PredictedLabels`


@dataclass(frozen=True, eq=False)
class PredictedLabels:
    """Labelled texts and their predictions.

    Arguments:
        names: the labels of the classifier without prefix, then labels of the texts that it does not know.
        known: the number of labels of the classifier.
        unlabelled: the number of texts without labels, which are left out.
        text: int64 (pairs,), the numbers of the texts of all pairs of a text and a label of it, in ascending order.
        label: int32 (pairs,), the labels of these pairs.
        kind: uint8 (pairs,), whether the label is ACTUAL, PREDICTED or BOTH.
        score: float32 (pairs,), the probability of a predicted label; 0 for others.
        first: int32 (texts,), the first predicted label of each text; `NO_LABEL` for none.
        best: int32 (texts,), the most probable label, whatever the threshold is; `NO_LABEL` if the classifier knows no
            word of the text.
        confidence: float32 (texts,), its probability.
    """

    names: list[str]
    known: int
    unlabelled: int
    text: NDArray[np.int64]
    label: NDArray[np.int32]
    kind: NDArray[np.uint8]
    score: NDArray[np.float32]
    first: NDArray[np.int32]
    best: NDArray[np.int32]
    confidence: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def is_actual(self) -> NDArray[np.bool_]:
        """Which pairs are labels of the texts, (pairs,)."""
        return np.asarray(self.kind & ACTUAL > 0)

    @property
    def is_predicted(self) -> NDArray[np.bool_]:
        """Which pairs are predicted, (pairs,)."""
        return np.asarray(self.kind & PREDICTED > 0)

    def known_part(self) -> "PredictedLabels":
        """Texts with a known word and a known label, and their pairs with known labels."""
        is_known = self.label < self.known
        has_label = np.bincount(self.text, weights=is_known & self.is_actual, minlength=len(self)) > 0
        keep = has_label & (self.best != NO_LABEL)
        pairs = is_known & keep[self.text]
        number = np.cumsum(keep) - 1
        return PredictedLabels(
            self.names[: self.known], self.known, self.unlabelled, number[self.text[pairs]], self.label[pairs],
            self.kind[pairs], self.score[pairs], self.first[keep], self.best[keep], self.confidence[keep],
        )  # fmt: skip


def predict_labels(
    classifier: "LabelPredictor",
    batches: Iterable[LabelledTexts],
    k: int = 1,
    threshold: float = 0.0,
    *,
    prefix: str = PREFIX,
    threads: int | None = None,
    source: str = "the source",
) -> PredictedLabels:
    """Predict the labels of texts, with the arguments and errors of `LabelPredictor.predict`.

    Raises:
        CorpusError: no text has a label.
    """
    from embeddings.classifier.classifier import texts_at_a_time  # imports numba

    names = [name.removeprefix(prefix) for name in classifier.labels]
    number_of, known = {name: number for number, name in enumerate(names)}, len(names)
    size = texts_at_a_time(k, known)
    texts = unlabelled = 0
    columns: list[Any] = [[np.zeros(0, dtype)] for dtype in COLUMN_TYPES]
    for batch in batches:
        source = batch.source
        for begin in range(0, len(batch), size):
            part = batch.part(begin, begin + size)
            ids, probabilities = classifier.rank(part.data, part.starts, k, threshold, threads=threads)
            # calibration is of the most probable label, whether it passes the threshold or not
            best = (ids, probabilities) if not threshold else classifier.rank(part.data, part.starts, threads=threads)
            sizes = np.array(list(map(len, part.labels)), np.int64)
            keep = sizes > 0
            rows = np.cumsum(keep) - 1  # of the labelled texts of this part
            for name in [one for one in dict.fromkeys(chain.from_iterable(part.labels)) if one not in number_of]:
                number_of[name] = len(names)
                names.append(name)
            labels = (number_of[name] for name in chain.from_iterable(part.labels))
            actual = np.fromiter(labels, np.int64, sizes.sum())
            predicted = ids[keep]
            row, column = np.nonzero(predicted != NO_LABEL)
            # a text and a label in one integer, so that sets of pairs are sorted and merged as numbers
            guesses = row << 32 | predicted[row, column]
            order = np.argsort(guesses)
            pairs = np.unique(rows[np.repeat(np.arange(len(sizes)), sizes)] << 32 | actual)
            text, label, kind, is_guess = merged_pairs(pairs, guesses[order])
            score = np.zeros(len(text), np.float32)
            score[is_guess] = probabilities[keep][row, column][order]
            values = text + texts, label, kind, score, predicted[:, 0], best[0][keep, 0], best[1][keep, 0]
            for parts, value, dtype in zip(columns, values, COLUMN_TYPES, strict=True):
                parts.append(value.astype(dtype))
            texts, unlabelled = texts + int(keep.sum()), unlabelled + int((~keep).sum())
    if not texts:
        raise CorpusError(
            f"{source} has no labels: expected words that begin with {prefix}, or a table with a label column"
        )
    return PredictedLabels(names, known, unlabelled, *map(np.concatenate, columns))


def merged_pairs(
    actual: NDArray[np.int64], predicted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.bool_]]:
    """The texts, labels and kinds of pairs, each once, and which are predicted.

    Arguments:
        actual, predicted: `text << 32 | label`, ascending.
    """
    both = np.union1d(actual, predicted)
    is_actual, is_predicted = (np.isin(both, pairs, assume_unique=True) for pairs in (actual, predicted))
    kind = (ACTUAL * is_actual + PREDICTED * is_predicted).astype(np.uint8)
    return both >> 32, (both & 0xFFFFFFFF).astype(np.int32), kind, is_predicted


def group_of(items: int) -> NDArray[np.int64]:
    """The group of each item: itself, or of very many items one of `MAX_CACHED` random ones.

    Sums of random groups of independent items vary between resamples as the items do.
    """
    if items <= MAX_CACHED:
        return np.arange(items)
    return np.random.default_rng(1).permutation(items) % MAX_CACHED


def group_sums(columns: np.ndarray) -> np.ndarray:
    """The sums of the rows of each group, (groups, columns)."""
    group = group_of(len(columns))
    return np.stack([np.bincount(group, column) for column in columns.T], axis=1)


MACRO_F1 = "macro-f1"
PRECISION_AT_RECALL, RECALL_AT_PRECISION = "precision-at-recall", "recall-at-precision"
AVERAGES = ("f1", MACRO_F1, "precision", "recall")
OPERATING_POINTS = (PRECISION_AT_RECALL, RECALL_AT_PRECISION)
PERCENT = re.compile(r"\d+(\.\d*)?")
FORMS = "f1, macro-f1, precision, recall, precision-at-recall:PERCENT or recall-at-precision:PERCENT (0 to 100)"


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
        if name in OPERATING_POINTS:
            percent, *rest = rest[0].split(":", 1) if rest else [""]
            level = float(percent) if PERCENT.fullmatch(percent) else None
        is_known = level is not None and level <= 100 if name in OPERATING_POINTS else name in AVERAGES
        if not is_known or rest == [""] or (rest and name == MACRO_F1):
            raise SettingError(f"the metric must be one of {FORMS}, each but macro-f1 also with :LABEL, got {text!r}")
        return cls(name, rest[0].removeprefix(prefix) if rest else None, level)

    def __str__(self) -> str:
        return self.name if self.level is None else f"{self.name}:{self.level:g}"

    def check_label(self, labels: PredictedLabels) -> None:
        """Refuse a label that neither the classifier nor the texts have."""
        if self.label is not None and self.label not in labels.names:
            raise SettingError(f"neither the classifier nor the texts have the label {self.label!r}")

    def score(self, labels: PredictedLabels) -> float:
        """The value of the metric; 0 if nothing is predicted.

        Raises:
            SettingError: the metric is of a label that neither the classifier nor the texts have.
        """
        self.check_label(labels)
        if self.level is not None:
            best = precision_recall_curve(labels, self)
            return 0.0 if best is None else best(np.ones(len(labels)))
        counts = label_counts(labels)
        if self.name == MACRO_F1:
            return macro_f1(*counts)
        columns = slice(None) if self.label is None else labels.names.index(self.label)
        hits, actual, predicted = (int(column[columns].sum()) for column in counts)
        parts = {"f1": (2 * hits, actual + predicted), "precision": (hits, predicted), "recall": (hits, actual)}
        numerator, denominator = parts[self.name]
        return numerator / denominator if denominator else 0.0


def precision_recall_curve(
    labels: PredictedLabels, metric: LabelMetric
) -> Callable[[NDArray[np.float64]], float] | None:
    """A function that gives an operating point where texts count as often as their weights say, (texts,).

    The curve orders the predictions of a label, or of all, by descending probability. It has a point after each group
    of equal probabilities, and one of precision 1 and recall 0. The function gives NaN if all texts with the label have
    weight 0; None is returned if there are no such texts.
    """
    is_member = np.ones(len(labels.label), bool)
    if metric.label is not None:
        is_member = labels.label == labels.names.index(metric.label)
    rows = np.flatnonzero(is_member & labels.is_predicted)
    rows = rows[np.argsort(-labels.score[rows], kind="stable")]
    scores, text, is_hit = labels.score[rows], labels.text[rows], labels.kind[rows] == BOTH
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)[: len(rows)])
    actual = labels.text[is_member & labels.is_actual]  # once for each label of a text
    assert metric.level is not None
    level = metric.level / 100

    def best(weights: NDArray[np.float64]) -> float:
        counts, total = weights[text], weights[actual].sum()
        if not total:
            return float("nan")
        hits, predicted = np.cumsum(counts * is_hit)[ends], np.cumsum(counts)[ends]
        hits, predicted = hits[predicted > 0], predicted[predicted > 0]
        precision, recall = np.append(hits / predicted, 1.0), np.append(hits / total, 0.0)
        reached, wanted = (recall, precision) if metric.name == PRECISION_AT_RECALL else (precision, recall)
        return float(wanted[reached >= level].max(initial=0.0))

    return best if len(actual) else None


def operating_point(labels: PredictedLabels, metric: LabelMetric) -> tuple[float | None, Interval]:
    """The value of an operating point and its bootstrap interval over texts; None if no text has the label."""
    best = precision_recall_curve(labels, metric)
    if best is None:
        return None, NO_INTERVAL
    value = best(np.ones(len(labels)))
    if len(labels) < MIN_ITEMS:
        return value, NO_INTERVAL
    group = group_of(len(labels))
    blocks = bootstrap_weights(int(group.max()) + 1)
    return value, percentiles(np.array([best(weights[group]) for block in blocks for weights in block]))


BINS = 15  # of the calibration error, of equal width
LABEL_BLOCK = 512  # labels whose resampled counts are in memory at a time
KNOWN = "known to the classifier"
CALIBRATION, CONFUSION = "calibration error", "confusion"
N_CONFUSIONS = 10  # that are no details
N_UNKNOWN = 5  # labels that a note names
MAJORITY = "the most frequent labels"
PROTOCOL = (
    "micro-averaged over texts with labels; {threshold}; a text of which the classifier knows no word, not even </s> "
    "at its end, is predicted no label, and labels that it does not know count in recall; fastText's test leaves out "
    f"both, as the section '{KNOWN}' does; F1: 2 hits / (labels + predictions); macro: the mean over labels that occur "
    f"or are predicted; calibration error: of the most probable label, {BINS} bins of equal width; interval: Wilson's "
    "where each text counts at most once, else bootstrap over texts"
)


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

    def scores(self) -> list[ItemScores]:
        """Scores of each label (section), of what the classifier knows, if that differs, of all texts, and confusions.

        Raises:
            SettingError: a metric is of a label that neither the classifier nor the texts have.
        """
        everything, known = self.predictions, self.predictions.known_part()
        by_label, overall = list(self.by_label()), list(self.overall(everything))
        scores: list[ItemScores] = [*by_label]
        if len(known.text) != len(everything.text) and len(known):
            scores += self.overall(known, KNOWN)
        scores += [*overall, *self.overall(self.majority(), None, MAJORITY)]
        scores += [self.requested(metric, [*by_label, *overall]) for metric in self.metrics]
        scores += [self.calibration(), *self.confusions()]
        return list({one.key: one for one in scores}.values())  # a requested metric may be there already

    def overall(
        self, labels: PredictedLabels, section: str | None = None, method: str | None = None
    ) -> Iterator[Measurement]:
        """Micro-averaged precision, recall and F1, and macro-averaged F1; those of all texts can be compared."""
        hits, actual, predicted = counts_by(labels.text, labels, len(labels))
        is_single, resampled = (actual == 1).all() and (predicted == 1).all(), macro_f1_resamples(labels)
        sums = {
            "precision": (hits, predicted),
            "recall": (hits, actual),
            "f1": (hits, actual) if is_single else (2 * hits, actual + predicted),
            "macro-f1": None,
        }
        for measure, columns in sums.items():
            macro = macro_f1(*label_counts(labels)), percentiles(resampled) if len(resampled) else NO_INTERVAL
            row = self.measurement(measure, section, *(macro if columns is None else ratio(*columns)), method=method)
            is_all = labels is self.predictions
            yield LabelMeasure(**vars(row), sums=columns, predictions=labels) if is_all else row

    def confusions(self) -> Iterator[Measurement]:
        """How many texts with a label have which first prediction; all but the most frequent errors are details."""
        _, actual, _ = label_counts(self.predictions)
        texts = dict(zip(self.predictions.names, actual.tolist(), strict=True))
        matrix = confusion_matrix(self.predictions)
        frequent = [one for one in matrix if one[0] != one[1]][:N_CONFUSIONS]
        for label, predicted, count in (*frequent, *(one for one in matrix if one not in frequent)):
            section, is_detail = f"{label} -> {predicted or 'no label'}", (label, predicted, count) not in frequent
            row = self.measurement(CONFUSION, section, *share(count, texts[label]), texts=texts[label])
            yield replace(row, covered=count, key=replace(row.key, is_detail=is_detail))

    def requested(self, metric: LabelMetric, scores: Sequence[Measurement]) -> Measurement:
        """The score of a metric, which may be one of these scores."""
        metric.check_label(self.predictions)
        if metric.level is not None:
            return self.measurement(str(metric), metric.label, *operating_point(self.predictions, metric))
        name = metric.name + self.at_k
        found = (one for one in scores if (one.key.measure, one.key.section) == (name, metric.label))
        row = next(found, self.measurement(metric.name, metric.label, None))
        return replace(row, key=replace(row.key, is_detail=False))

    def by_label(self) -> Iterator[Measurement]:
        """Precision, recall and F1 of each label that occurs or is predicted."""
        counts = [column.tolist() for column in label_counts(self.predictions)]
        for name, hits, actual, predicted in zip(self.predictions.names, *counts, strict=True):
            if actual or predicted:
                yield self.measurement("precision", name, *share(hits, predicted), texts=actual)
                yield self.measurement("recall", name, *share(hits, actual), texts=actual)
                # F1 from the texts that have the label or are predicted it, each of which is a hit or not
                shares = hits / (either := actual + predicted - hits), *wilson(hits, either)
                value, low, high = (2 * jaccard / (1 + jaccard) for jaccard in shares)
                yield self.measurement("f1", name, value, (low, high), texts=actual)

    def majority(self) -> PredictedLabels:
        """The predictions of a baseline: the most frequent labels for each text.

        These are k labels, or as many as the classifier predicts on average if k is -1.
        """
        _, actual, predicted = label_counts(self.predictions)
        k = self.k if self.k > 0 else max(1, round(predicted.sum() / len(self.predictions)))
        best = np.sort(np.argsort(-actual, kind="stable")[:k])
        labels, texts = self.predictions, np.arange(len(self.predictions), dtype=np.int64)
        pairs = labels.text[labels.is_actual] << 32 | labels.label[labels.is_actual]
        text, label, kind, _ = merged_pairs(pairs, (texts[:, None] << 32 | best).ravel())
        return replace(labels, text=text, label=label, kind=kind, score=np.zeros(len(text), np.float32))

    def calibration(self) -> Measurement:
        """The expected calibration error of the most probable label (Guo et al. 2017)."""
        labels = self.predictions
        is_covered = labels.best != NO_LABEL
        if not is_covered.any():
            return self.measurement(CALIBRATION, None, None)
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
        return self.measurement(CALIBRATION, None, value, interval)

    def measurement(
        self, measure: str, section: str | None, value: float | None, interval: Interval = NO_INTERVAL,
        *, texts: int | None = None, method: str | None = None,
    ) -> Measurement:  # fmt: skip
        """A score; its coverage counts texts, for a label the texts that have the label."""
        at_k = self.at_k * (measure not in (CALIBRATION, CONFUSION))
        threshold = f"at most {self.k} labels" if self.k > 0 else "all labels"
        threshold += f" with a probability of at least {self.threshold}" * (self.threshold > 0)
        is_whole = section is None or section == KNOWN
        is_equal = is_whole and measure in ("precision", "recall") and self.is_single  # to F1
        key = Key(
            self.set, measure + at_k, section, method=method, is_detail=texts is not None or is_equal, half=self.half
        )
        return Measurement(
            vectors=self.classifier, key=key, value=value, interval=interval,
            protocol=PROTOCOL.format(threshold=threshold),
            covered=int((self.predictions.best != NO_LABEL).sum()) if texts is None else texts,
            total=len(self.predictions) if texts is None else texts,
            reason=None if value is not None else "nothing is predicted" if measure != "recall" else "does not occur",
            note=self.note if section is None else None,
        )  # fmt: skip

    @cached_property
    def is_single(self) -> bool:
        """Whether each text has one label and one is predicted, so that precision, recall and F1 are equal."""
        labels = self.predictions
        counts = np.bincount(labels.text[labels.is_actual], minlength=len(labels))
        return self.k == 1 and not self.threshold and bool((counts == 1).all())

    @cached_property
    def note(self) -> str | None:
        """What does not count, or cannot be predicted; None if there is nothing."""
        labels = self.predictions
        occurring = set(labels.label[labels.is_actual].tolist())
        unknown = [repr(name) for n, name in enumerate(labels.names) if n >= labels.known and n in occurring]
        shown = ", ".join(unknown[:N_UNKNOWN]) + " and others" * (len(unknown) > N_UNKNOWN)
        count = labels.unlabelled
        notes = [f"{count:,} text{'s' * (count > 1)} without labels left out"] * (count > 0)
        notes += [f"the classifier does not know the labels {shown}, which are never predicted"] * bool(unknown)
        return "; ".join(notes) or None

    @property
    def at_k(self) -> str:
        """The suffix of the names of measures, such as "@1"."""
        return f"@{self.k}" if self.k > 0 else "@all"


def confusion_matrix(labels: PredictedLabels) -> list[tuple[str, str | None, int]]:
    """The pairs of labels and first predictions (None for none) that occur, with their texts, most frequent first.

    A text whose first prediction is one of its labels counts for this label only, another one for each of its labels.
    """
    first = labels.first[labels.text]
    is_hit = labels.is_actual & (labels.label == first)
    has_hit = np.bincount(labels.text[is_hit], minlength=len(labels)) > 0
    counted = is_hit | (labels.is_actual & ~has_hit[labels.text])
    codes = labels.label[counted].astype(np.int64) << 32 | (first[counted] + 1)
    distinct, counts = np.unique(codes, return_counts=True)
    order, names = np.argsort(-counts, kind="stable"), [None, *labels.names]
    pairs = [(labels.names[code >> 32], names[code & 0xFFFFFFFF]) for code in distinct[order].tolist()]
    return [(*pair, count) for pair, count in zip(pairs, counts[order].tolist(), strict=True)]


def counts_by(group: np.ndarray, labels: PredictedLabels, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits, occurrences and predictions of each text or label, int64 (size,)."""
    masks = labels.kind == BOTH, labels.is_actual, labels.is_predicted
    hits, actual, predicted = (np.bincount(group[mask], minlength=size) for mask in masks)
    return hits, actual, predicted


def label_counts(labels: PredictedLabels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits, occurrences and predictions of each label, int64 (labels,)."""
    return counts_by(labels.label, labels, len(labels.names))


def ratio(hits: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[float | None, Interval]:
    """The sum of `hits` divided by the sum of `sizes`, both (texts,), with its interval."""
    if not sizes.sum():
        return None, NO_INTERVAL
    if sizes.max() == 1:
        return share(int(hits.sum()), int(sizes.sum()))
    sums = group_sums(np.stack([hits, sizes], axis=1).astype(np.float64))
    return float(hits.sum() / sizes.sum()), ratio_interval(*sums.T)


def share(hits: int, total: int) -> tuple[float | None, Interval]:
    """A share of independent items and Wilson's interval."""
    return (hits / total, wilson(hits, total)) if total else (None, NO_INTERVAL)


def macro_f1(hits: np.ndarray, actual: np.ndarray, predicted: np.ndarray) -> float:
    """The mean F1 of the labels that occur or are predicted."""
    return float(np.nanmean(divide_or_nan(2.0 * hits, (actual + predicted).astype(np.float64))))


def macro_f1_resamples(labels: PredictedLabels) -> np.ndarray:
    """Macro-F1 in each resample of the texts (resamples,), over the labels that occur or are predicted in it.

    There are none for too few texts.
    """
    if len(labels) < MIN_ITEMS:
        return np.empty(0)
    csr_array = import_library("scipy.sparse").csr_array

    group = group_of(len(labels))[labels.text]
    # by label, so that a block of labels is one slice: all labels at once would not fit in memory
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


@dataclass(frozen=True, kw_only=True)
class LabelMeasure(Measurement):
    """A measure of predicted labels.

    `sums` are numerators and denominators, int64 (texts,) each, of whose sums it is the ratio; None for macro-F1.
    """

    sums: tuple[np.ndarray, np.ndarray] | None
    predictions: PredictedLabels

    @property
    def counted(self) -> np.ndarray:
        """All texts."""
        return np.ones(self.size, bool)

    @property
    def size(self) -> int:
        """The number of texts."""
        return len(self.predictions)

    def resampled_on(self, items: np.ndarray) -> Resampled:
        """The value, and in each resample of the texts."""
        value = 0.0 if self.value is None else self.value
        if self.sums is None:
            return Resampled(value, macro_f1_resamples(self.predictions), self.size)
        return Resampled(value, ratios(*group_sums(np.stack(self.sums, axis=1).astype(np.float64)).T), self.size)

    def compare_values(self, other: "LabelMeasure") -> Comparison | None:
        """McNemar's test of texts that count once, else a paired bootstrap."""
        if self.sums is not None and other.sums is not None and (np.stack([self.sums[1], other.sums[1]]) == 1).all():
            return self.compare_shares(other, self.sums[0] == 1, other.sums[0] == 1)
        return super().compare_values(other)
