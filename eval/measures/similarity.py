"""Word similarity: the correlation of cosines with human ratings of word pairs."""

import numpy as np

from embeddings.eval.datasets.word_pairs import WordPairs
from embeddings.eval.measures.word_matching import CaseFolding, gather
from embeddings.eval.statistics.item_scores import CorrelationScores
from embeddings.eval.statistics.results import Key
from embeddings.support.cosine import normalize
from embeddings.vectors.vectors import Vectors

PROTOCOL = (
    "cosines against ratings; case is ignored, and of words that differ in case alone the most frequent is used; "
    "{missing}pairs with a word without a vector are left out; ties have their mean rank; a pair that occurs twice "
    "counts twice; interval: bootstrap over pairs"
)
COMPOSED = "vectors of out-of-vocabulary words are composed, in lower case if the whole vocabulary is; "


def score_similarity(
    vectors: Vectors, test: WordPairs, folding: CaseFolding, *, name: str, compose: bool = False
) -> list[CorrelationScores]:
    """Spearman's and Pearson's correlation of cosines and ratings, over the pairs whose words both have vectors."""
    words = [word for pair in test.pairs for word in pair]
    rows = folding.find(words)
    matrix, is_composed = gather(vectors, words, rows, compose=compose)
    covered = np.asarray(((rows >= 0) | is_composed).reshape(-1, 2).all(axis=1))
    sides = normalize(matrix).reshape(-1, 2, vectors.dim)[covered]
    cosines, ratings = np.zeros(len(covered)), np.array(test.ratings)
    cosines[covered] = (sides[:, 0] * sides[:, 1]).sum(axis=1)
    composed = int((covered & is_composed.reshape(-1, 2).any(axis=1)).sum())
    protocol = PROTOCOL.format(missing=COMPOSED if compose else "")
    scores = []
    for measure in ("spearman", "pearson"):
        value, reason = correlation(cosines[covered], ratings[covered], ranked=measure == "spearman")
        scores.append(
            CorrelationScores(
                vectors=name,
                key=Key(test.name, measure, half=test.half),
                covered=covered,
                scores=cosines,
                ratings=ratings,
                value=value,
                reason=reason,
                composed=composed,
                protocol=protocol,
            )
        )
    return scores


def correlation(x: np.ndarray, y: np.ndarray, *, ranked: bool = True) -> tuple[float | None, str | None]:
    """Spearman's (if `ranked`, with mean ranks for ties) or Pearson's correlation of (n,) arrays; or None and why."""
    from scipy.stats import rankdata

    if len(x) < 2:
        return None, f"a correlation requires two pairs with vectors, got {len(x)}"
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None, "a vector holds NaN or infinity"
    for side, what in ((x, "cosines"), (y, "ratings")):
        if (side == side[0]).all():
            return None, f"all {what} are equal"
    a, b = ((side - side.mean()) for side in ((rankdata(x), rankdata(y)) if ranked else (x, y)))
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # so that no product underflows or overflows
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1)), None
