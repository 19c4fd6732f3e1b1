"""Analogy questions: is d the answer to "a is to b as c is to what"?

3CosAdd takes the word nearest to b - a + c (Mikolov et al., 2013), 3CosMul the one with the largest
cos(x, b) cos(x, c) / cos(x, a), cosines moved to 0..1 (Levy and Goldberg, 2014). Both are sums or products of
the cosines of every word with a, b and c, so each word that is asked with is compared with all once, in one
matrix product, however many questions it stands in.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.datasets import SYNTACTIC, Questions
from embeddings.eval.matching import Folded
from embeddings.eval.outcomes import Shares
from embeddings.eval.results import Key
from embeddings.neighbours import MULTIPLICATIVE_EPSILON, exact_cosines, unit
from embeddings.vectors import Vectors

METHODS = ("3cosadd", "3cosmul")
PROTOCOL = (
    "case does not count, and of words alike but for case the most frequent is taken; a question with a word that has "
    "no vector is left out; a, b, c and their forms in other case are no answers; a tie goes to the more frequent "
    "word; a question that stands twice counts twice; interval: Wilson's"
)
MARGIN = 1e-7  # scores nearer than this share of the best are decided again, row by row

CACHED = 1 << 27  # bytes of cosines at a time

Leader = tuple[np.ndarray, np.ndarray]
NOBODY: Leader = (np.empty(0, dtype=np.int64), np.empty(0))


def check_methods(method: str | Sequence[str]) -> list[str]:
    """The methods as a list.

    Raises:
        SettingError: there is none, or one is not known.
    """
    methods = [method] if isinstance(method, str) else list(dict.fromkeys(method))
    for name in methods or [""]:
        if name not in METHODS:
            raise SettingError(f"method must be {' or '.join(METHODS)}, not {name!r}")
    return methods


def analogy(
    vectors: Vectors,
    test: Questions,
    folded: Folded,
    *,
    name: str,
    restrict: Sequence[int | None],
    methods: Sequence[str] = METHODS[:1],
) -> list[Shares]:
    """Accuracy for each of `methods` and `restrict`: by section, semantic, syntactic, and of all (section None).

    As gensim's `evaluate_word_analogies`: unit vectors; upper case; a, b, c and their forms in other case
    are no answers; a question with a word that has no vector (among the first `restrict`) is left out and
    counted as not seen. A tie goes to the more frequent word. gensim looks at five candidates only: where
    all five are forms of a, b and c it counts a miss, and the next candidate is taken here.
    """
    rows = folded.find(word for question in test.questions for word in question).reshape(-1, 4)
    known = (rows >= 0).all(axis=1)
    limits = [len(vectors) if limit is None else min(limit, len(vectors)) for limit in restrict]
    right = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    right[:, :, known] = answer(vectors.units, rows[known], folded, limits, methods)
    found: list[Shares] = []
    for method, by_limit in zip(methods, right, strict=True):
        for limit, size, hits in zip(restrict, limits, by_limit, strict=True):
            seen: np.ndarray = known & np.asarray((rows < size).all(axis=1))
            whole = Shares(
                vectors=name,
                key=Key(test.name, "accuracy", restrict=limit, method=method),
                seen=seen,
                right=hits & seen,
                members=np.ones(len(rows), dtype=bool),
                protocol=PROTOCOL,
                absent="no question has vectors for all four words",
            )
            found += [whole.section(section, members) for section, members in sections(test)]
    return found


def answer(
    units: np.ndarray, rows: np.ndarray, folded: Folded, limits: Sequence[int], methods: Sequence[str]
) -> np.ndarray:
    """Whether each question (rows of a, b, c and d) is answered rightly: (methods, limits, questions) bool."""
    right = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    asked, place = np.unique(rows[:, :3], return_inverse=True)
    place, barred = place.reshape(-1, 3), [folded.forms(three) for three in rows[:, :3]]
    leaders = [[NOBODY] * len(rows) for _ in methods]
    for part in candidates(len(asked), limits):
        cosines, scores = cosines_of(units, asked, part), np.empty(part.stop - part.start)
        for number, (a, b, c) in enumerate(place):
            out = [row - part.start for row in barred[number] if part.start <= row < part.stop]
            for method, leading in zip(methods, leaders, strict=True):
                combine(method, cosines[a], cosines[b], cosines[c], scores)
                scores[out] = -np.inf
                leading[number] = leader(leading[number], scores, part.start)
        for m, n in product(range(len(methods)), range(len(limits))):
            if limits[n] == part.stop:
                nearest = [
                    decide(units, three, found[0], methods[m]) for three, found in zip(rows, leaders[m], strict=True)
                ]
                right[m, n] = folded.canonical(np.array(nearest, dtype=np.int64)) == rows[:, 3]
    right &= (rows[:, :3] != rows[:, 3:]).all(axis=1)
    return right


def candidates(asked: int, limits: Sequence[int]) -> Iterator[slice]:
    """The vocabulary in blocks that end at each of the limits, of as many words as have room for their cosines."""
    start, step = 0, max(256, CACHED // (8 * max(1, asked)))
    for limit in sorted(set(limits)):
        while start < limit:
            stop = min(start + step, limit)
            yield slice(start, stop)
            start = stop


def cosines_of(units: np.ndarray, asked: np.ndarray, part: slice) -> np.ndarray:
    """The cosines of some rows with a block, (rows, block) float64: rounding is far below all that counts."""
    cosines: np.ndarray = units[asked].astype(np.float64) @ units[part].astype(np.float64).T
    return np.clip(cosines, -1, 1, out=cosines)


def leader(leading: Leader, scores: np.ndarray, start: int) -> Leader:
    """The best rows so far and of a block that starts at `start`: one, or all that rounding cannot tell apart."""
    best, known = float(scores.max()), float(leading[1].max(initial=-np.inf))
    least = max(best, known) - MARGIN * max(1.0, abs(best))
    if best == -np.inf or best < least:
        return leading
    near = np.flatnonzero(scores >= least)
    if known < least:
        return near + start, scores[near]
    kept = leading[1] >= least
    return np.append(leading[0][kept], near + start), np.append(leading[1][kept], scores[near])


def decide(units: np.ndarray, question: np.ndarray, near: np.ndarray, method: str) -> int:
    """Of the rows that rounding cannot tell apart, the best, then the lowest; the question's own a if there is none."""
    if len(near) < 2:
        return int(near[0] if len(near) else question[0])
    return int(near[exact(units, question[:3], near, method).argmax()])


