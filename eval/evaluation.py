"""Judge vectors by test sets in one call."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.eval.results import Result
from embeddings.eval.suite import Suite
from embeddings.models.document_vectors import Concatenated
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.eval.document_classification import Represented


def evaluate(
    vectors: "Represented | str | os.PathLike[str]", *, name: str | None = None, **settings: Any
) -> list[Result]:
    """The results of all sets that are named, by kind, in the order below.

    Arguments:
        vectors: vectors, a model, or the path of either; by documents also `embeddings.concatenate(model, other)`.
        name: what the results call the vectors; the path unless given.
        similarity: names of sets ("wordsim353", "simlex999") or paths; one or several.
        analogy: the same ("google-analogies", "google-phrases").
        phrases: files of rated phrases, or "held-out": those that a model of composition was not fitted to.
        categories: names of sets ("google-categories") or paths.
        tagging: the same ("ud-ewt"); or a folder of a UD treebank, or "TRAIN,TEST", two files.
        documents: tables of labelled documents: "TRAIN,TEST", or one that is judged in five parts.
        facts: lengths, evenness and hubs too.
        compose: judge similarity with words outside the vocabulary too, their vectors composed; a result says of
            how many pairs.
        restrict: analogies are judged once for each: among the first so many words, None for all.
        method: how analogies are answered: "3cosadd", "3cosmul" or "pairdirection"; judged once for each of several.
        window: how many words on either side a tagger sees.
        text_column: of the documents; `label_column` of their labels.
        trained: documents have the vectors that were learned for them, by number; they are not inferred.
        name_column: the same by the names in that column.

    Raises:
        SettingError: nothing is asked for, a restriction below 1, an unknown method, or vectors that cannot compose
            what is asked for.
        FormatError: vectors or a set cannot be found or read.
        CorpusError: documents cannot.
    """
    suite = Suite.read(**settings)
    found, label = resolve(vectors)
    return [outcome.result() for outcome in suite.judge(found, name or label)]


def resolve(vectors: "Represented | str | os.PathLike[str]") -> "tuple[Represented, str]":
    """The vectors or the model, and a name for them."""
    if isinstance(vectors, str | os.PathLike):
        from embeddings.models.loading import load_whole

        return load_whole(vectors), Path(vectors).name
    if isinstance(vectors, Concatenated):
        return vectors, " + ".join(model.name for model in vectors.models)
    return vectors, "vectors" if isinstance(vectors, Vectors) else vectors.name
