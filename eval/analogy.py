"""Analogy questions: is d the answer to "a is to b as c is to what"?

3CosAdd takes the word nearest to b - a + c (Mikolov et al., 2013), 3CosMul the one with the largest
cos(x, b) cos(x, c) / cos(x, a), cosines moved to 0..1 (Levy and Goldberg, 2014), PairDirection the one for which
x - c points most as b - a does (Mikolov et al., 2013; equation 2 of Levy and Goldberg).
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.analogy_questions import METHODS, Questions
from embeddings.eval.analogy_results import Answered
from embeddings.eval.results import Key
from embeddings.eval.word_matching import Folded
from embeddings.vectors.vectors import Vectors

PROTOCOL = (
    "case does not count, and of words alike but for case the most frequent is taken; a question is left out if one of "
    "its three words or all of its right answers have no vector; a, b, c and their forms in other case are no answers; "
    "of several right answers any one will do; a tie goes to the more frequent word; a question that stands twice "
    "counts twice; interval: bootstrap over the pairs of words that questions are made of (where all or none are "
    "right Wilson's, with as many items as there are pairs)"
)
ABSENT = "no question has vectors for all four words"


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
) -> list[Answered]:
    """Which questions are answered rightly, for each of `methods` and `restrict`: by section, by kind, and all (None).

    As gensim's `evaluate_word_analogies`: unit vectors; upper case; a, b, c and their forms in other case
    are no answers; a question with a word that has no vector (among the first `restrict`) is left out and
    counted as not seen. A tie goes to the more frequent word. gensim looks at five candidates only: where
    all five are forms of a, b and c it counts a miss, and the next candidate is taken here. Of several restrictions
    that leave the same words the first is judged alone.
    """
    from embeddings.eval.analogy_scores import answer  # it loads the compiler

    asked = folded.find(word for question in test.questions for word in question).reshape(-1, 3)
    answers, pairs = answer_rows(test, folded), test.pairs()
    limits = different(restrict, len(vectors))
    seen = [known(asked, answers, words) for words in limits]
    some = np.logical_or.reduce(seen)
    right = np.zeros((len(methods), len(limits), len(asked)), dtype=bool)
    right[:, :, some] = answer(vectors.units, asked[some], answers[some], folded, list(limits), methods)
    found: list[Answered] = []
    for method, by_limit in zip(methods, right, strict=True):
        for limit, covered, hits in zip(limits.values(), seen, by_limit, strict=True):
            whole = Answered(
                vectors=name,
                key=Key(test.name, "accuracy", restrict=limit, method=method),
                seen=covered,
                right=hits & covered,
                members=np.ones(len(asked), dtype=bool),
                pairs=pairs,
                protocol=PROTOCOL,
                absent=ABSENT,
            )
            found += [whole.section(section, members, detail=detail) for section, members, detail in sections(test)]
    return found


def different(restrict: Sequence[int | None], size: int) -> dict[int, int | None]:
    """The restrictions that differ among so many words, each by how many words it leaves."""
    found: dict[int, int | None] = {}
    for limit in restrict:
        found.setdefault(size if limit is None else min(limit, size), limit)
    return found


def answer_rows(test: Questions, folded: Folded) -> np.ndarray:
    """The rows of the right answers to each question, (questions, most answers), -1 where there is none."""
    counts = np.array([len(answers) for answers in test.answers])
    found = np.full((len(counts), counts.max()), -1)
    found[np.arange(counts.max()) < counts[:, None]] = folded.find(chain.from_iterable(test.answers))
    return found


def known(asked: np.ndarray, answers: np.ndarray, limit: int) -> np.ndarray:
    """Which questions have all three words and an answer among the first so many words, (questions,) bool."""
    three = (asked >= 0) & (asked < limit)
    return np.asarray(three.all(axis=1) & ((answers >= 0) & (answers < limit)).any(axis=1))


def sections(test: Questions) -> Iterator[tuple[str | None, np.ndarray, bool]]:
    """Each section, each kind and all: its name, which questions (questions,) bool, and whether it is a section."""
    section_of = np.array(test.section_of)
    if len(test.sections) > 1 or test.kinds != [None]:
        yield from ((section, section_of == place, True) for place, section in enumerate(test.sections))
    for kind in dict.fromkeys(test.kinds):
        if kind is not None:
            yield kind, np.array([one == kind for one in test.kinds])[section_of], False
    yield None, np.ones(len(section_of), dtype=bool), False
