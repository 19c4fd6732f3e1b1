"""Judge vectors by similarity and analogy sets in one call."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embeddings.composition.composer import Composer
from embeddings.errors import SettingError
from embeddings.eval.analogy import check_methods, evaluate_analogy
from embeddings.eval.composition import evaluate_phrases, read_tests
from embeddings.eval.datasets import Pairs, read_pairs, read_questions
from embeddings.eval.matching import Folded
from embeddings.eval.results import Result
from embeddings.eval.similarity import evaluate_similarity
from embeddings.operations.compose import extended
from embeddings.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.model import Model

TestSets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def evaluate(
    vectors: "Vectors | Model | str | os.PathLike[str]",
    *,
    similarity: TestSets = (),
    analogy: TestSets = (),
    phrases: TestSets = (),
    restrict: int | Sequence[int | None] | None = (None, 30000),
    method: str | Sequence[str] = "3cosadd",
    name: str | None = None,
    compose: bool = False,
) -> list[Result]:
    """The results of similarity sets, then those of analogy sets and of phrases, in the order given.

    Arguments:
        vectors: vectors, a model, or the path of either.
        similarity: names of sets ("wordsim353", "simlex999") or paths; one or several.
        analogy: the same ("google-analogies").
        phrases: files of rated phrases, or "held-out": those that a model of composition was not fitted to.
        restrict: analogies are judged once for each: among the first so many words, None for all.
        method: how analogies are answered: "3cosadd" or "3cosmul"; judged once for each of several.
        name: what the results call the vectors; the path unless given.
        compose: judge similarity with words outside the vocabulary too, their vectors composed; a result says of
            how many pairs. The answers to analogies are words of the vocabulary in any case.

    Raises:
        SettingError: no set is named, a restriction below 1, an unknown method, or vectors that compose nothing.
        FormatError: vectors or a set cannot be found or read.
    """
    limits, methods = check_limits(restrict), check_methods(method)
    pairs = [read_pairs(test) for test in listed(similarity)]
    questions = [read_questions(test) for test in listed(analogy)]
    rated = read_tests(listed(phrases))
    if not pairs and not questions and not rated:
        raise SettingError("nothing to evaluate by: name a similarity or an analogy set, or one of phrases")
    found, label = resolve(vectors)
    label, folded = name or label, Folded(found.words)
    results = [
        result for test in pairs for result in judge_similarity(found, test, folded, name=label, compose=compose)
    ]
    for test in questions:
        results += evaluate_analogy(found, test, folded, name=label, restrict=limits, methods=methods)
    return results + (evaluate_phrases(Composer.of(vectors), rated, name=label) if rated else [])


def judge_similarity(vectors: Vectors, test: Pairs, folded: Folded, *, name: str, compose: bool) -> list[Result]:
    """The results of one set of pairs, with `compose` those of unseen words among them.

    Raises:
        SettingError: vectors are to be composed that cannot be.
    """
    if not compose:
        return evaluate_similarity(vectors, test, folded, name=name)
    lower = not any(word != word.lower() for word in vectors.words)  # n-grams are of the spelling that was learned
    asked = [word.lower() if lower else word for pair in test.pairs for word in pair]
    rows = folded.find(asked)
    known = vectors.subset([vectors.words[row] for row in np.unique(rows[rows >= 0])])
    more = extended(known, (word for word, row in zip(asked, rows, strict=True) if row < 0))
    again = Folded(more.words)
    pairs = again.find(asked).reshape(-1, 2)
    composed = int(((pairs >= 0).all(axis=1) & (pairs >= len(known)).any(axis=1)).sum())
    return [replace(result, composed=composed) for result in evaluate_similarity(more, test, again, name=name)]


def resolve(vectors: "Vectors | Model | str | os.PathLike[str]") -> tuple[Vectors, str]:
    """The vectors themselves, and a name for them."""
    if isinstance(vectors, str | os.PathLike):
        from embeddings.loading import load

        return load(vectors), Path(vectors).name
    if isinstance(vectors, Vectors):
        return vectors, "vectors"
    return vectors.vectors, vectors.name


def listed(tests: TestSets) -> list[str | os.PathLike[str]]:
    """One test set as a list of one."""
    return [tests] if isinstance(tests, str | os.PathLike) else list(tests)


def check_limits(restrict: int | Sequence[int | None] | None) -> list[int | None]:
    """The restrictions as a list.

    Raises:
        SettingError: there is none, or one is below 1.
    """
    limits = [restrict] if restrict is None or isinstance(restrict, int) else list(restrict)
    if not limits:
        raise SettingError("restrict needs a number of words, or None for all")
    for limit in limits:
        if limit is not None and limit < 1:
            raise SettingError(f"restrict must be at least 1, not {limit}")
    return limits
