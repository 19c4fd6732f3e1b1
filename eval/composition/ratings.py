"""How well the cosines of composed phrases follow people's ratings, as in Mitchell and Lapata (2010)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.composition.composer import Composer
from embeddings.composition.functions import OWN
from embeddings.composition.phrases import ANY
from embeddings.errors import FormatError
from embeddings.eval.datasets import as_number, label, lines
from embeddings.eval.intervals import Interval, bootstrap
from embeddings.eval.matching import Folded
from embeddings.eval.results import Result
from embeddings.eval.similarity import spearman
from embeddings.neighbours import unit

WORDS = ("s1lemma1", "s1lemma2", "s2lemma1", "s2lemma2")
COLUMNS = ("participant", "type", *WORDS, "rating")
# What the published set calls its types, and whether its phrases stand with the second word first.
TYPES = {
    "adjectivenouns": ("adjective-noun", False),
    "compoundnouns": ("noun-noun", False),
    "verbobjects": ("verb-object", True),
}
Pair = tuple[str, str, str, str]  # two phrases of two words


@dataclass(frozen=True)
class PhraseRatings:
    """Pairs of phrases of each type, and how alike each participant finds those that he was asked."""

    name: str
    ratings: dict[str, dict[Pair, dict[str, float]]]


def read_ratings(path: str | os.PathLike[str]) -> PhraseRatings:
    """A set laid out as that of Mitchell and Lapata (2010): a heading, then fields between white space.

    The columns are participant, type, s1lemma1, s1lemma2, s2lemma1, s2lemma2 and rating; others are passed over.
    Their verb-object phrases stand object first, and are turned.

    Raises:
        FormatError: a column is missing, or a line has other fields; its number is said. Or a participant rates a pair
            twice.
    """
    rows = lines(Path(path))
    heading = next(rows, (0, ""))[1].split()
    if missing := [column for column in COLUMNS if column not in heading]:
        raise FormatError(f"{path} is no set of rated phrases: its heading has no column {', '.join(missing)}")
    found: dict[str, dict[Pair, dict[str, float]]] = {}
    for number, line in rows:
        fields = dict(zip(heading, line.split(), strict=False))
        rating = as_number(fields.get("rating", ""))
        if len(line.split()) != len(heading) or rating is None:
            raise FormatError(f"{path}, line {number}: not {len(heading)} fields and a rating: {line.strip()!r:.80}")
        type, turned = TYPES.get(fields["type"], (fields["type"], False))
        a, b, c, d = (fields[word] for word in WORDS)
        raters = found.setdefault(type, {}).setdefault((b, a, d, c) if turned else (a, b, c, d), {})
        if fields["participant"] in raters:
            raise FormatError(f"{path}, line {number}: {fields['participant']} rates this pair a second time")
        raters[fields["participant"]] = rating
    if not found:
        raise FormatError(f"{path} holds no rated phrases")
    return PhraseRatings(label(path), found)


def evaluate_ratings(composer: Composer, test: PhraseRatings, *, name: str) -> list[Result]:
    """Spearman's correlation of cosines and ratings, for every function, by type and averaged over types (None).

    Three measures: "spearman" takes the mean rating of each pair; "spearman-ratings" every single rating as an item of
    its own; "spearman-participants" is the mean of each participant's own. A type is composed by its own functions if
    the model has any, else by those for any type. Pairs with an unknown word are left out.
    """
    folded = Folded(composer.vectors.words)
    results: list[Result] = []
    for function in functions(composer):
        parts = [
            of_type(composer, type, pairs, folded, function, set=test.name, name=name)
            for type, pairs in test.ratings.items()
        ]
        results += [result for part in parts for result in part]
        results += [average(same) for same in zip(*parts, strict=True)]
    return results


def functions(composer: Composer) -> list[str]:
    """Those of any type."""
    return list(dict.fromkeys(name for type in composer.known_types for name in composer.known_functions(type)))


def of_type(
    composer: Composer,
    type: str,
    pairs: dict[Pair, dict[str, float]],
    folded: Folded,
    function: str,
    *,
    set: str,
    name: str,
) -> list[Result]:
    """The results of one type."""
    cosines = cosines_of(composer, type if type in composer.functions else ANY, list(pairs), folded, function)
    known = np.flatnonzero(np.isfinite(cosines))
    rated = [list(pairs.values())[pair] for pair in known]
    return [
        Result(
            vectors=name,
            set=set,
            section=type,
            method=function,
            measure=measure,
            value=value,
            low=interval[0],
            high=interval[1],
            seen=len(known),
            total=len(pairs),
            reason=reason,
        )
        for measure, value, interval, reason in measures(cosines[known], rated)
    ]


def cosines_of(composer: Composer, type: str, pairs: list[Pair], folded: Folded, function: str) -> np.ndarray:
    """The cosine of each pair's phrases, (pairs,) float64; NaN where a word, or for "own" a phrase, has no vector."""
    phrases = [pair[side : side + 2] for pair in pairs for side in (0, 2)]
    vectors, words = composer.vectors, composer.vectors.words
    rows = folded.find(word for phrase in phrases for word in phrase).reshape(-1, 2)
    known = (rows >= 0).all(axis=1)
    made = np.full((len(phrases), vectors.dim), np.nan)
    if function == OWN:
        own = np.array([composer.own(words[a], words[b]) if a >= 0 <= b else -1 for a, b in rows])
        made[own >= 0] = vectors.matrix[own[own >= 0]]
    else:
        x, y = (vectors.matrix[rows[known, side]] for side in (0, 1))
        made[known] = composer.rows(x, y, type=type, function=function)
    sides = unit(made).reshape(len(pairs), 2, vectors.dim)
    cosines: np.ndarray = (sides[:, 0] * sides[:, 1]).sum(axis=1)
    return cosines


def measures(
    cosines: np.ndarray, rated: list[dict[str, float]]
) -> Iterator[tuple[str, float | None, Interval, str | None]]:
    """Name, value, interval and why there is no value, of each measure."""
    means = np.array([np.mean(list(raters.values())) for raters in rated])
    value, reason = spearman(cosines, means)
    yield "spearman", value, bootstrap(cosines, means, ranked=True) if reason is None else (None, None), reason
    pair = np.repeat(np.arange(len(rated)), [len(raters) for raters in rated])
    singles = np.array([rating for raters in rated for rating in raters.values()])
    value, reason = spearman(cosines[pair], singles)
    yield "spearman-ratings", value, (None, None), reason
    who = np.array([rater for raters in rated for rater in raters])
    each = [spearman(cosines[pair[who == one]], singles[who == one])[0] for one in np.unique(who)]
    found = [value for value in each if value is not None]
    reason = None if found else "no participant has two pairs with vectors and different ratings"
    yield "spearman-participants", float(np.mean(found)) if found else None, (None, None), reason


def average(results: tuple[Result, ...]) -> Result:
    """The mean of the values of types; none where one has none."""
    values = [result.value for result in results if result.value is not None]
    whole = len(values) == len(results)
    return Result(
        vectors=results[0].vectors,
        set=results[0].set,
        method=results[0].method,
        measure=results[0].measure,
        value=float(np.mean(values)) if whole else None,
        seen=sum(result.seen for result in results),
        total=sum(result.total for result in results),
        reason=None if whole else "a type has no value",
    )
