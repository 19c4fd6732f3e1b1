"""Kernels that find the best words for many analogy questions, one block of the vocabulary after another.

Groups of words have upper bounds of their scores, made from the largest and smallest numbers of each table. A chunk is
scored only if one of its bounds reaches the best score so far, and examined word by word only if one of its scores
does. Rounding can swap scores that differ by less than a margin, so all such words are kept as candidates and resolved
exactly later; of equal rows only the first is kept, since it wins the tie.
"""

from typing import NamedTuple

import numpy as np

from embeddings.eval.datasets.analogy_questions import METHODS
from embeddings.kernels.jit import entry_point, inline, noinline

ADD, MULTIPLY = METHODS.index("3cosadd"), METHODS.index("3cosmul")
MARGIN = 1e-7  # relative to the best score, for float64
CAPACITY = 8  # candidates per question
CHUNK = 512
GROUPS = 32  # of a chunk: every 32nd word, so that the numbers of groups are next to each other


class Block(NamedTuple):
    """The tables that a block of words is scored by, of float32 or float64.

    With cosines x: `pairs` (pairs, block) has x_b - x_a, or for 3CosMul (1 + x_b) / (1 + x_a); `third` (words, block)
    has x_c, for 3CosMul 1 + x_c, and for PairDirection one over the distance. `start` is the row of the first word.
    `pair_bounds` and `third_bounds` have the largest number of each group of each whole chunk, (rows, groups).
    """

    pairs: np.ndarray
    third: np.ndarray
    start: int
    pair_bounds: np.ndarray
    third_bounds: np.ndarray


def new_block(pairs: np.ndarray, third: np.ndarray, start: int) -> Block:
    """A block with its bounds."""
    return Block(pairs, third, start, group_bounds(pairs), group_bounds(third))


def group_bounds(table: np.ndarray) -> np.ndarray:
    """The largest number of each group of each row, (rows, groups)."""
    bounds = np.empty((len(table), table.shape[1] // CHUNK * GROUPS), table.dtype)
    fill_bounds(table, bounds)
    return bounds


class Queries(NamedTuple):
    """Questions: rows of a block's two tables, (questions, 2), and the shift subtracted from b - a, (questions,).

    The words that may not answer question q are `excluded[starts[q]:starts[q + 1]]`. Scores that differ by less than
    `margin`, relative to the best, may be in the wrong order.
    """

    positions: np.ndarray
    shifts: np.ndarray
    starts: np.ndarray
    excluded: np.ndarray
    margin: float = MARGIN

    def part(self, part: slice) -> "Queries":
        """Some of the questions."""
        starts = self.starts[part.start : part.stop + 1]
        return self._replace(positions=self.positions[part], shifts=self.shifts[part], starts=starts)


class Candidates(NamedTuple):
    """For each question the `best` score so far, and the words whose scores are within the margin of it, in order.

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
def fill_bounds(table: np.ndarray, bounds: np.ndarray) -> None:
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
                    own[i] = part[i] if part[i] > own[i] else own[i]


@entry_point
def update(
    method: int, block: Block, queries: Queries, units: np.ndarray, candidates: Candidates, scores: np.ndarray
) -> None:
    """Update the candidates of each question by a block of words; `scores` (CHUNK,) is scratch space."""
    for q in range(queries.positions.shape[0]):
        pair, c, shift = queries.positions[q, 0], queries.positions[q, 1], queries.shifts[q]
        for begin in range(0, block.pairs.shape[1], CHUNK):
            least = threshold(candidates.best[q], queries.margin)
            if is_below(method, block, begin, pair, c, shift, least, scores):
                continue
            own = scores[: min(CHUNK, block.pairs.shape[1] - begin)]
            end = begin + own.shape[0]
            score(method, block.pairs[pair, begin:end], block.third[c, begin:end], shift, own)
            if any_reach(own, least):
                update_from_chunk(own, block.start + begin, q, queries, units, candidates)


@inline
def is_below(
    method: int, block: Block, begin: int, pair: int, c: int, shift: float, least: float, scores: np.ndarray
) -> bool:
    """Whether no score of the chunk that begins at a word reaches `least`, by its bounds; False if it has none.

    For PairDirection these bounds hold only above 0, as a negative difference is the smaller the larger its factor is.
    """
    groups = slice(begin // CHUNK * GROUPS, begin // CHUNK * GROUPS + GROUPS)
    if groups.stop > block.pair_bounds.shape[1] or (method not in (ADD, MULTIPLY) and least <= 0):
        return False
    score(method, block.pair_bounds[pair, groups], block.third_bounds[c, groups], shift, scores[:GROUPS])
    return not any_reach(scores[:GROUPS], least)


@entry_point
def score_rows(method: int, pair: np.ndarray, third: np.ndarray, shift: float, scores: np.ndarray) -> None:
    """`score`, for a single question."""
    score(method, pair, third, shift, scores)


@inline
def score(method: int, pair: np.ndarray, third: np.ndarray, shift: float, scores: np.ndarray) -> None:
    """Scores in the order of nearness, from a row of each table."""
    if method == ADD:
        for i in range(scores.shape[0]):
            scores[i] = pair[i] + third[i]
    elif method == MULTIPLY:
        for i in range(scores.shape[0]):
            scores[i] = pair[i] * third[i]
    else:
        for i in range(scores.shape[0]):
            scores[i] = (pair[i] - shift) * third[i]


@inline
def threshold(best: float, margin: float) -> float:
    """The lowest score that rounding may have put below the best."""
    return best - margin * max(1.0, abs(best))


@inline
def any_reach(scores: np.ndarray, least: float) -> bool:
    """Whether any score reaches `least`: counted, since a loop with an early exit is not vectorised."""
    count, limit = 0, scores.dtype.type(least)
    for i in range(scores.shape[0]):
        count += int(scores[i] >= limit)
    return count > 0


@noinline
def update_from_chunk(
    scores: np.ndarray, start: int, q: int, queries: Queries, units: np.ndarray, candidates: Candidates
) -> None:
    """Add the words of a chunk whose scores reach the best."""
    for i in range(scores.shape[0]):
        if scores[i] >= threshold(candidates.best[q], queries.margin) and not is_excluded(queries, q, start + i):
            if scores[i] > candidates.best[q]:
                raise_best(candidates, q, scores[i], queries.margin)
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
def raise_best(candidates: Candidates, q: int, best: float, margin: float) -> None:
    """Raise the best score, and drop candidates that are clearly below it."""
    least = threshold(best, margin)
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
