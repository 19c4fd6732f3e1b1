"""Analogy questions: is d the answer to "a is to b as c is to what"?

3CosAdd takes the word nearest to b - a + c (Mikolov et al., 2013), 3CosMul the one with the largest
cos(x, b) cos(x, c) / cos(x, a), cosines moved to 0..1 (Levy and Goldberg, 2014), PairDirection the one for which
x - c points most as b - a does (Mikolov et al., 2013; equation 2 of Levy and Goldberg). All are made of the cosines of
every word with a, b and c, so each word that is asked with is compared with all once, in one matrix product, however
many questions it stands in.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.matching import Folded
from embeddings.eval.outcomes import Shares
from embeddings.eval.questions import Questions
from embeddings.eval.results import Key
from embeddings.neighbours import MULTIPLICATIVE_EPSILON, exact_cosines, unit
from embeddings.vectors import Vectors

METHODS = ("3cosadd", "3cosmul", "pairdirection")
MARGIN = 1e-7  # scores nearer than this share of the best are decided again, row by row
SAME = 1e-6  # squared distance below which a unit vector is c itself, and no direction leads to it
PROTOCOL = (
    "case does not count, and of words alike but for case the most frequent is taken; a question is left out if one of "
    "its three words or all of its right answers have no vector; a, b, c and their forms in other case are no answers; "
    "of several right answers any one will do; a tie goes to the more frequent word; a question that stands twice "
    "counts twice; interval: Wilson's"
)

ABSENT = "no question has vectors for all four words"
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
            raise SettingError(f"method must be one of {', '.join(METHODS)}, not {name!r}")
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
    """Which questions are answered rightly, for each of `methods` and `restrict`: by section, by kind, and all (None).

    As gensim's `evaluate_word_analogies`: unit vectors; upper case; a, b, c and their forms in other case
    are no answers; a question with a word that has no vector (among the first `restrict`) is left out and
    counted as not seen. A tie goes to the more frequent word. gensim looks at five candidates only: where
    all five are forms of a, b and c it counts a miss, and the next candidate is taken here.
    """
    asked = folded.find(word for question in test.questions for word in question).reshape(-1, 3)
    answers = answer_rows(test, folded)
    limits = [len(vectors) if limit is None else min(limit, len(vectors)) for limit in restrict]
    seen = [known(asked, answers, limit) for limit in limits]
    some = np.logical_or.reduce(seen)
    right = np.zeros((len(methods), len(limits), len(asked)), dtype=bool)
    right[:, :, some] = answer(vectors.units, asked[some], answers[some], folded, limits, methods)
    found: list[Shares] = []
    for method, by_limit in zip(methods, right, strict=True):
        for limit, covered, hits in zip(restrict, seen, by_limit, strict=True):
            whole = Shares(
                vectors=name,
                key=Key(test.name, "accuracy", restrict=limit, method=method),
                seen=covered,
                right=hits & covered,
                members=np.ones(len(asked), dtype=bool),
                protocol=PROTOCOL,
                absent=ABSENT,
            )
            found += [whole.section(section, members, detail=detail) for section, members, detail in sections(test)]
    return found


def answer_rows(test: Questions, folded: Folded) -> np.ndarray:
    """The rows of the right answers to each question, (questions, most answers), -1 where there is none."""
    most = max(map(len, test.answers))
    padded = [(*answers, *("",) * (most - len(answers))) for answers in test.answers]
    return folded.find(word for answers in padded for word in answers).reshape(-1, most)


def known(asked: np.ndarray, answers: np.ndarray, limit: int) -> np.ndarray:
    """Which questions have all three words and an answer among the first so many words, (questions,) bool."""
    three = (asked >= 0) & (asked < limit)
    return np.asarray(three.all(axis=1) & ((answers >= 0) & (answers < limit)).any(axis=1))


def answer(
    units: np.ndarray,
    rows: np.ndarray,
    answers: np.ndarray,
    folded: Folded,
    limits: Sequence[int],
    methods: Sequence[str],
) -> np.ndarray:
    """Whether each question (rows of a, b and c) is answered rightly: (methods, limits, questions) bool."""
    right = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    if not len(rows):
        return right
    asked, place = np.unique(rows, return_inverse=True)
    place, barred = place.reshape(-1, 3), [folded.forms(three) for three in rows]
    answers = np.where((answers[:, :, None] == rows[:, None, :]).any(axis=2), -1, answers)
    leaders = [[NOBODY] * len(rows) for _ in methods]
    table = Cosines(units, asked, "pairdirection" in methods)
    for part in candidates(len(asked), limits):
        table.take(part)
        for number, three in enumerate(place):
            out = [row - part.start for row in barred[number] if part.start <= row < part.stop]
            for method, leading in zip(methods, leaders, strict=True):
                scores = table.scores(method, three)
                scores[out] = -np.inf
                leading[number] = leader(leading[number], scores, part.start)
        for m, n in product(range(len(methods)), range(len(limits))):
            if limits[n] == part.stop:
                nearest = [
                    decide(units, three, led[0], methods[m]) for three, led in zip(rows, leaders[m], strict=True)
                ]
                right[m, n] = (answers == folded.canonical(np.array(nearest, dtype=np.int64))[:, None]).any(axis=1)
    return right


def candidates(asked: int, limits: Sequence[int]) -> Iterator[slice]:
    """The vocabulary in blocks that end at each of the limits, of as many words as have room for their cosines."""
    start, step = 0, max(256, CACHED // (8 * max(1, asked)))
    for limit in sorted(set(limits)):
        while start < limit:
            stop = min(start + step, limit)
            yield slice(start, stop)
            start = stop


class Cosines:
    """The cosines of the rows that are asked with, (asked, block) float64: rounding is far below all that counts."""

    def __init__(self, units: np.ndarray, asked: np.ndarray, directions: bool) -> None:
        self.units, self.asked = units, units[asked].astype(np.float64)
        self.directions = directions
        self.among = self.asked @ self.asked.T if directions else np.empty((0, 0))
        self.cosines = self.inverse = self.out = np.empty(0)

    def take(self, part: slice) -> None:
        """Go on to another block of words."""
        block = self.units[part].astype(np.float64)
        self.cosines, self.out = self.asked @ block.T, np.empty(len(block))
        if self.directions:
            squares = np.add.outer((self.asked**2).sum(axis=1), (block**2).sum(axis=1)) - 2 * self.cosines
            squares[squares < SAME] = np.inf
            self.inverse = np.reciprocal(np.sqrt(squares, out=squares), out=squares)
        np.clip(self.cosines, -1, 1, out=self.cosines)

    def scores(self, method: str, three: np.ndarray) -> np.ndarray:
        """The scores of the block's words, in an array that the next call will use again."""
        out, (a, b, c) = self.out, three
        if method == "3cosmul":
            np.add(self.cosines[b], 1, out=out)
            out *= self.cosines[c] + 1
            out /= self.cosines[a] + (1 + 2 * MULTIPLICATIVE_EPSILON)  # twice equation 4: no order changes
            return out
        np.subtract(self.cosines[b], self.cosines[a], out=out)
        if method == "3cosadd":
            out += self.cosines[c]  # in the order of the cosine with b - a + c
        else:
            out -= self.among[c, b] - self.among[c, a]
            out *= self.inverse[c]  # |b - a| times the cosine: no order changes
        return out


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


