"""How well cosines of composed phrases follow human ratings, as in Mitchell and Lapata (2010)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from embeddings.eval.datasets.phrase_ratings import PhrasePair, PhraseRatings
from embeddings.eval.measures.similarity import correlation
from embeddings.eval.measures.word_matching import CaseFolding
from embeddings.eval.statistics.item_scores import CorrelationScores, ItemScores, Measurement
from embeddings.eval.statistics.results import Key
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.plugins.tensor_indexing.functions import OWN
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from embeddings.support.cosine import normalize

PROTOCOL = (
    "cosines of composed phrases against ratings, {how}; case is ignored; a type is composed by its own functions, or "
    "by those for any type if it has none; pairs with a word, or for 'own' a phrase, without a vector are left out; "
    "ties have their mean rank; interval: {interval}"
)
NOT_INDEPENDENT = "none, since the ratings of a pair are not independent"
MEAN_OVER_TYPES = "none, since it is the mean over types"
HOW = {
    "spearman": ("the mean of each pair", "bootstrap over pairs"),
    "spearman-ratings": ("each single rating as an item", NOT_INDEPENDENT),
    "spearman-participants": ("the mean of each participant's own correlation", NOT_INDEPENDENT),
}


def score_rated_phrases(composer: Composer, test: PhraseRatings, *, name: str) -> list[ItemScores]:
    """Spearman's correlation of cosines and ratings, for every function, by type and averaged over types (None).

    Three measures: "spearman" uses the mean rating of each pair; "spearman-ratings" every single rating as an item;
    "spearman-participants" is the mean of each participant's own correlation.
    """
    folding = CaseFolding(composer.vectors.words, composer.vectors.word_form)
    scores: list[ItemScores] = []
    functions = [function for type in composer.known_types for function in composer.known_functions(type)]
    for function in dict.fromkeys(functions):
        by_type: list[list[ItemScores]] = []
        for type, pairs in test.ratings.items():
            own_type = type if type in composer.functions else ANY
            cosines = phrase_cosines(composer, own_type, list(pairs), folding, function)
            key = Key(test.name, "spearman", section=type, method=function)
            by_type.append([score_pairs(name, key, cosines, pairs), *score_ratings(name, key, cosines, pairs)])
        scores += chain.from_iterable(by_type)
        scores += [average(same) for same in zip(*by_type, strict=True)]
    return scores


def phrase_cosines(
    composer: Composer, type: str, pairs: list[PhrasePair], folding: CaseFolding, function: str
) -> np.ndarray:
    """The cosine of each pair of phrases, (pairs,) float64; NaN where a word, or for "own" a phrase, has no vector."""
    phrases = [pair[side : side + 2] for pair in pairs for side in (0, 2)]
    vectors, words = composer.vectors, composer.vectors.words
    rows = folding.find(word for phrase in phrases for word in phrase).reshape(-1, 2)
    is_known = (rows >= 0).all(axis=1)
    matrix = np.full((len(phrases), vectors.dim), np.nan)
    if function == OWN:
        own = np.array([composer.phrase_row(words[a], words[b]) if a >= 0 <= b else -1 for a, b in rows])
        matrix[own >= 0] = vectors.matrix[own[own >= 0]]
    else:
        x, y = (vectors.matrix[rows[is_known, side]] for side in (0, 1))
        matrix[is_known] = composer.compose_rows(x, y, type=type, function=function)
    sides = normalize(matrix).reshape(len(pairs), 2, vectors.dim)
    return np.asarray((sides[:, 0] * sides[:, 1]).sum(axis=1))


def score_pairs(
    name: str, key: Key, cosines: np.ndarray, pairs: dict[PhrasePair, dict[str, float]]
) -> CorrelationScores:
    """The correlation with the mean ratings of pairs."""
    covered = np.isfinite(cosines)
    means = np.array([np.mean(list(raters.values())) for raters in pairs.values()])
    value, reason = correlation(cosines[covered], means[covered])
    return CorrelationScores(
        vectors=name, key=key, covered=covered, scores=np.where(covered, cosines, 0.0), ratings=means, value=value,
        reason=reason, protocol=protocol("spearman"),
    )  # fmt: skip


def score_ratings(
    name: str, key: Key, cosines: np.ndarray, pairs: dict[PhrasePair, dict[str, float]]
) -> Iterator[Measurement]:
    """The correlation with all ratings, and the mean of those with each participant's."""
    covered = np.flatnonzero(np.isfinite(cosines))
    raters_of_covered = [list(pairs.values())[pair] for pair in covered]
    cosine_of_rating = np.repeat(cosines[covered], [len(raters) for raters in raters_of_covered])
    ratings = np.array([rating for raters in raters_of_covered for rating in raters.values()])
    participant = np.array([rater for raters in raters_of_covered for rater in raters])
    correlations = [
        correlation(cosine_of_rating[participant == p], ratings[participant == p])[0] for p in np.unique(participant)
    ]
    participant_values = [value for value in correlations if value is not None]
    mean = float(np.mean(participant_values)) if participant_values else None
    reason = None if participant_values else "no participant has two pairs with vectors and different ratings"
    values = {"spearman-ratings": correlation(cosine_of_rating, ratings), "spearman-participants": (mean, reason)}
    for measure, (value, why) in values.items():
        yield Measurement(
            vectors=name, key=replace(key, measure=measure), value=value, covered=len(covered), total=len(pairs),
            reason=why, protocol=protocol(measure),
        )  # fmt: skip


def average(scores: Sequence[ItemScores]) -> Measurement:
    """The mean of the values of types; none where a type has none."""
    results = [one.result() for one in scores]
    values = [one.value for one in results if one.value is not None]
    is_complete = len(values) == len(scores)
    return Measurement(
        vectors=scores[0].vectors,
        key=replace(scores[0].key, section=None),
        value=float(np.mean(values)) if is_complete else None,
        covered=sum(one.covered for one in results),
        total=sum(one.total for one in results),
        reason=None if is_complete else "a type has no value",
        protocol=protocol(scores[0].key.measure, MEAN_OVER_TYPES),
    )


def protocol(measure: str, interval: str | None = None) -> str:
    """The protocol of a measure, with its usual interval or another."""
    how, usual = HOW[measure]
    return PROTOCOL.format(how=how, interval=interval or usual)
