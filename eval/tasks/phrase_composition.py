"""Composed phrases: how their cosines follow human ratings, and how near they come to vectors of held-out phrases."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import ceil, floor, sqrt
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.eval.statistics.confidence_intervals import NO_INTERVAL, Interval, Z, normal_interval
from embeddings.eval.statistics.results import CorrelationScores, ItemScores, Key, Measurement
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.eval.tasks.word_similarity import correlation, to_number
from embeddings.eval.test_sets import check_found, line_error, read_lines, set_name
from embeddings.eval.word_matching import CaseFolding
from embeddings.plugins.tensor_indexing.composer import FIRST, PART, PHRASE, SECOND, TYPE, Composer
from embeddings.plugins.tensor_indexing.fitting import cosine_ranks
from embeddings.plugins.tensor_indexing.functions import OWN
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, TEST
from embeddings.support.cosine import normalize

WORDS = ("s1lemma1", "s1lemma2", "s2lemma1", "s2lemma2")
COLUMNS = ("participant", "type", *WORDS, "rating")
# Our names of the types of the published set, and whether its phrases have the second word first.
TYPES = {
    "adjectivenouns": ("adjective-noun", False),
    "compoundnouns": ("noun-noun", False),
    "verbobjects": ("verb-object", True),
}
PhrasePair = tuple[str, str, str, str]  # two phrases of two words


@dataclass(frozen=True)
class PhraseRatings:
    """The ratings of each participant, by type and pair of phrases."""

    name: str
    ratings: dict[str, dict[PhrasePair, dict[str, float]]]


def read_phrase_ratings(path: str | os.PathLike[str]) -> PhraseRatings:
    """Rated phrases: a heading, then fields separated by white space.

    The columns are participant, type, s1lemma1, s1lemma2, s2lemma1, s2lemma2 and rating; others are ignored. The
    published verb-object phrases are written object first, and are reversed.
    """
    rows = read_lines(Path(path))
    heading = next(rows, (0, ""))[1].split()
    is_set = set(COLUMNS) <= set(heading)
    ratings: dict[str, dict[PhrasePair, dict[str, float]]] = {}
    for number, line in rows if is_set else ():
        fields = dict(zip(heading, line.split(), strict=False))
        rating = to_number(fields.get("rating", ""))
        if len(line.split()) != len(heading) or rating is None:
            raise line_error(Path(path), number, f"{len(heading)} fields with a numeric rating", line)
        type, is_reversed = TYPES.get(fields["type"], (fields["type"], False))
        a, b, c, d = (fields[word] for word in WORDS)
        raters = ratings.setdefault(type, {}).setdefault((b, a, d, c) if is_reversed else (a, b, c, d), {})
        if fields["participant"] in raters:
            raise FormatError(f"{path}, line {number}: participant {fields['participant']} rates this pair twice")
        raters[fields["participant"]] = rating
    check_found(ratings, path, f"rated phrases below a heading with the columns {', '.join(COLUMNS)}")
    return PhraseRatings(set_name(path), ratings)


RATING_PROTOCOL = (
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


def score_rated(subject: Subject, test: PhraseRatings) -> list[ItemScores]:
    """Spearman's correlation of cosines and ratings, for every function, by type and averaged over types (None).

    Three measures: "spearman" uses the mean rating of each pair; "spearman-ratings" every single rating as an item;
    "spearman-participants" is the mean of each participant's own correlation.
    """
    composer, name = Composer.of(subject.word_source), subject.name
    folding = CaseFolding(composer.vectors.words, composer.vectors.word_form)
    scores: list[ItemScores] = []
    functions = [function for type in composer.known_types for function in composer.known_functions(type)]
    for function in dict.fromkeys(functions):
        by_type: list[list[ItemScores]] = []
        for type, pairs in test.ratings.items():
            own_type = type if type in composer.functions else ANY
            cosines = phrase_cosines(composer, own_type, list(pairs), folding, function)
            key = Key(test.name, "spearman", section=type, method=function)
            covered = np.isfinite(cosines)
            means = np.array([np.mean(list(raters.values())) for raters in pairs.values()])
            value, reason = correlation(cosines[covered], means[covered])
            of_pairs = CorrelationScores(
                vectors=name, key=key, covered=covered, scores=np.where(covered, cosines, 0.0), ratings=means,
                value=value, reason=reason, protocol=protocol("spearman"),
            )  # fmt: skip
            by_type.append([of_pairs, *score_ratings(name, key, cosines, pairs)])
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


def score_ratings(
    name: str, key: Key, cosines: np.ndarray, pairs: dict[PhrasePair, dict[str, float]]
) -> Iterator[Measurement]:
    """The correlation with all ratings, and the mean of the correlations with each participant's ratings."""
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
    """The mean of a measure over types; no value if a type has no value."""
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
    return RATING_PROTOCOL.format(how=how, interval=interval or usual)


