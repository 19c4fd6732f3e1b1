"""Judging composed phrases: by people's ratings, and by the phrases that a model was not fitted to."""

import os

from embeddings.eval.item_scores import Outcome
from embeddings.eval.phrase_composition.held_out import HELD_OUT, HeldOut, held_out
from embeddings.eval.phrase_composition.ratings import PhraseRatings, rated, read_ratings
from embeddings.plugins.tensor_indexing.composer import Composer

PhraseSet = PhraseRatings | HeldOut


def read_phrases(name: str | os.PathLike[str]) -> PhraseSet:
    """Rated phrases from a file; by the name "held-out", those of each model itself.

    Raises:
        FormatError: the file is missing or not of that form.
    """
    return HeldOut() if str(name) == HELD_OUT else read_ratings(name)


def composition(composer: Composer, test: PhraseSet, *, name: str) -> list[Outcome]:
    """What becomes of the phrases of a set, for every function.

    Raises:
        SettingError: the held-out phrases are asked for, and these are vectors that no function was fitted to.
    """
    if isinstance(test, HeldOut):
        return [*held_out(composer, name=name)]
    return [*rated(composer, test, name=name)]
