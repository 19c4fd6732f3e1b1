"""The answer to each analogy question, by several methods, among several numbers of words.

All methods are made of the cosines of every word with a, b and c, so each word that is asked with is compared with all
once, in a matrix product of a block of words after another, however many questions it stands in.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product

import numpy as np

from embeddings.eval.analogy_questions import METHODS
from embeddings.eval.topk import CHUNK, MARGIN, Asked, Block, Leaders, lead, new_leaders, score_all
from embeddings.eval.word_matching import Folded
from embeddings.indexes.parallel import spread
from embeddings.support.cosine import MULTIPLICATIVE_EPSILON, exact_cosines, unit

SAME = 1e-6  # squared distance below which a unit vector is c itself, and no direction leads to it
CACHED = 1 << 22  # bytes of cosines at a time, which the processor's cache holds


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
    answers = np.where((answers[:, :, None] == rows[:, None, :]).any(axis=2), -1, answers)
    words, places = np.unique(rows, return_inverse=True)
    table = Cosines(units, words, methods)
    asked = table.asked(places.reshape(-1, 3), [folded.forms(three) for three in rows])
    leaders = [new_leaders(len(rows)) for _ in methods]
    for part in candidates(len(words), limits):
        table.take(part)
        for method, leading in zip(methods, leaders, strict=True):
            compete(method, table.block(method), asked, units, leading)
        for m, n in product(range(len(methods)), range(len(limits))):
            if limits[n] == part.stop:
                nearest = decided(units, rows, leaders[m], methods[m], asked, part.stop)
                right[m, n] = (answers == folded.canonical(nearest)[:, None]).any(axis=1)
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

    def __init__(self, units: np.ndarray, words: np.ndarray, methods: Sequence[str]) -> None:
        self.units, self.words, self.methods = units, units[words].astype(np.float64), methods
        self.start = 0
        self.cosines = self.more = self.inverse = np.empty((0, 0))

    def asked(self, places: np.ndarray, barred: Sequence[Sequence[int]]) -> Asked:
        """Questions by the places of their words, and which rows may not answer each."""
        shifts = np.zeros(len(places))
        if "pairdirection" in self.methods:
            a, b, c = (self.words[places[:, side]] for side in range(3))
            shifts = np.einsum("ij,ij->i", c, b - a)
        starts = np.cumsum([0, *map(len, barred)])
        return Asked(places, shifts, starts, np.fromiter(chain.from_iterable(barred), np.int64))

    def take(self, part: slice) -> None:
        """Go on to another block of words."""
        block = self.units[part].astype(np.float64)
        self.start, self.cosines = part.start, self.words @ block.T
        if "pairdirection" in self.methods:
            squares = np.add.outer((self.words**2).sum(axis=1), (block**2).sum(axis=1)) - 2 * self.cosines
            squares[squares < SAME] = np.inf
            self.inverse = np.reciprocal(np.sqrt(squares, out=squares), out=squares)
        np.clip(self.cosines, -1, 1, out=self.cosines)
        if "3cosmul" in self.methods:
            self.more = self.cosines + 1

    def block(self, method: str) -> Block:
        """What the block's words score by."""
        if method == "3cosmul":  # twice equation 4: no order changes
            inverse = self.more + 2 * MULTIPLICATIVE_EPSILON
            return Block(np.reciprocal(inverse, out=inverse), self.more, self.more, self.start)
        if method == "3cosadd":  # in the order of the cosine with b - a + c
            return Block(self.cosines, self.cosines, self.cosines, self.start)
        return Block(self.cosines, self.cosines, self.inverse, self.start)  # |b - a| times the cosine


def compete(method: str, block: Block, asked: Asked, units: np.ndarray, leaders: Leaders) -> None:
    """Let a block of words compete for all questions, on all cores."""

    def work(part: slice) -> None:
        lead(METHODS.index(method), block, asked.part(part), units, leaders.part(part), np.empty(CHUNK))

    spread(len(asked.places), work)


def decided(units: np.ndarray, rows: np.ndarray, leaders: Leaders, method: str, asked: Asked, limit: int) -> np.ndarray:
    """The answer to each question, (questions,): of the rows that rounding cannot tell apart the best, then the lowest.

    A question to which nothing may be an answer gets its own a.
    """
    nearest = np.where(leaders.counts > 0, leaders.rows[:, 0], rows[:, 0])
    for q in np.flatnonzero((leaders.counts > 1) | leaders.crowded):
        near = leaders.rows[q, : leaders.counts[q]]
        if leaders.crowded[q]:
            near = every_near(units, rows[q], asked.barred[asked.starts[q] : asked.starts[q + 1]], method, limit)
        nearest[q] = near[exact(units, rows[q], near, method).argmax()]
    return nearest


def every_near(units: np.ndarray, question: np.ndarray, barred: np.ndarray, method: str, limit: int) -> np.ndarray:
    """The rows that rounding cannot tell from the best, however many they are."""
    table, scores = Cosines(units, question, [method]), np.empty(limit)
    shift = table.asked(np.arange(3)[None], [barred.tolist()]).shifts[0]
    for part in candidates(3, [limit]):
        table.take(part)
        block = table.block(method)
        score_all(METHODS.index(method), block.first[0], block.second[1], block.third[2], shift, scores[part])
    scores[barred[barred < limit]] = -np.inf
    best = scores.max()
    return np.flatnonzero(scores >= best - MARGIN * max(1.0, abs(best)))


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
