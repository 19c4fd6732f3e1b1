"""The answer to each analogy question, by several methods and among several numbers of words.

All methods are functions of the cosines of every word with a, b and c. Each distinct word of the questions is compared
with the whole vocabulary once, by a matrix product per block of words, however many questions it occurs in; each
distinct pair of a and b is combined once.

For 3CosAdd the cosines are computed in float32, with a margin that covers their rounding.

Groups of words have upper bounds of their scores, made from the largest and smallest numbers of each table. A chunk is
scored only if one of its bounds reaches the best score so far, and examined word by word only if one of its scores
does. Rounding can swap scores that differ by less than a margin, so all such words are kept as candidates and resolved
exactly later; of equal rows only the first is kept, since it wins the tie.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline, noinline
from embeddings.eval.tasks.evaluation_kind import METHODS
from embeddings.eval.word_matching import CaseFolding
from embeddings.indexes.cosine_search import MULTIPLICATIVE_EPSILON, pair_cosines, product_error
from embeddings.support.cosine import normalize
from embeddings.support.threads import run_slices

ADD = METHODS.index("3cosadd")
MARGIN = 1e-7  # relative to the best score, for float64
CAPACITY = 8  # candidates per question
CHUNK = 512
GROUPS = 32  # of a chunk: every 32nd word, so that the numbers of groups are next to each other


class Block(NamedTuple):
    """The tables that a block of words is scored by, of float32 or float64.

    With cosines x: `pairs` (pairs, block) has x_b - x_a, or for 3CosMul (1 + x_b) / (1 + x_a); `third` (words, block)
    has x_c, for 3CosMul 1 + x_c. `start` is the row of the first word.
    `pair_bounds` and `third_bounds` have the largest number of each group of each whole chunk, (rows, groups).
    """

    pairs: np.ndarray
    third: np.ndarray
    start: int
    pair_bounds: np.ndarray
    third_bounds: np.ndarray


def new_block(pairs: np.ndarray, third: np.ndarray, start: int) -> Block:
    """A block with its bounds."""
    bounds = [np.empty((len(table), table.shape[1] // CHUNK * GROUPS), table.dtype) for table in (pairs, third)]
    for table, of_groups in zip((pairs, third), bounds, strict=True):
        fill_bounds(table, of_groups)
    return Block(pairs, third, start, *bounds)


class Queries(NamedTuple):
    """Questions: rows of a block's two tables, (questions, 2).

    The words that may not answer question q are `excluded[starts[q]:starts[q + 1]]`. Scores that differ by less than
    `margin`, relative to the best, may be in the wrong order.
    """

    positions: np.ndarray
    starts: np.ndarray
    excluded: np.ndarray
    margin: float = MARGIN

    def part(self, part: slice) -> "Queries":
        """Some of the questions."""
        starts = self.starts[part.start : part.stop + 1]
        return self._replace(positions=self.positions[part], starts=starts)


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
        """Views of the arrays for some of the questions."""
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
        pair, c = queries.positions[q, 0], queries.positions[q, 1]
        for begin in range(0, block.pairs.shape[1], CHUNK):
            least = threshold(candidates.best[q], queries.margin)
            # a chunk that ends here has cost 32 bounds in place of 512 scores
            if is_below(method, block, begin, pair, c, least, scores):
                continue
            own = scores[: min(CHUNK, block.pairs.shape[1] - begin)]
            end = begin + own.shape[0]
            score(method, block.pairs[pair, begin:end], block.third[c, begin:end], own)
            if any_reach(own, least):
                update_from_chunk(own, block.start + begin, q, queries, units, candidates)


@inline
def is_below(method: int, block: Block, begin: int, pair: int, c: int, least: float, scores: np.ndarray) -> bool:
    """Whether no score of the chunk that begins at a word reaches `least`, by its bounds; False if it has none."""
    groups = slice(begin // CHUNK * GROUPS, begin // CHUNK * GROUPS + GROUPS)
    if groups.stop > block.pair_bounds.shape[1]:
        return False
    score(method, block.pair_bounds[pair, groups], block.third_bounds[c, groups], scores[:GROUPS])
    return not any_reach(scores[:GROUPS], least)


@inline
def score(method: int, pair: np.ndarray, third: np.ndarray, scores: np.ndarray) -> None:
    """Scores in the order of nearness, from a row of each table."""
    if method == ADD:
        for i in range(scores.shape[0]):
            scores[i] = pair[i] + third[i]
    else:
        for i in range(scores.shape[0]):
            scores[i] = pair[i] * third[i]


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
                n = candidates.counts[q]
                if n == CAPACITY:
                    candidates.overflowed[q] = True
                else:
                    candidates.rows[q, n], candidates.scores[q, n] = start + i, scores[i]
                    candidates.counts[q] = n + 1


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
    # candidates near a best score that is far below the new one are all below it, also those without a place
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


CACHE_BYTES = 1 << 22  # of cosines at a time, which the processor's cache holds


def score_questions(
    units: np.ndarray,
    rows: np.ndarray,
    answers: np.ndarray,
    folding: CaseFolding,
    limits: Sequence[int],
    methods: Sequence[str],
) -> np.ndarray:
    """Whether each question (rows of a, b and c) is answered correctly: (methods, limits, questions) bool."""
    correct = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    if not len(rows):
        return correct
    # a word of the question is never an answer, even if the set says so
    answers = np.where((answers[:, :, None] == rows[:, None, :]).any(axis=2), -1, answers)
    words, positions = np.unique(rows, return_inverse=True)
    cosines = Cosines(units, words, positions.reshape(-1, 3), methods)
    queries = cosines.queries([folding.case_variants(three) for three in rows])
    candidates = [new_candidates(len(rows)) for _ in methods]
    # blocks end at each limit, so that candidates are then those among the first words; later blocks add to them
    for part in vocabulary_blocks(cosines.bytes_per_word, limits):
        cosines.compute(part)
        for method, best in zip(methods, candidates, strict=True):
            update_all(method, cosines.block(method), queries, units, best)
        for m, n in product(range(len(methods)), range(len(limits))):
            if limits[n] == part.stop:
                nearest = resolve_ties(units, rows, candidates[m], methods[m], queries, part.stop)
                correct[m, n] = (answers == folding.canonical(nearest)[:, None]).any(axis=1)
    return correct


def vocabulary_blocks(bytes_per_word: int, limits: Sequence[int]) -> Iterator[slice]:
    """Blocks of the vocabulary that end at each of the limits and whose tables fit the cache."""
    start, step = 0, max(1, CACHE_BYTES // (bytes_per_word * CHUNK)) * CHUNK
    for limit in sorted(set(limits)):
        while start < limit:
            stop = min(start + step, limit)
            yield slice(start, stop)
            start = stop


class Cosines:
    """The cosines of the words of questions with a block of the vocabulary, (words, block).

    Arguments:
        units: the unit vectors of the vocabulary.
        words: the rows of the words.
        positions: those of a, b and c of each question in `words`, (questions, 3).
        methods: those of the questions. For 3CosAdd alone float32 is enough.
        exact: compute in float64 all the same.
    """

    def __init__(
        self, units: np.ndarray, words: np.ndarray, positions: np.ndarray, methods: Sequence[str], exact: bool = False
    ) -> None:
        self.dtype = np.float64 if exact or set(methods) != {"3cosadd"} else np.float32
        self.units, self.words, self.positions = units, units[words].astype(self.dtype), positions
        pairs, self.pair_of = np.unique(positions[:, :2], axis=0, return_inverse=True)
        self.a, self.b = pairs.T
        self.bytes_per_word = self.words.itemsize * (len(words) + len(pairs))
        self.start, self.cosines = 0, np.empty((0, 0))

    def queries(self, excluded: Sequence[Sequence[int]]) -> Queries:
        """The questions, given the rows that may not answer each."""
        starts = np.cumsum([0, *map(len, excluded)])
        rows = np.stack([self.pair_of.reshape(-1), self.positions[:, 2]], axis=1)
        return Queries(rows, starts, np.fromiter(chain.from_iterable(excluded), np.int64), self.margin)

    @property
    def margin(self) -> float:
        """The difference of scores, relative to the best, that rounding can hide: of three cosines and of their sum."""
        return MARGIN if self.dtype == np.float64 else 4 * product_error(self.units)

    def compute(self, part: slice) -> None:
        """Compute the cosines with another block of the vocabulary."""
        block = self.units[part].astype(self.dtype, copy=False)
        self.start, self.cosines = part.start, self.words @ block.T

    def block(self, method: str) -> Block:
        """The tables that a method scores the current block by."""
        if method == "3cosmul":  # twice equation 4, which keeps the order
            shifted = np.clip(self.cosines, -1, 1) + 1
            pairs = shifted[self.b] / (shifted[self.a] + 2 * MULTIPLICATIVE_EPSILON)
            return new_block(pairs, shifted, self.start)
        return new_block(self.cosines[self.b] - self.cosines[self.a], self.cosines, self.start)


def update_all(method: str, block: Block, queries: Queries, units: np.ndarray, candidates: Candidates) -> None:
    """Update the candidates of all questions by a block of words, on all cores."""

    def work(part: slice) -> None:
        scores = np.empty(CHUNK, block.pairs.dtype)
        update(METHODS.index(method), block, queries.part(part), units, candidates.part(part), scores)

    run_slices(len(queries.positions), work)


def resolve_ties(
    units: np.ndarray, rows: np.ndarray, candidates: Candidates, method: str, queries: Queries, limit: int
) -> np.ndarray:
    """The answer to each question, (questions,): by exact score the best of its candidates, then the lowest row."""
    nearest = np.where(candidates.counts > 0, candidates.rows[:, 0], rows[:, 0])  # its own a without candidates
    for q in np.flatnonzero((candidates.counts > 1) | candidates.overflowed).tolist():
        near = candidates.rows[q, : candidates.counts[q]]
        if candidates.overflowed[q]:
            excluded = queries.excluded[queries.starts[q] : queries.starts[q + 1]]
            near = all_candidates(units, rows[q], excluded, method, limit)
        nearest[q] = near[exact_scores(units, rows[q], near, method).argmax()]
    return nearest


def all_candidates(
    units: np.ndarray, question: np.ndarray, excluded: np.ndarray, method: str, limit: int
) -> np.ndarray:
    """All rows whose scores rounding cannot tell from the best."""
    cosines, scores = Cosines(units, question, np.arange(3)[None], [method], exact=True), np.empty(limit)
    for part in vocabulary_blocks(cosines.bytes_per_word, [limit]):
        cosines.compute(part)
        block = cosines.block(method)
        pair, third = block.pairs[0], block.third[2]
        scores[part] = pair + third if method == "3cosadd" else pair * third
    scores[excluded[excluded < limit]] = -np.inf
    best = scores.max()
    return np.flatnonzero(scores >= best - MARGIN * max(1.0, abs(best)))


def exact_scores(units: np.ndarray, question: np.ndarray, near: np.ndarray, method: str) -> np.ndarray:
    """Scores that do not depend on the position of a row, so that equal rows tie."""
    a, b, c = (units[row].astype(np.float64) for row in question)
    if method == "3cosadd":
        return pair_cosines(units, near, normalize(b - a + c))
    to_a, to_b, to_c = ((1 + pair_cosines(units, near, normalize(row))) / 2 for row in (a, b, c))
    return np.asarray(to_b * to_c / (to_a + MULTIPLICATIVE_EPSILON))
