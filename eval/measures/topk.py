"""Kernels that find the best words for many analogy questions, one block of the vocabulary after another.

Groups of words have upper bounds of their scores, made from the largest and smallest numbers of each table. A chunk is
scored only if one of its bounds reaches the best score so far, and examined word by word only if one of its scores
does. Rounding can swap scores that differ by less than `MARGIN`, so all such words are kept as candidates and resolved
exactly later; of equal rows only the first is kept, since it wins the tie.
"""

from typing import NamedTuple

import numpy as np

from embeddings.eval.datasets.analogy_questions import METHODS
from embeddings.kernels.jit import entry_point, inline, noinline

ADD, MULTIPLY = METHODS.index("3cosadd"), METHODS.index("3cosmul")
MARGIN = 1e-7  # relative to the best score
CAPACITY = 8  # candidates per question
CHUNK = 512
GROUPS = 32  # of a chunk: every 32nd word, so that the numbers of groups are next to each other


class Block(NamedTuple):
    """The tables that a block of words is scored by, a row of each for a, b and c, (words, block) float64.

    With cosines x: `first` and `second` are x for 3CosAdd and PairDirection; `third` is x, or one over the distance.
    For 3CosMul `second` and `third` are 1 + x, and `first` is one over that. `start` is the row of the first word.
    `first_bounds`, `second_bounds` and `third_bounds` (words, groups) give upper bounds of the scores of each group of
    each whole chunk.
    """

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    start: int
    first_bounds: np.ndarray
    second_bounds: np.ndarray
    third_bounds: np.ndarray


def new_block(method: int, first: np.ndarray, second: np.ndarray, third: np.ndarray, start: int) -> Block:
    """A block with its bounds; for methods that subtract the first table, that is bounded from below."""
    largest = {id(table): group_bounds(table, 1) for table in (second, third)}
    first_bounds = group_bounds(first, 1 if method == MULTIPLY else -1)
    return Block(first, second, third, start, first_bounds, largest[id(second)], largest[id(third)])


