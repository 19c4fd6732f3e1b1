"""The scores of predicting the most frequent label, which are reported with those of a classifier."""

import numpy as np

from embeddings.eval.statistics.confidence_intervals import NO_INTERVAL, Interval, wilson
from embeddings.eval.statistics.item_scores import ItemScores, Measurement
from embeddings.eval.statistics.results import Key

MAJORITY = "most frequent label"


def majority_scores(name: str, test: str, actual: np.ndarray, majority: np.ndarray) -> list[ItemScores]:
    """Accuracy and macro-F1 of predicting the most frequent label of the training texts, `majority` (items,)."""
    hits, total = int((actual == majority).sum()), len(actual)
    values: dict[str, tuple[float, Interval]] = {
        "macro-f1": (macro_f1(actual, majority), NO_INTERVAL),
        "accuracy": (hits / total, wilson(hits, total)),
    }
    return [
        Measurement(
            vectors=name,
            key=Key(test, measure, method=MAJORITY),
            value=value,
            interval=interval,
            covered=total,
            total=total,
            protocol="the most frequent label of the training texts",
        )
        for measure, (value, interval) in values.items()
    ]


def macro_f1(actual: np.ndarray, predicted: np.ndarray) -> float:
    """The mean F1 over all labels that occur or are predicted."""
    from sklearn.metrics import f1_score

    return float(f1_score(actual, predicted, average="macro", zero_division=0))
