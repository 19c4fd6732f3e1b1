"""Analogy questions by 3CosAdd (Mikolov et al., 2013): is d the word nearest to b - a + c?"""

from collections.abc import Iterator, Sequence

import numpy as np

from embeddings.eval.datasets import SYNTACTIC, Questions
from embeddings.eval.matching import Folded
from embeddings.eval.results import Result
from embeddings.neighbours import exact_cosines, rounding, row_blocks, unit
from embeddings.vectors import Vectors


def evaluate_analogy(
    vectors: Vectors,
    test: Questions,
    folded: Folded,
    *,
    name: str,
    restrict: Sequence[int | None],
) -> list[Result]:
    """Accuracy for each of `restrict`: by section, semantic, syntactic, and of all (section None).

    As gensim's `evaluate_word_analogies`: unit vectors; upper case; a, b, c and their forms in other case
    are no answers; a question with a word that has no vector (among the first `restrict`) is left out and
    counted as not seen. A tie goes to the more frequent word. gensim looks at five candidates only: where
    all five are forms of a, b and c it counts a miss, and the next candidate is taken here.
    """
    rows = folded.find(word for question in test.questions for word in question).reshape(-1, 4)
    known = (rows >= 0).all(axis=1)
    limits = [len(vectors) if limit is None else min(limit, len(vectors)) for limit in restrict]
    right = np.zeros((len(limits), len(rows)), dtype=bool)
    right[:, known] = answer(vectors.units, rows[known], folded, limits)
    results: list[Result] = []
    for limit, size, hits in zip(restrict, limits, right, strict=True):
        seen: np.ndarray = known & np.asarray((rows < size).all(axis=1))
        results += summary(test, seen, hits & seen, name=name, restrict=limit)
    return results


def answer(units: np.ndarray, rows: np.ndarray, folded: Folded, limits: Sequence[int]) -> np.ndarray:
    """Whether each question (rows of a, b, c and d) is answered rightly: (limits, questions) bool."""
    right = np.zeros((len(limits), len(rows)), dtype=bool)
    for part in row_blocks(len(rows), len(units)):
        a, b, c, d = rows[part].T
        queries = unit(units[b].astype(np.float64) - units[a] + units[c])
        scores = queries.astype(np.float32) @ units.T
        for row, asked in enumerate(rows[part, :3]):
            scores[row, folded.forms(asked)] = -np.inf
        asked_for = (rows[part, :3] == d[:, None]).any(axis=1)
        for place, limit in enumerate(limits):
            nearest = np.array(list(first(scores[:, :limit], units, queries)), dtype=np.int64)
            right[place, part] = (folded.canonical(nearest) == d) & ~asked_for
    return right


def first(scores: np.ndarray, units: np.ndarray, queries: np.ndarray) -> Iterator[int]:
    """The best row for each query; where float32 scores cannot tell, by float64, then by the lower row."""
    margin = rounding(units)
    rough = scores.argmax(axis=1)
    top = scores[np.arange(len(scores)), rough]
    for row, (index, score) in enumerate(zip(rough, top, strict=True)):
        near = np.flatnonzero(scores[row] >= score - margin)
        alone = len(near) == 1 or not np.isfinite(score)
        yield int(index if alone else near[exact_cosines(units, queries[row])(near).argmax()])


def summary(test: Questions, seen: np.ndarray, right: np.ndarray, *, name: str, restrict: int | None) -> list[Result]:
    """Accuracy by section, by kind and over all, from what was seen and right of the questions."""
    section_of = np.array(test.section_of)
    syntactic = np.array([section.startswith(SYNTACTIC) for section in test.sections])[section_of]
    groups: list[tuple[str | None, np.ndarray]] = [
        (section, section_of == place) for place, section in enumerate(test.sections)
    ]
    groups += [("semantic", ~syntactic), ("syntactic", syntactic), (None, np.ones(len(right), dtype=bool))]
    results = []
    for section, members in groups:
        total, covered = int(members.sum()), int((seen & members).sum())
        if total == 0:
            continue
        results.append(
            Result(
                vectors=name,
                set=test.name,
                measure="accuracy",
                value=float((right & members).sum() / covered) if covered else None,
                seen=covered,
                total=total,
                section=section,
                restrict=restrict,
                reason=None if covered else "no question has vectors for all four words",
            )
        )
    return results