HELD_OUT = "held-out"
HELD_OUT_PROTOCOL = (
    "composed vectors of the test phrases against their own; ranks are among all phrases of all types and parts, and a "
    "tie counts for the phrase; phrases differ between models, so there are no paired tests; interval: of means by the "
    "normal distribution, of medians by order statistics"
)


@dataclass(frozen=True)
class HeldOut:
    """The phrases that each model was not fitted to."""

    name: str = HELD_OUT


def score_held_out(subject: Subject) -> list[ItemScores]:
    """Five measures for every type and function, over the test phrases of a fitted model.

    The mean "cosine" of composed and true vector; the mean "squared-error"; and "median-rank", "mean-rank" and the mean
    "reciprocal-rank" of the true phrase by cosine, where rank 1 is the nearest of all phrases.
    """
    composer, name = Composer.of(subject.word_source), subject.name
    if not len(composer.examples):
        raise SettingError("held-out phrases require a fitted composition model: see `embeddings fit`")
    scores: list[ItemScores] = []
    for type in composer.known_types:
        examples: np.ndarray = composer.examples[composer.examples[:, PART] == TEST]
        if type != ANY:
            examples = examples[examples[:, TYPE] == composer.types.index(type)]
        count, reason = len(examples), None if len(examples) else "no phrase of this type was held out"
        measurement = partial(
            Measurement, vectors=name, covered=count, total=count, reason=reason, protocol=HELD_OUT_PROTOCOL
        )
        for function in composer.known_functions(type)[:-1]:  # the last is the phrase's own vector
            for measure, value, interval in measures(composer, examples, type, function):
                key = Key(HELD_OUT, measure, section=type, method=function)
                scores.append(measurement(key=key, value=value, interval=interval))
    return scores


def measures(
    composer: Composer, test: np.ndarray, type: str, function: str
) -> Iterator[tuple[str, float | None, Interval]]:
    """Name, value and interval of each measure over test examples (examples, 5)."""
    if not len(test):
        names = "cosine", "squared-error", "reciprocal-rank", "median-rank", "mean-rank"
        yield from ((measure, None, NO_INTERVAL) for measure in names)
        return
    matrix = composer.vectors.matrix
    first, second, true = (matrix[test[:, column]] for column in (FIRST, SECOND, PHRASE))
    composition = composer.compose_rows(first, second, type=type, function=function)
    phrases = matrix[np.unique(composer.examples[:, PHRASE])]
    cosines = (normalize(composition) * normalize(true)).sum(axis=1)
    errors = np.square(composition.astype(np.float64) - true).sum(axis=1)
    yield "cosine", float(cosines.mean()), normal_interval(cosines)
    yield "squared-error", float(errors.mean()), normal_interval(errors)
    ranks = cosine_ranks(composition, true, phrases)
    yield "reciprocal-rank", float((1 / ranks).mean()), normal_interval(1 / ranks)
    yield "median-rank", float(np.median(ranks)), median_interval(ranks)
    yield "mean-rank", float(ranks.mean()), normal_interval(ranks)


def median_interval(values: np.ndarray) -> Interval:
    """The 95 % interval of a median: the order statistics n / 2 -+ 1.96 sqrt(n) / 2; none for few values."""
    n, sorted_values = len(values), np.sort(values)
    low, high = floor((n - Z * sqrt(n)) / 2), ceil(1 + (n + Z * sqrt(n)) / 2)
    return (float(sorted_values[low - 1]), float(sorted_values[high - 1])) if low >= 1 and high <= n else NO_INTERVAL


KIND = Kind(
    name="phrases",
    metavar="FILE|held-out...",
    read=lambda test, settings: HeldOut() if str(test) == HELD_OUT else read_phrase_ratings(test),
    score=lambda subject, test: score_held_out(subject) if isinstance(test, HeldOut) else score_rated(subject, test),
)
