"""The best words for many analogy questions, one block of words after another: compiled.

Scores of a chunk of words are made and compared with what is best so far in vector code; only a chunk that reaches it
is looked at word by word. Rounding cannot tell scores apart that are nearer than `MARGIN`, so all of these are kept,
to be decided row by row; of equal rows the first alone, which wins.
"""

from typing import NamedTuple

import numpy as np

from embeddings.eval.analogy_questions import METHODS
from embeddings.kernels.jit import aside, hot, piece

ADD, MULTIPLY = METHODS.index("3cosadd"), METHODS.index("3cosmul")
MARGIN = 1e-7  # share of the best
ROOM = 8  # words that are kept for a question
CHUNK = 512


class Block(NamedTuple):
    """What a block of words scores by: for a, b and c of a question a row each of these, (asked, block) float64.

    With cosines x of the words: additive, and for pair direction, `first` and `second` are x; `third` is x, or one over
    the distance. For 3CosMul `second` and `third` are 1 + x, and `first` is one over the same.
    `start` is the row of the first word.
    """

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    start: int


class Asked(NamedTuple):
    """Questions: their places in a block's tables, (questions, 3), and what is taken from b - a, (questions,).

    The words that may not answer question q are `barred[starts[q]:starts[q + 1]]`.
    """

    places: np.ndarray
    shifts: np.ndarray
    starts: np.ndarray
    barred: np.ndarray

    def part(self, part: slice) -> "Asked":
        """Some of the questions."""
        return Asked(self.places[part], self.shifts[part], self.starts[part.start : part.stop + 1], self.barred)


class Leaders(NamedTuple):
    """For each question the `best` score so far and the words that come near it, in order.

    `rows` and `scores` (questions, ROOM) hold `counts` of them; `crowded` says that there are more.
    """

    best: np.ndarray
    rows: np.ndarray
    scores: np.ndarray
    counts: np.ndarray
    crowded: np.ndarray

    def part(self, part: slice) -> "Leaders":
        """Those of some of the questions, to be written on."""
        return Leaders(*(array[part] for array in self))


def new_leaders(questions: int) -> Leaders:
    """Nobody yet."""
    shape = (questions, ROOM)
    counts, crowded = np.zeros(questions, np.int64), np.zeros(questions, np.bool_)
    return Leaders(np.full(questions, -np.inf), np.zeros(shape, np.int64), np.zeros(shape), counts, crowded)


@hot
def lead(method: int, block: Block, asked: Asked, units: np.ndarray, leaders: Leaders, scores: np.ndarray) -> None:
    """Let a block of words compete for each question; `scores` (CHUNK,) float64 is scratch."""
    for q in range(asked.places.shape[0]):
        a, b, c = asked.places[q, 0], asked.places[q, 1], asked.places[q, 2]
        for begin in range(0, block.first.shape[1], CHUNK):
            own = scores[: min(CHUNK, block.first.shape[1] - begin)]
            end = begin + own.shape[0]
            first, second, third = block.first[a, begin:end], block.second[b, begin:end], block.third[c, begin:end]
            score(method, first, second, third, asked.shifts[q], own)
            if reached(own, lowest(leaders.best[q])):
                revise(own, block.start + begin, q, asked, units, leaders)


@hot
def score_all(
    method: int, first: np.ndarray, second: np.ndarray, third: np.ndarray, shift: float, scores: np.ndarray
) -> None:
    """`score`, for a question by itself."""
    score(method, first, second, third, shift, scores)


@piece
def score(
    method: int, first: np.ndarray, second: np.ndarray, third: np.ndarray, shift: float, scores: np.ndarray
) -> None:
    """Scores in whose order the words lie nearest, by a row of each table."""
    if method == ADD:
        for i in range(scores.shape[0]):
            scores[i] = second[i] - first[i] + third[i]
    elif method == MULTIPLY:
        for i in range(scores.shape[0]):
            scores[i] = second[i] * third[i] * first[i]
    else:
        for i in range(scores.shape[0]):
            scores[i] = (second[i] - first[i] - shift) * third[i]


@piece
def lowest(best: float) -> float:
    """The lowest score that rounding may have put below the best."""
    return best - MARGIN * max(1.0, abs(best))


@piece
def reached(scores: np.ndarray, least: float) -> bool:
    """Whether any score does: counted, since a loop that may end early is no vector code."""
    count = 0
    for i in range(scores.shape[0]):
        count += int(scores[i] >= least)
    return count > 0


@aside
def revise(scores: np.ndarray, start: int, q: int, asked: Asked, units: np.ndarray, leaders: Leaders) -> None:
    """Take in what leads among a chunk of words."""
    for i in range(scores.shape[0]):
        if scores[i] >= lowest(leaders.best[q]) and not is_barred(asked, q, start + i):
            if scores[i] > leaders.best[q]:
                raise_best(leaders, q, scores[i])
            if not is_double(leaders, q, units, start + i):
                keep(leaders, q, start + i, scores[i])


@piece
def is_barred(asked: Asked, q: int, row: int) -> bool:
    """Whether a word may not answer a question."""
    found = False
    for place in range(asked.starts[q], asked.starts[q + 1]):
        found = found or asked.barred[place] == row
    return found


@piece
def raise_best(leaders: Leaders, q: int, best: float) -> None:
    """Put the best score up; words that are clearly below it fall out."""
    least = lowest(best)
    if leaders.best[q] < least:
        leaders.counts[q], leaders.crowded[q] = 0, False
    leaders.best[q] = best
    kept = 0
    for j in range(leaders.counts[q]):
        if leaders.scores[q, j] >= least:
            leaders.rows[q, kept], leaders.scores[q, kept] = leaders.rows[q, j], leaders.scores[q, j]
            kept += 1
    leaders.counts[q] = kept


@piece
def is_double(leaders: Leaders, q: int, units: np.ndarray, row: int) -> bool:
    """Whether a row equals one that is kept, and so loses against it."""
    for j in range(leaders.counts[q]):
        other, d = units[leaders.rows[q, j]], 0
        while d < other.shape[0] and other[d] == units[row, d]:
            d += 1
        if d == other.shape[0]:
            return True
    return False


@piece
def keep(leaders: Leaders, q: int, row: int, score: float) -> None:
    """Add a word, if there is room."""
    n = leaders.counts[q]
    if n == ROOM:
        leaders.crowded[q] = True
    else:
        leaders.rows[q, n], leaders.scores[q, n] = row, score
        leaders.counts[q] = n + 1