def combine(method: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray) -> None:
    """The scores of words from their cosines with a, b and c; a sum is in the order of the cosine with b - a + c."""
    if method == "3cosadd":
        np.subtract(b, a, out=out)
        np.add(out, c, out=out)
    else:
        np.add(b, 1, out=out)
        np.multiply(out, c + 1, out=out)
        np.divide(out, a + (1 + 2 * MULTIPLICATIVE_EPSILON), out=out)  # twice equation 4: no order changes


def exact(units: np.ndarray, asked: np.ndarray, near: np.ndarray, method: str) -> np.ndarray:
    """Scores that are the same wherever a row stands, so that equal rows tie."""
    a, b, c = (units[row].astype(np.float64) for row in asked)
    if method == "3cosadd":
        return exact_cosines(units, unit(b - a + c))(near)
    to_a, to_b, to_c = ((1 + exact_cosines(units, unit(row))(near)) / 2 for row in (a, b, c))
    return np.asarray(to_b * to_c / (to_a + MULTIPLICATIVE_EPSILON))


def sections(test: Questions) -> Iterator[tuple[str | None, np.ndarray]]:
    """Which questions (questions,) bool belong to each section, to either kind and to all, where there are any."""
    section_of = np.array(test.section_of)
    syntactic = np.array([section.startswith(SYNTACTIC) for section in test.sections])[section_of]
    groups = [(section, section_of == place) for place, section in enumerate(test.sections)]
    kinds = [("semantic", ~syntactic), ("syntactic", syntactic), (None, np.ones(len(section_of), dtype=bool))]
    yield from ((name, members) for name, members in [*groups, *kinds] if members.any())
