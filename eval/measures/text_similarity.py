"""Similarity of texts: the correlation of cosines of text vectors with ratings, as in the STS benchmark."""

from functools import partial

import numpy as np

from embeddings.eval.datasets.rated_texts import RatedTexts
from embeddings.eval.measures.similarity import correlation
from embeddings.eval.measures.text_vectors import TextVectors
from embeddings.eval.statistics.item_scores import CorrelationScores, ItemScores
from embeddings.eval.statistics.results import Key
from embeddings.models.model import Model
from embeddings.support.cosine import normalize

PREDICTED = "predicted ratings"
PROTOCOL = (
    "{scores} against ratings; pairs with a text without a known word are left out; ties have their mean rank; "
    "interval: bootstrap over pairs"
)


def score_rated_texts(vectors: TextVectors, test: RatedTexts, *, name: str) -> list[ItemScores]:
    """Spearman's and Pearson's correlation, over the pairs whose texts both have a known word, and word coverage.

    The scores are cosines, and for a model that predicts ratings, also these (method "predicted ratings").
    """
    embedded = vectors.embedder().embed([*test.left, *test.right])
    left, right = normalize(embedded.matrix).reshape(2, len(test.left), -1)
    covered = np.asarray(embedded.covered.reshape(2, -1).all(axis=0))
    score = partial(correlate, test=test, covered=covered, name=name)
    protocol = PROTOCOL.format(scores=f"cosines of text vectors ({vectors.description})")
    scores = score((left * right).sum(axis=1), None, protocol)
    if (ratings := predicted_ratings(vectors, test)) is not None:
        scores += score(ratings, PREDICTED, PROTOCOL.format(scores="ratings that the model predicts"))
    return [*scores, embedded.coverage(name, test.name)]


def predicted_ratings(vectors: TextVectors, test: RatedTexts) -> np.ndarray | None:
    """The ratings that a model predicts for the pairs; None if it predicts none."""
    from embeddings.plugins.text_pairs.rating_distribution import HIDDEN  # imports numba
    from embeddings.plugins.text_pairs.rating_predictor import RatingPredictor

    model = vectors.source
    if not isinstance(model, Model) or HIDDEN not in model.tables:
        return None
    return RatingPredictor(model).predict(test.left, test.right)


def correlate(
    values: np.ndarray, method: str | None, protocol: str, *, test: RatedTexts, covered: np.ndarray, name: str
) -> list[ItemScores]:
    """The correlations of the values of pairs (pairs,) with their ratings."""
    scores: list[ItemScores] = []
    for measure in ("spearman", "pearson"):
        value, reason = correlation(values[covered], test.ratings[covered], ranked=measure == "spearman")
        scores.append(
            CorrelationScores(
                vectors=name,
                key=Key(test.name, measure, method=method, half=test.half),
                covered=covered,
                scores=values,
                ratings=test.ratings,
                value=value,
                reason=reason,
                protocol=protocol,
            )
        )
    return scores