def group_bounds(table: np.ndarray, sign: int) -> np.ndarray:
    """The largest number of each group of each row, or with sign -1 the smallest, (rows, groups)."""
    bounds = np.empty((len(table), table.shape[1] // CHUNK * GROUPS))
    fill_bounds(table, sign, bounds)
    return bounds


class Queries(NamedTuple):
    """Questions: rows of a block's tables, (questions, 3), and the shift subtracted from b - a, (questions,).

    The words that may not answer question q are `excluded[starts[q]:starts[q + 1]]`.
    """

    positions: np.ndarray
    shifts: np.ndarray
    starts: np.ndarray
    excluded: np.ndarray

    def part(self, part: slice) -> "Queries":
        """Some of the questions."""
        return Queries(self.positions[part], self.shifts[part], self.starts[part.start : part.stop + 1], self.excluded)


class Candidates(NamedTuple):
    """For each question the `best` score so far, and the words whose scores are within `MARGIN` of it, in order.

    `rows` and `scores` (questions, CAPACITY) hold `counts` of them; `overflowed` marks that there are more.
    """

    best: np.ndarray
    rows: np.ndarray
    scores: np.ndarray
    counts: np.ndarray
    overflowed: np.ndarray

    def part(self, part: slice) -> "Candidates":
        """Views of those of some questions."""
        return Candidates(*(array[part] for array in self))


def new_candidates(questions: int) -> Candidates:
    """No candidates yet."""
    shape = (questions, CAPACITY)
    counts, overflowed = np.zeros(questions, np.int64), np.zeros(questions, np.bool_)
    return Candidates(np.full(questions, -np.inf), np.zeros(shape, np.int64), np.zeros(shape), counts, overflowed)


@entry_point
def fill_bounds(table: np.ndarray, sign: int, bounds: np.ndarray) -> None:
    """Fill `bounds` for the whole chunks of each row."""
    for row in range(bounds.shape[0]):
        for first in range(0, bounds.shape[1], GROUPS):
            begin = first // GROUPS * CHUNK
            own = bounds[row, first : first + GROUPS]
            for i in range(GROUPS):
                own[i] = table[row, begin + i]
            for offset in range(begin + GROUPS, begin + CHUNK, GROUPS):
                part = table[row, offset : offset + GROUPS]
                for i in range(GROUPS):
                    own[i] = part[i] if sign * part[i] > sign * own[i] else own[i]


@entry_point
def update(
    method: int, block: Block, queries: Queries, units: np.ndarray, candidates: Candidates, scores: np.ndarray
) -> None:
    """Update the candidates of each question by a block of words; `scores` (CHUNK,) float64 is scratch space."""
    for q in range(queries.positions.shape[0]):
        a, b, c = queries.positions[q, 0], queries.positions[q, 1], queries.positions[q, 2]
        for begin in range(0, block.first.shape[1], CHUNK):
            if is_below(method, block, begin, (a, b, c), queries.shifts[q], threshold(candidates.best[q]), scores):
                continue
            own = scores[: min(CHUNK, block.first.shape[1] - begin)]
            end = begin + own.shape[0]
            first, second, third = block.first[a, begin:end], block.second[b, begin:end], block.third[c, begin:end]
            score(method, first, second, third, queries.shifts[q], own)
            if any_reach(own, threshold(candidates.best[q])):
                update_from_chunk(own, block.start + begin, q, queries, units, candidates)


@inline
def is_below(
    method: int, block: Block, begin: int, rows: tuple[int, int, int], shift: float, least: float, scores: np.ndarray
) -> bool:
    """Whether no score of the chunk that begins at a word reaches `least`, by its bounds; False if it has none.

    For PairDirection these bounds hold only above 0, as a negative difference is the smaller the larger its factor is.
    """
    groups = slice(begin // CHUNK * GROUPS, begin // CHUNK * GROUPS + GROUPS)
    if groups.stop > block.first_bounds.shape[1] or (method not in (ADD, MULTIPLY) and least <= 0):
        return False
    first, second = block.first_bounds[rows[0], groups], block.second_bounds[rows[1], groups]
    score(method, first, second, block.third_bounds[rows[2], groups], shift, scores[:GROUPS])
    return not any_reach(scores[:GROUPS], least)


@entry_point
def score_rows(
    method: int, first: np.ndarray, second: np.ndarray, third: np.ndarray, shift: float, scores: np.ndarray
) -> None:
    """`score`, for a single question."""
    score(method, first, second, third, shift, scores)


@inline
def score(
    method: int, first: np.ndarray, second: np.ndarray, third: np.ndarray, shift: float, scores: np.ndarray
) -> None:
    """Scores in the order of nearness, from a row of each table."""
    if method == ADD:
        for i in range(scores.shape[0]):
            scores[i] = second[i] - first[i] + third[i]
    elif method == MULTIPLY:
        for i in range(scores.shape[0]):
            scores[i] = second[i] * third[i] * first[i]
    else:
        for i in range(scores.shape[0]):
            scores[i] = (second[i] - first[i] - shift) * third[i]


@inline
def threshold(best: float) -> float:
    """The lowest score that rounding may have put below the best."""
    return best - MARGIN * max(1.0, abs(best))


@inline
def any_reach(scores: np.ndarray, least: float) -> bool:
    """Whether any score reaches `least`: counted, since a loop with an early exit is not vectorised."""
    count = 0
    for i in range(scores.shape[0]):
        count += int(scores[i] >= least)
    return count > 0


@noinline
def update_from_chunk(
    scores: np.ndarray, start: int, q: int, queries: Queries, units: np.ndarray, candidates: Candidates
) -> None:
    """Add the words of a chunk whose scores reach the best."""
    for i in range(scores.shape[0]):
        if scores[i] >= threshold(candidates.best[q]) and not is_excluded(queries, q, start + i):
            if scores[i] > candidates.best[q]:
                raise_best(candidates, q, scores[i])
            if not is_duplicate(candidates, q, units, start + i):
                add(candidates, q, start + i, scores[i])


@inline
def is_excluded(queries: Queries, q: int, row: int) -> bool:
    """Whether a word may not answer a question."""
    match = False
    for i in range(queries.starts[q], queries.starts[q + 1]):
        match = match or queries.excluded[i] == row
    return match


@inline
def raise_best(candidates: Candidates, q: int, best: float) -> None:
    """Raise the best score, and drop candidates that are clearly below it."""
    least = threshold(best)
    if candidates.best[q] < least:
        candidates.counts[q], candidates.overflowed[q] = 0, False
    candidates.best[q] = best
    n = 0
    for j in range(candidates.counts[q]):
        if candidates.scores[q, j] >= least:
            candidates.rows[q, n], candidates.scores[q, n] = candidates.rows[q, j], candidates.scores[q, j]
            n += 1
    candidates.counts[q] = n


@inline
def is_duplicate(candidates: Candidates, q: int, units: np.ndarray, row: int) -> bool:
    """Whether a row equals a candidate's, and so loses against it."""
    for j in range(candidates.counts[q]):
        other, d = units[candidates.rows[q, j]], 0
        while d < other.shape[0] and other[d] == units[row, d]:
            d += 1
        if d == other.shape[0]:
            return True
    return False


@inline
def add(candidates: Candidates, q: int, row: int, score: float) -> None:
    """Add a candidate, if there is capacity."""
    n = candidates.counts[q]
    if n == CAPACITY:
        candidates.overflowed[q] = True
    else:
        candidates.rows[q, n], candidates.scores[q, n] = row, score
        candidates.counts[q] = n + 1
