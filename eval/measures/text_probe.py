"""Labels of texts predicted from their vectors by logistic regression, compared with the most frequent label."""

import warnings
from functools import partial

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.datasets.labelled_texts import LabelledTextSet, Split
from embeddings.eval.measures.category_prediction import F1Scores
from embeddings.eval.measures.majority_scores import majority_scores
from embeddings.eval.measures.text_vectors import TextVectors
from embeddings.eval.measures.window_classifier import NOT_CONVERGED
from embeddings.eval.statistics.item_scores import BinaryScores, ItemScores
from embeddings.eval.statistics.paired_tests import TEXTS
from embeddings.eval.statistics.results import Key

METHOD = "logistic regression"
MAX_ITERATIONS = 1000
PROTOCOL = (
    "logistic regression of scikit-learn (L2 penalty, C = 1) on text vectors ({pooling}), standardised over the "
    "training texts; {split}; a text without a known word is zeros and counts; macro: the mean over labels; interval: "
    "bootstrap over texts (accuracy: Wilson's)"
)


def score_probe(vectors: TextVectors, test: LabelledTextSet, *, name: str) -> list[ItemScores]:
    """Accuracy and macro-F1 of a probe, F1 by label, both values of the most frequent label, and word coverage."""
    embedded = vectors.embedder().embed(test.texts)
    names, label = np.unique(test.labels, return_inverse=True)
    tested = np.sort(np.concatenate([rows for _, rows in test.splits]))
    reason = None if embedded.covered.any() else "no text has a known word"
    predicted, has_converged = np.zeros(len(label), np.int64), True
    common = np.zeros(len(label), np.int64)
    for split in test.splits:
        common[split[1]] = np.bincount(label[split[0]]).argmax()
        if reason is None:
            predicted[split[1]], fold_converged = predict(embedded.matrix, label, split)
            has_converged &= fold_converged
    actual, guess, majority = label[tested], predicted[tested], common[tested]
    protocol = PROTOCOL.format(pooling=vectors.description, split=test.protocol)
    note = None if has_converged else NOT_CONVERGED
    covered = embedded.covered[tested]
    shared = {"vectors": name, "covered": covered, "protocol": protocol, "reason": reason, "note": note}
    f1 = partial(F1Scores, **shared, test=TEXTS)
    key = partial(Key, test.name, method=METHOD)
    actual_is, guess_is = (side[:, None] == np.arange(len(names)) for side in (actual, guess))
    scores: list[ItemScores] = [
        f1(key=key("f1", section=str(one), is_detail=True), actual=actual_is[:, [n]], predicted=guess_is[:, [n]])
        for n, one in enumerate(names)
        if actual_is[:, n].any()
    ]
    everything = np.ones(len(tested), bool)
    scores.append(f1(key=key("macro-f1"), actual=actual_is, predicted=guess_is))
    scores.append(
        BinaryScores(key=key("accuracy"), correct=actual == guess, members=everything, over_all=True, **shared)
    )
    return [*scores, *majority_scores(name, test.name, actual, majority), embedded.coverage(name, test.name)]


def predict(matrix: np.ndarray, label: NDArray[np.int64], split: Split) -> tuple[NDArray[np.int64], bool]:
    """The predicted labels of the test texts, and whether the classifier converged."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    train_rows, test_rows = split
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=MAX_ITERATIONS))
    rows = matrix.astype(np.float64)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit(rows[train_rows], label[train_rows])
    has_converged = int(probe[-1].n_iter_.max()) < MAX_ITERATIONS
    return np.asarray(probe.predict(rows[test_rows]), np.int64), has_converged
