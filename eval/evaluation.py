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
    """The results of all sets that are named, by kind, in the order below.

    Arguments:
        vectors: vectors, a model, or the path of either.
        name: what the results call the vectors; the path unless given.
        similarity: names of sets ("wordsim353", "simlex999") or paths; one or several.
        analogy: the same ("google-analogies").
        categories: the same ("google-categories").
        tagging: the same ("ud-ewt"); or a folder of a UD treebank, or "TRAIN,TEST", two files.
        documents: tables of labelled documents: "TRAIN,TEST", or one that is judged in five parts.
        facts: lengths, evenness and hubs too.
        restrict: analogies are judged once for each: among the first so many words, None for all.
        method: how analogies are answered: "3cosadd", "3cosmul" or "pairdirection"; judged once for each of several.
        window: how many words on either side a tagger sees.
        compose: judge similarity, tagging and documents with words outside the vocabulary too, their vectors composed;
            a result says of how many. The answers to analogies are words of the vocabulary in any case.
        text_column: of the documents; `label_column` of their labels.

    Raises:
        SettingError: nothing is asked for, a restriction below 1, an unknown method, or vectors that compose nothing.
        FormatError: vectors or a set cannot be found or read.
        CorpusError: documents cannot.
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
