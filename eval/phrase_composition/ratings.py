"""How well the cosines of composed phrases follow people's ratings, as in Mitchell and Lapata (2010)."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.datasets import label, lines
from embeddings.eval.item_scores import Correlated, Measured, Outcome
from embeddings.eval.results import Key
from embeddings.eval.similarity import spearman
from embeddings.eval.word_matching import Folded
from embeddings.eval.word_pairs import as_number
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.plugins.tensor_indexing.functions import OWN
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from embeddings.support.cosine import unit

WORDS = ("s1lemma1", "s1lemma2", "s2lemma1", "s2lemma2")
COLUMNS = ("participant", "type", *WORDS, "rating")
# What the published set calls its types, and whether its phrases stand with the second word first.
TYPES = {
    "adjectivenouns": ("adjective-noun", False),
    "compoundnouns": ("noun-noun", False),
    "verbobjects": ("verb-object", True),
}
PROTOCOL = (
    "cosines of composed phrases against ratings, {how}; case does not count; a type is composed by its own functions, "
    "or those for any type if it has none; pairs with a word, or for 'own' a phrase, that has no vector are left out; "
    "ties have the mean of their ranks; interval: {interval}"
)
NO_INTERVAL = "none, since the ratings of a pair are not independent"
OF_MEANS = "none, since it is the mean over types"
HOW = {
    "spearman": ("the mean of each pair", "bootstrap over pairs"),
    "spearman-ratings": ("each single one an item of its own", NO_INTERVAL),
    "spearman-participants": ("the mean of each participant's own correlation", NO_INTERVAL),
}
Pair = tuple[str, str, str, str]  # two phrases of two words
Found = Correlated | Measured


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


def rated(composer: Composer, test: PhraseRatings, *, name: str) -> list[Outcome]:
    """Spearman's correlation of cosines and ratings, for every function, by type and averaged over types (None).

    Three measures: "spearman" takes the mean rating of each pair; "spearman-ratings" every single rating as an item of
    its own; "spearman-participants" is the mean of each participant's own. A type is composed by its own functions if
    the model has any, else by those for any type. Pairs with an unknown word are left out.
    """
    folded = Folded(composer.vectors.words)
    found: list[Outcome] = []
    for function in functions(composer):
        parts: list[list[Found]] = []
        for type, pairs in test.ratings.items():
            cosines = cosines_of(composer, type if type in composer.functions else ANY, list(pairs), folded, function)
            key = Key(test.name, "spearman", section=type, method=function)
            parts.append([by_pairs(name, key, cosines, pairs), *by_single_ratings(name, key, cosines, pairs)])
        found += [one for part in parts for one in part]
        found += [average(same) for same in zip(*parts, strict=True)]
    return found


def functions(composer: Composer) -> list[str]:
    """Those of any type."""
    return list(dict.fromkeys(name for type in composer.known_types for name in composer.known_functions(type)))


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


def by_pairs(name: str, key: Key, cosines: np.ndarray, pairs: dict[Pair, dict[str, float]]) -> Correlated:
    """The correlation with the mean ratings of pairs."""
    known = np.isfinite(cosines)
    means = np.array([np.mean(list(raters.values())) for raters in pairs.values()])
    value, reason = spearman(cosines[known], means[known])
    return Correlated(
        vectors=name, key=key, seen=known, scores=np.where(known, cosines, 0.0), ratings=means, value=value,
        reason=reason, protocol=protocol("spearman"),
    )  # fmt: skip


def by_single_ratings(
    name: str, key: Key, cosines: np.ndarray, pairs: dict[Pair, dict[str, float]]
) -> Iterator[Measured]:
    """The correlation with all ratings, and the mean of those with each participant's."""
    known = np.flatnonzero(np.isfinite(cosines))
    rated = [list(pairs.values())[pair] for pair in known]
    repeated = np.repeat(cosines[known], [len(raters) for raters in rated])
    singles = np.array([rating for raters in rated for rating in raters.values()])
    who = np.array([rater for raters in rated for rater in raters])
    each = [spearman(repeated[who == one], singles[who == one])[0] for one in np.unique(who)]
    found = [value for value in each if value is not None]
    reason = None if found else "no participant has two pairs with vectors and different ratings"
    values = {
        "spearman-ratings": spearman(repeated, singles),
        "spearman-participants": (float(np.mean(found)) if found else None, reason),
    }
    for measure, (value, why) in values.items():
        yield Measured(
            vectors=name, key=replace(key, measure=measure), value=value, covered=len(known), total=len(pairs),
            reason=why, protocol=protocol(measure),
        )  # fmt: skip


def average(found: Sequence[Found]) -> Measured:
    """The mean of the values of types; none where one has none."""
    values = [one.value for one in found if one.value is not None]
    whole = len(values) == len(found)
    return Measured(
        vectors=found[0].vectors,
        key=replace(found[0].key, section=None),
        value=float(np.mean(values)) if whole else None,
        covered=sum(one.covered for one in found),
        total=sum(one.total for one in found),
        reason=None if whole else "a type has no value",
        protocol=protocol(found[0].key.measure, OF_MEANS),
    )


def protocol(measure: str, interval: str | None = None) -> str:
    """How a measure is come by, its interval too if it is another than usual."""
    how, usual = HOW[measure]
    return PROTOCOL.format(how=how, interval=interval or usual)