def exact(units: np.ndarray, asked: np.ndarray, near: np.ndarray, method: str) -> np.ndarray:
    """Scores that are the same wherever a row stands, so that equal rows tie."""
    a, b, c = (units[row].astype(np.float64) for row in asked)
    if method == "3cosadd":
        return exact_cosines(units, unit(b - a + c))(near)
    if method == "pairdirection":
        ways = units[near].astype(np.float64) - c
        return np.where((ways**2).sum(axis=1) < SAME, 0, (unit(ways) * unit(b - a)).sum(axis=1))
    to_a, to_b, to_c = ((1 + exact_cosines(units, unit(row))(near)) / 2 for row in (a, b, c))
    return np.asarray(to_b * to_c / (to_a + MULTIPLICATIVE_EPSILON))


def sections(test: Questions) -> Iterator[tuple[str | None, np.ndarray, bool]]:
    """Each section, each kind and all: its name, which questions (questions,) bool, and whether it is a section."""
    section_of = np.array(test.section_of)
    if len(test.sections) > 1 or test.kinds != [None]:
        yield from ((section, section_of == place, True) for place, section in enumerate(test.sections))
    for kind in dict.fromkeys(test.kinds):
        if kind is not None:
            yield kind, np.array([one == kind for one in test.kinds])[section_of], False
    yield None, np.ones(len(section_of), dtype=bool), False
