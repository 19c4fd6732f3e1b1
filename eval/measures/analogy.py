"""Word analogies: is d the answer to "a is to b as c is to what"?

3CosAdd takes the word nearest to b - a + c (Mikolov et al., 2013), 3CosMul the word with the largest
cos(x, b) cos(x, c) / cos(x, a), cosines shifted to 0..1 (Levy and Goldberg, 2014), PairDirection the word for which
x - c is most parallel to b - a (Mikolov et al., 2013; equation 2 of Levy and Goldberg).
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.datasets.analogy_questions import METHODS, Questions
from embeddings.eval.measures.word_matching import CaseFolding
from embeddings.eval.statistics.analogy_results import AnalogyScores
from embeddings.eval.statistics.results import Key
from embeddings.vectors.vectors import Vectors

PROTOCOL = (
    "case is ignored, and of words that differ in case alone the most frequent is used; a question is left out if one "
    "of its three words or all of its correct answers lack a vector; a, b, c and their case variants are never "
    "answers; of several correct answers any one counts; a tie goes to the more frequent word; a question that occurs "
    "twice counts twice; interval: bootstrap over the word pairs that questions are made of (where all or none are "
    "correct Wilson's, with one item per pair)"
)
NOT_COVERED = "no question has vectors for all four words"


def check_methods(method: str | Sequence[str]) -> list[str]:
    """The methods as a list, each once."""
    methods = [method] if isinstance(method, str) else list(dict.fromkeys(method))
    for name in methods or [""]:
        if name not in METHODS:
            raise SettingError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    return methods


def score_analogy(
    vectors: Vectors,
    test: Questions,
    folding: CaseFolding,
    *,
    name: str,
    restrict: Sequence[int | None],
    methods: Sequence[str] = METHODS[:1],
) -> list[AnalogyScores]:
    """Which questions are answered correctly, for each of `methods` and `restrict`: by section, by kind, and all.

    Like gensim's `evaluate_word_analogies`, except that gensim considers only five candidates: if all five are case
    variants of a, b and c, gensim counts a miss, but this function takes the next candidate.
    """
    from embeddings.eval.measures.analogy_scores import score_questions  # imports numba

    rows = folding.find(word for question in test.questions for word in question).reshape(-1, 3)
    counts = np.array([len(answers) for answers in test.answers])
    answers = np.full((len(counts), counts.max()), -1)  # rows of the correct answers to each question
    answers[np.arange(counts.max()) < counts[:, None]] = folding.find(chain.from_iterable(test.answers))
    pairs = test.pairs()
    limits = distinct_limits(restrict, len(vectors))
    covered = [covered_questions(rows, answers, words) for words in limits]
    is_asked = np.logical_or.reduce(covered)
    correct = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    correct[:, :, is_asked] = score_questions(
        vectors.unit_rows, rows[is_asked], answers[is_asked], folding, list(limits), methods
    )
    scores: list[AnalogyScores] = []
    for method, by_limit in zip(methods, correct, strict=True):
        for limit, with_vectors, hits in zip(limits.values(), covered, by_limit, strict=True):
            key = Key(test.name, "accuracy", restrict=limit, method=method, half=test.half)
            whole = AnalogyScores(
                vectors=name,
                key=key,
                covered=with_vectors,
                correct=hits & with_vectors,
                members=np.ones(len(rows), dtype=bool),
                pairs=pairs,
                protocol=PROTOCOL,
                absent=NOT_COVERED,
            )
            scores += [whole.section(label, members, is_detail=detail) for label, members, detail in sections(test)]
    return scores


def distinct_limits(restrict: Sequence[int | None], words: int) -> dict[int, int | None]:
    """The restrictions that differ, by how many of the words each leaves."""
    limits: dict[int, int | None] = {}
    for one in restrict:
        limits.setdefault(words if one is None else min(one, words), one)
    return limits


def covered_questions(rows: np.ndarray, answers: np.ndarray, words: int) -> np.ndarray:
    """Which questions have their three words and an answer among the first `words` words, bool (questions,)."""
    has_words, has_answer = ((part >= 0) & (part < words) for part in (rows, answers))
    return np.asarray(has_words.all(axis=1) & has_answer.any(axis=1))


def sections(test: Questions) -> Iterator[tuple[str | None, np.ndarray, bool]]:
    """Each section, each kind and the whole: its name, its questions (questions,) bool, and whether it is a detail."""
    section_of = np.array(test.section_of)
    if len(test.sections) > 1 or test.kinds != [None]:
        yield from ((section, section_of == number, True) for number, section in enumerate(test.sections))
    for kind in dict.fromkeys(test.kinds):
        if kind is not None:
            yield kind, np.array([one == kind for one in test.kinds])[section_of], False
    yield None, np.ones(len(section_of), dtype=bool), False
