"""Judge vectors by test sets in one call."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.eval.results import Result
from embeddings.eval.suite import Suite
from embeddings.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.model import Model


def evaluate(
    vectors: "Vectors | Model | str | os.PathLike[str]", *, name: str | None = None, **settings: Any
) -> list[Result]:
    """The results of similarity sets, then those of analogy and of tagging sets, in the order given.

    Arguments:
        vectors: vectors, a model, or the path of either.
        name: what the results call the vectors; the path unless given.
        similarity: names of sets ("wordsim353", "simlex999") or paths; one or several.
        analogy: the same ("google-analogies").
        tagging: the same ("ud-ewt"); or a folder of a UD treebank, or "TRAIN,TEST", two files.
        restrict: analogies are judged once for each: among the first so many words, None for all.
        method: how analogies are answered: "3cosadd" or "3cosmul"; judged once for each of several.
        window: how many words on either side a tagger sees.

    Raises:
        SettingError: no set is named, a restriction below 1, or an unknown method.
        FormatError: vectors or a set cannot be found or read.
    """
    suite = Suite.read(**settings)
    found, label = resolve(vectors)
    return [outcome.result() for outcome in suite.judge(found, name or label)]


def resolve(vectors: "Vectors | Model | str | os.PathLike[str]") -> tuple[Vectors, str]:
    """The vectors themselves, and a name for them."""
    if isinstance(vectors, str | os.PathLike):
        from embeddings.loading import load

        return load(vectors), Path(vectors).name
    if isinstance(vectors, Vectors):
        return vectors, "vectors"
    return vectors.vectors, vectors.name
