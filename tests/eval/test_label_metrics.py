"""Metrics that a search maximises, compared with the evaluation of classifiers."""

import numpy as np
import pytest
from test_classifier_evaluation import LABELS, FixedClassifier, random_texts, values

from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.errors import SettingError
from embeddings.eval import evaluate_classifier
from embeddings.eval.tuning import TuningError
from embeddings.eval.tuning.label_metrics import LabelJudge, LabelMetric


@pytest.mark.parametrize("k", [1, 2])
def test_metrics_equal_those_of_the_evaluation(k):
    lines, *_ = random_texts(np.random.default_rng(1), 100, 2)
    scores = evaluate_classifier(FixedClassifier(), lines, k=k)
    for name in ("f1", "macro-f1", "precision", "recall"):
        judge = LabelJudge.read(lines, LabelFormat(), name, k=k)
        assert judge(FixedClassifier()) == pytest.approx(values(scores)[f"{name}@{k}"])
    for label in LABELS:
        for name in ("f1", "precision", "recall"):
            for spelling in (label, f"__label__{label}"):
                judge = LabelJudge.read(lines, LabelFormat(), f"{name}:{spelling}", k=k)
                assert judge(FixedClassifier()) == pytest.approx(values(scores, label)[f"{name}@{k}"] or 0)


def test_errors():
    for metric in ("f2", "f1:", "macro-f1:a", ""):
        with pytest.raises(SettingError, match="metric must be one of"):
            LabelMetric.parse(metric, "__label__")
    with pytest.raises(TuningError, match="'zz'"):
        LabelJudge.read(["__label__a a 0.5"], LabelFormat(), "f1:zz")(FixedClassifier())
