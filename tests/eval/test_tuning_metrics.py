"""Metrics that a search maximises, compared with the evaluation of classifiers."""

import re

import numpy as np
import pytest
from fixed_classifier import LABELS, FixedClassifier, evaluated, random_texts, values

from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.errors import SettingError
from embeddings.eval.tasks.label_scores import LabelMetric
from embeddings.eval.tuning.metrics import LabelJudge


@pytest.mark.parametrize("k", [1, 2])
def test_metrics_equal_those_of_the_evaluation(k):
    lines, *_ = random_texts(np.random.default_rng(1), 100, 2)
    scores = evaluated(lines, k=k)
    for name in ("f1", "macro-f1", "precision", "recall"):
        judge = LabelJudge.read(lines, LabelFormat(), name, k=k)
        assert judge(FixedClassifier()) == pytest.approx(values(scores)[f"{name}@{k}"])
    for label in LABELS:
        for name in ("f1", "precision", "recall"):
            for spelling in (label, f"__label__{label}"):
                judge = LabelJudge.read(lines, LabelFormat(), f"{name}:{spelling}", k=k)
                assert judge(FixedClassifier()) == pytest.approx(values(scores, label)[f"{name}@{k}"] or 0)


WRONG = [
    "f2", "f1:", "macro-f1:a", "", "precisionAtRecall", "recall-at-precision:a", "recallAtPrecision:5:", "f1At:3",
    "precision-at-recall:101", "precision-at-recall:nan",
]  # fmt: skip


@pytest.mark.parametrize("metric", WRONG)
def test_errors(metric):
    with pytest.raises(SettingError, match="metric"):
        LabelMetric.parse(metric, "__label__")


def naive_curve(lines, predictions, label):
    """The points of the curve by a loop over thresholds, as (precision, recall)."""
    actual = [[word[9:] for word in line.split() if word.startswith("__label__")] for line in lines]
    names = LABELS if label is None else [label]
    total = sum(name in names for row in actual for name in row)
    points = [(1.0, 0.0)]
    for threshold in {p for row in predictions for name, p in row if name in names}:
        chosen = [(i, name) for i, row in enumerate(predictions) for name, p in row if name in names and p >= threshold]
        hits = sum(name in actual[i] for i, name in chosen)
        points.append((hits / len(chosen), hits / total))
    return points


@pytest.mark.parametrize("label", [None, "c"])
@pytest.mark.parametrize("k", [1, 2, -1])
def test_operating_points_equal_those_of_all_thresholds(k, label):
    rng = np.random.default_rng(1)
    lines, *_ = random_texts(rng, 60, 2)
    lines = [re.sub(r"0\.(\d)\d+", r"0.\1", line) for line in lines]  # ties
    predictions = []
    for line in lines:
        words = [word for word in line.split() if not word.startswith("__label__")]
        row = [(name, float(np.float32(p))) for name, p in zip(words[::2], words[1::2], strict=True)]
        predictions.append(row[: k if k > 0 else None])
    points = naive_curve(lines, predictions, label)
    at = "@all" if k == -1 else f"@{k}"
    expected = {}
    for level in (0, 20, 50, 80, 100):
        expected[f"precision-at-recall:{level}"] = max([p for p, r in points if r >= level / 100], default=0)
        expected[f"recall-at-precision:{level}"] = max(r for p, r in points if p >= level / 100)
    ending = f":{label}" if label else ""
    scores = evaluated(lines, k=k, metrics=[name + ending for name in expected])
    results = {one.measure: one for one in scores if ":" in one.measure}
    for name, value in expected.items():
        one = results[name + at]
        assert (one.value, one.section, one.is_detail) == (pytest.approx(value), label, False)
        assert 0 <= one.low <= one.high <= 1
        assert LabelJudge.read(lines, LabelFormat(), name + ending, k=k)(FixedClassifier()) == pytest.approx(value)


def test_fasttexts_spelling():
    for text, expected in (
        ("precisionAtRecall:30:__label__a:b", LabelMetric("precision-at-recall", "a:b", 30.0)),
        ("recallAtPrecision:99.5", LabelMetric("recall-at-precision", None, 99.5)),
        ("f1:__label__a:b", LabelMetric("f1", "a:b")),
    ):
        assert LabelMetric.parse(text, "__label__") == expected


def test_requested_scores_of_labels_are_no_details():
    lines, *_ = random_texts(np.random.default_rng(1), 50)
    with pytest.raises(SettingError, match="'zz'"):
        evaluated(lines, metrics=["precision-at-recall:50:zz"])
    scores = evaluated(lines, metrics=["recall:a", "macro-f1"])
    one, same = [result for result in scores if (result.section, result.measure) == ("a", "recall@1")]
    assert (one.is_detail, same.is_detail, one.value) == (True, False, same.value)
    assert len([one for one in scores if one.measure == "macro-f1@1" and one.method is None]) == 1
