"""The actual labels of texts and those that a classifier predicts, collected batch by batch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelledTexts
from embeddings.errors import CorpusError

ACTUAL, PREDICTED, BOTH = 1, 2, 3
NO_LABEL = -1


class Ranker(Protocol):
    """A classifier that ranks labels, such as `LabelPredictor`."""

    @property
    def labels(self) -> Sequence[str]:
        """The names of the labels."""
        ...

    def rank(
        self, text: bytes, starts: np.ndarray, k: int = 1, threshold: float = 0.0, *, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The numbers and probabilities of the most probable labels, (texts, k); -1 and 0 for none."""
        ...


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
        """Texts of which the classifier knows a word and a label, and their pairs with labels that it knows."""
        is_known = self.label < self.known
        has_label = np.bincount(self.text, weights=is_known & self.is_actual, minlength=len(self)) > 0
        keep = has_label & (self.best != NO_LABEL)
        pairs = is_known & keep[self.text]
        number = np.cumsum(keep) - 1
        return PredictedLabels(
            self.names[: self.known], self.known, self.unlabelled, number[self.text[pairs]], self.label[pairs],
            self.kind[pairs], self.score[pairs], self.first[keep], self.best[keep], self.confidence[keep],
        )  # fmt: skip

    def with_predictions(self, predicted: NDArray[np.int64]) -> "PredictedLabels":
        """The texts with `predicted`, labels in ascending order, as the predictions of each of them."""
        actual = self.text[self.is_actual] << 32 | self.label[self.is_actual]
        texts = np.arange(len(self), dtype=np.int64)
        guesses: NDArray[np.int64] = (texts[:, None] << 32 | predicted).ravel()
        text, label, kind, _ = merged_pairs(actual, guesses)
        return replace(self, text=text, label=label, kind=kind, score=np.zeros(len(text), np.float32))


def predict_labels(
    classifier: Ranker,
    batches: Iterable[LabelledTexts],
    k: int = 1,
    threshold: float = 0.0,
    *,
    prefix: str = PREFIX,
    threads: int | None = None,
    source: str = "the source",
) -> PredictedLabels:
    """Predict the labels of texts; arguments and errors are those of `LabelPredictor.predict`.

    Raises:
        CorpusError: no text has a label.
    """
    collector = Collector([name.removeprefix(prefix) for name in classifier.labels])
    from embeddings.classifier.classifier import texts_at_a_time

    size = texts_at_a_time(k, len(classifier.labels))
    for batch in batches:
        source = batch.source
        for first in range(0, len(batch), size):
            part = batch.part(first, first + size)
            ids, probabilities = classifier.rank(part.data, part.starts, k, threshold, threads=threads)
            best = (ids, probabilities) if not threshold else classifier.rank(part.data, part.starts, threads=threads)
            collector.add(part, ids, probabilities, best[0][:, 0], best[1][:, 0])
    result = collector.finish()
    if not len(result):
        raise CorpusError(
            f"{source} has no labels: expected words that begin with {prefix}, or a table with a label column"
        )
    return result


@dataclass
class Collector:
    """Collects predictions batch by batch; labels of the classifier come first in `names`."""

    names: list[str]
    texts: int = 0
    unlabelled: int = 0
    parts: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = len(self.names)
        self.number = {name: number for number, name in enumerate(self.names)}

    def add(
        self, batch: LabelledTexts, ids: np.ndarray, probabilities: np.ndarray, best: np.ndarray, confidence: np.ndarray
    ) -> None:
        """Add a batch: the predicted labels (texts, k) and their probabilities, and the most probable ones (texts,)."""
        sizes = np.array(list(map(len, batch.labels)), np.int64)
        keep = sizes > 0
        self.unlabelled += int((~keep).sum())
        rows = np.cumsum(keep) - 1  # of the labelled texts of this batch
        actual = np.fromiter(map(self.number_of, chain.from_iterable(batch.labels)), np.int64, sizes.sum())
        predicted = ids[keep]
        row, column = np.nonzero(predicted != NO_LABEL)
        pairs = np.unique(rows[np.repeat(np.arange(len(sizes)), sizes)] << 32 | actual)
        guesses = row << 32 | predicted[row, column]
        order = np.argsort(guesses)
        text, label, kind, is_guess = merged_pairs(pairs, guesses[order])
        score = np.zeros(len(text), np.float32)
        score[is_guess] = probabilities[keep][row, column][order]
        texts = predicted[:, 0].astype(np.int32), best[keep].astype(np.int32), confidence[keep].astype(np.float32)
        self.parts.append((text + self.texts, label, kind, score, *texts))
        self.texts += int(keep.sum())

    def number_of(self, name: str) -> int:
        """The number of a label; a label that is new gets one."""
        number = self.number.get(name)
        if number is None:
            number = self.number[name] = len(self.names)
            self.names.append(name)
        return number

    def finish(self) -> PredictedLabels:
        """The predictions of all batches."""
        dtypes = (np.int64, np.int32, np.uint8, np.float32, np.int32, np.int32, np.float32)
        parts = [*self.parts, tuple(np.zeros(0, dtype) for dtype in dtypes)]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return PredictedLabels(self.names, self.known, self.unlabelled, *columns)


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
