"""What the study of intervals measures in each training: cosines, ranks, answers to analogies, correlations."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.vectors.vectors import Vectors

Matrix = NDArray[np.float32]
BANDS = (5, 20, 100, 1000)  # expected counts at which bands of words begin
WORDS_PER_BAND, POSITIONS = 30, (1, 2, 5, 10, 30, 100, 1000)  # of neighbours in a model of the whole population
OWN_NEIGHBOURS, QUESTIONS = 10, 200
SETS = {"analogy": "google-analogies", "similarity": "wordsim353"}


class Targets(NamedTuple):
    """What is measured in every training, by rows of the vocabulary.

    words: (words,). pairs: (pairs, 2). questions: (questions, 4). rated: (rated pairs, 2), ratings: (rated pairs,).
    counts: (vocabulary,) expected in a corpus.
    """

    words: NDArray[np.int64]
    pairs: NDArray[np.int64]
    questions: NDArray[np.int64]
    rated: NDArray[np.int64]
    ratings: NDArray[np.float64]
    counts: NDArray[np.float64]


def find_targets(reference: Vectors, counts: NDArray[np.float64]) -> Targets:
    """Choose words of each frequency, neighbours of theirs at several positions, and items of test sets."""
    random, rows = np.random.default_rng(0), reference.normalize().matrix
    bands = np.digitize(counts, BANDS)
    members = [random.permutation(np.flatnonzero(bands == band)) for band in range(1, len(BANDS) + 1)]
    words = np.concatenate([one[:WORDS_PER_BAND] for one in members])
    order = np.argsort(-(rows[words] @ rows.T), axis=1)
    positions = [position for position in POSITIONS if position < order.shape[1]]
    pairs = np.stack([np.repeat(words, len(positions)), order[:, positions].ravel()], axis=1)
    test = read_questions(SETS["analogy"])
    questions = known_rows(reference, [(*q, a[0]) for q, a in zip(test.questions, test.answers, strict=True)])[0]
    rated = read_word_pairs(SETS["similarity"])
    rated_rows, is_known = known_rows(reference, rated.pairs)
    chosen = random.permutation(questions)[:QUESTIONS]
    return Targets(words, pairs, chosen, rated_rows, np.array(rated.ratings)[is_known], counts)


def known_rows(vectors: Vectors, items: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows (known items, words) of the items whose words all have vectors, and which ones these are."""
    found = ((vectors.find(word.lower()) for word in item) for item in items)
    rows = np.array([[-1 if row is None else row for row in item] for item in found])
    is_known = (rows >= 0).all(axis=1)
    return rows[is_known], is_known


def own_neighbours(matrix: Matrix, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs (words x neighbours, 2) of words and their nearest neighbours."""
    cosines = matrix[words] @ matrix.T
    cosines[np.arange(len(words)), words] = -np.inf
    nearest = np.argsort(-cosines, axis=1)[:, :OWN_NEIGHBOURS]
    return np.stack([np.repeat(words, OWN_NEIGHBOURS), nearest.ravel()], axis=1)


def measure(matrix: Matrix, targets: Targets, own: NDArray[np.int64]) -> dict[str, Any]:
    """The cosines and ranks of pairs, the scores and ranks of answers, and the correlation with ratings."""
    query, answers = question_vectors(matrix, targets.questions), targets.questions[:, 3]
    rated = np.einsum("ij,ij->i", *matrix[targets.rated.T])
    values = [
        cosines_and_ranks(matrix, matrix[pairs[:, 0]], pairs[:, 1], pairs[:, :1]) for pairs in (targets.pairs, own)
    ]
    values.append(cosines_and_ranks(matrix, query, answers, targets.questions[:, :3]))
    names = ("pair", "own", "answer")
    result = {f"{name}_cosines": one[0] for name, one in zip(names, values, strict=True)}
    result |= {f"{name}_ranks": one[1] for name, one in zip(names, values, strict=True)}
    return {**result, "spearman": np.array([spearmanr(rated, targets.ratings).statistic])}


def question_vectors(matrix: Matrix, questions: NDArray[np.int64]) -> Matrix:
    """The vector b - a + c of each question, of length 1; zeros if a word does not occur."""
    a, b, c = (matrix[rows] for rows in questions.T[:3])
    query = np.asarray(b - a + c)
    occurs = (a.any(axis=1) & b.any(axis=1) & c.any(axis=1))[:, None]
    return np.where(occurs, query / np.maximum(np.linalg.norm(query, axis=1, keepdims=True), 1e-12), 0)


def cosines_and_ranks(
    matrix: Matrix, queries: Matrix, rows: NDArray[np.int64], excluded: NDArray[np.int64]
) -> tuple[Matrix, NDArray[np.int64]]:
    """The cosine of each query with a row, and the rank of this row among all but the excluded ones."""
    cosines, ranks = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64)
    for begin in range(0, len(rows), 200):
        part = slice(begin, begin + 200)
        scores = queries[part] @ matrix.T
        cosines[part] = found = scores[np.arange(len(scores)), rows[part]]
        scores[np.arange(len(scores))[:, None], excluded[part]] = -np.inf
        ranks[part] = 1 + (scores > found[:, None]).sum(axis=1)
    return cosines, ranks
