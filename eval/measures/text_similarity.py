"""Similarity of texts: the correlation of cosines of text vectors with ratings, as in the STS benchmark."""

import numpy as np

from embeddings.eval.datasets.rated_texts import RatedTexts
from embeddings.eval.measures.similarity import correlation
from embeddings.eval.measures.text_vectors import TextVectors
from embeddings.eval.statistics.item_scores import CorrelationScores, ItemScores
from embeddings.eval.statistics.results import Key
from embeddings.support.cosine import normalize

PROTOCOL = (
    "cosines of text vectors ({pooling}) against ratings; pairs with a text without a known word are left out; ties "
    "have their mean rank; interval: bootstrap over pairs"
)


def score_rated_texts(vectors: TextVectors, test: RatedTexts, *, name: str) -> list[ItemScores]:
    """Spearman's and Pearson's correlation, over the pairs whose texts both have a known word, and word coverage."""
    embedded = vectors.embedder().embed([*test.left, *test.right])
    left, right = normalize(embedded.matrix).reshape(2, len(test.left), -1)
    covered = np.asarray(embedded.covered.reshape(2, -1).all(axis=0))
    cosines = (left * right).sum(axis=1)
    scores: list[ItemScores] = []
    for measure in ("spearman", "pearson"):
        value, reason = correlation(cosines[covered], test.ratings[covered], ranked=measure == "spearman")
        scores.append(
            CorrelationScores(
                vectors=name,
                key=Key(test.name, measure),
                covered=covered,
                scores=cosines,
                ratings=test.ratings,
                value=value,
                reason=reason,
                protocol=PROTOCOL.format(pooling=vectors.description),
            )
        )
    return [*scores, embedded.coverage(name, test.name)]
