"""One score of a model on several test sets, by which runs are stopped and settings are chosen."""

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.suite import Suite
from embeddings.models.model import Model

MEASURES = {"spearman", "accuracy"}  # whose mean is the score


def mean_score(suite: Suite, model: Model) -> float:
    """The mean of a model's scores on all sets; a set without a score raises a SettingError."""
    results = [scores.result() for scores in suite.score(model, model.name)]
    totals = [one for one in results if one.measure in MEASURES and one.section is None and not one.is_detail]
    for result in totals:
        if result.value is None:
            raise SettingError(f"no score on {result.set}: {result.reason}")
    return float(np.mean([result.value for result in totals]))
