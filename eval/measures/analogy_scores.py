"""The answer to each analogy question, by several methods and among several numbers of words.

All methods are functions of the cosines of every word with a, b and c. Each distinct word of the questions is compared
with the whole vocabulary once, by a matrix product per block of words, however many questions it occurs in; each
distinct pair of a and b is combined once.

For 3CosAdd the cosines are computed in float32, with a margin that covers their rounding.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product

import numpy as np

from embeddings.eval.datasets.analogy_questions import METHODS
from embeddings.eval.measures.topk import (
    CHUNK,
    MARGIN,
    Block,
    Candidates,
    Queries,
    new_block,
    new_candidates,
    score_rows,
    update,
)
from embeddings.eval.measures.word_matching import CaseFolding
from embeddings.indexes.parallel import run_slices
from embeddings.support.cosine import MULTIPLICATIVE_EPSILON, exact_cosines, normalize, product_error

IDENTICAL = 1e-6  # squared distance below which a unit vector is c itself, and no direction leads to it
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
    answers = np.where((answers[:, :, None] == rows[:, None, :]).any(axis=2), -1, answers)
    words, positions = np.unique(rows, return_inverse=True)
    cosines = Cosines(units, words, positions.reshape(-1, 3), methods)
    queries = cosines.queries([folding.case_variants(three) for three in rows])
    candidates = [new_candidates(len(rows)) for _ in methods]
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
        self.units, self.words, self.methods = units, units[words].astype(self.dtype), methods
        self.positions = positions
        pairs, self.pair_of = np.unique(positions[:, :2], axis=0, return_inverse=True)
        self.a, self.b = pairs.T
        self.bytes_per_word = self.words.itemsize * (len(words) + len(pairs))
        self.start = 0
        self.cosines = self.inverse = np.empty((0, 0))

    def queries(self, excluded: Sequence[Sequence[int]]) -> Queries:
        """The questions, given the rows that may not answer each."""
        shifts = np.zeros(len(self.positions))
        if "pairdirection" in self.methods:
            a, b, c = (self.words[self.positions[:, side]] for side in range(3))
            shifts = np.einsum("ij,ij->i", c, b - a)
        starts = np.cumsum([0, *map(len, excluded)])
        rows = np.stack([self.pair_of.reshape(-1), self.positions[:, 2]], axis=1)
        return Queries(rows, shifts, starts, np.fromiter(chain.from_iterable(excluded), np.int64), self.margin)

    @property
    def margin(self) -> float:
        """The difference of scores, relative to the best, that rounding can hide: of three cosines and of their sum."""
        return MARGIN if self.dtype == np.float64 else 4 * product_error(self.units)

    def compute(self, part: slice) -> None:
        """Compute the cosines with another block of the vocabulary."""
        block = self.units[part].astype(self.dtype, copy=False)
        self.start, self.cosines = part.start, self.words @ block.T
        if "pairdirection" in self.methods:
            squares = np.add.outer((self.words**2).sum(axis=1), (block**2).sum(axis=1)) - 2 * self.cosines
            squares[squares < IDENTICAL] = np.inf
            self.inverse = np.reciprocal(np.sqrt(squares, out=squares), out=squares)

    def block(self, method: str) -> Block:
        """The tables that a method scores the current block by."""
        if method == "3cosmul":  # twice equation 4, which keeps the order
            shifted = np.clip(self.cosines, -1, 1) + 1
            pairs = shifted[self.b] / (shifted[self.a] + 2 * MULTIPLICATIVE_EPSILON)
            return new_block(pairs, shifted, self.start)
        pairs = self.cosines[self.b] - self.cosines[self.a]
        return new_block(pairs, self.inverse if method == "pairdirection" else self.cosines, self.start)


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
    shift = cosines.queries([excluded.tolist()]).shifts[0]
    for part in vocabulary_blocks(cosines.bytes_per_word, [limit]):
        cosines.compute(part)
        block = cosines.block(method)
        score_rows(METHODS.index(method), block.pairs[0], block.third[2], shift, scores[part])
    scores[excluded[excluded < limit]] = -np.inf
    best = scores.max()
    return np.flatnonzero(scores >= best - MARGIN * max(1.0, abs(best)))


def exact_scores(units: np.ndarray, question: np.ndarray, near: np.ndarray, method: str) -> np.ndarray:
    """Scores that do not depend on the position of a row, so that equal rows tie."""
    a, b, c = (units[row].astype(np.float64) for row in question)
    if method == "3cosadd":
        return exact_cosines(units, normalize(b - a + c))(near)
    if method == "pairdirection":
        offsets = units[near].astype(np.float64) - c
        return np.where((offsets**2).sum(axis=1) < IDENTICAL, 0, (normalize(offsets) * normalize(b - a)).sum(axis=1))
    to_a, to_b, to_c = ((1 + exact_cosines(units, normalize(row))(near)) / 2 for row in (a, b, c))
    return np.asarray(to_b * to_c / (to_a + MULTIPLICATIVE_EPSILON))
