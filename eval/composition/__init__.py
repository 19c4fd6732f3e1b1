"""Judging composed phrases: by people's ratings, and by the phrases that a model was not fitted to."""

import os
from collections.abc import Iterable

from embeddings.composition.composer import Composer
from embeddings.eval.composition.held_out import evaluate_held_out
from embeddings.eval.composition.ratings import PhraseRatings, evaluate_ratings, read_ratings
from embeddings.eval.results import Result

HELD_OUT = "held-out"


def read_tests(names: Iterable[str | os.PathLike[str]]) -> list[PhraseRatings | None]:
    """Sets of rated phrases from files; None for the model's own phrases, by the name "held-out".

    Raises:
        FormatError: a file is missing or not of that form.
    """
    return [None if str(name) == HELD_OUT else read_ratings(name) for name in names]


def evaluate_phrases(composer: Composer, tests: Iterable[PhraseRatings | None], *, name: str) -> list[Result]:
    """The results of every function on each test, in order.

    Raises:
        SettingError: the held-out phrases are asked for, and these are vectors that no function was fitted to.
    """
    results: list[Result] = []
    for test in tests:
        results += (
            evaluate_held_out(composer, name=name, set=HELD_OUT)
            if test is None
            else evaluate_ratings(composer, test, name=name)
        )
    return results
