"""Evaluate and compare vectors in one call."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.eval.statistics.paired_tests import Comparison
from embeddings.eval.statistics.results import Result
from embeddings.eval.suite import Suite, compare_scores
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.eval.measures.document_classification import Evaluable


def evaluate(
    vectors: "Evaluable | str | os.PathLike[str]", *, name: str | None = None, **settings: Any
) -> list[Result]:
    """Score vectors on test sets; the results come in the order of the sets below.

    Arguments:
        vectors: vectors, a model, or the path of either; for documents also `embeddings.concatenate(model, other)`.
        name: what results call the vectors; by default the path.
        similarity: names ("wordsim353", "simlex999") or paths of similarity sets; one or several.
        analogy: names ("google-analogies", "google-phrases") or paths of analogy sets.
        phrases: files of rated phrases, or "held-out": the phrases that a composition model was not fitted to.
        categories: names ("google-categories") or paths of words by category.
        tagging: names ("ud-ewt"), a folder of a UD treebank, or two files "TRAIN,TEST".
        documents: tables of labelled documents: "TRAIN,TEST", or one file for 5-fold cross-validation.
        perplexity: held-out texts, whose words the model predicts; one or several.
        pairs: tables of rated pairs of texts, whose vectors are pooled from those of words as by `embeddings.embed`.
        retrieval: the three files of a set, (QUERIES, CORPUS, QRELS), in the layout of BEIR; or several sets.
        clustering: tables of labelled texts, which k-means clusters.
        probe: tables of labelled texts, as for `documents`, whose labels logistic regression predicts.
        stats: also compute statistics of norms, isotropy and hubs.
        compose: compose vectors of out-of-vocabulary words in similarity sets; results report how many pairs.
        restrict: answer analogies from this many most frequent words, None for all; one or several.
        method: "3cosadd", "3cosmul" or "pairdirection" for analogies; one or several.
        window: words on either side that a tagger sees.
        text_column: column of the documents; `label_column` of their labels.
        use_trained_vectors: use the document vectors learned in training, by document number, and infer none.
        name_column: like `use_trained_vectors`, by the names in this column.
        left_column, right_column, rating_column: of pairs; see `embeddings.PairColumns`.
        half: "dev" or "test": only the items of that half of similarity, analogy and pairs, which a hash fixes (see
            `embeddings.eval.datasets.halves`); early stopping and tuning use "dev". "all", the default: every item.
        index: the index that retrieval uses, such as "lsh:bits=512"; by default search is exact.
        encoding_errors: "strict", "replace" or "ignore" for bytes of pairs, retrieval, clustering and probe files that
            are not valid UTF-8.
        pool, constant, frequencies, remove_components, fit_on, dim: how vectors of texts are pooled for pairs,
            retrieval, clustering and probe; see `embeddings.embed`. `fit_on` is the path of a file.

    Raises:
        SettingError: nothing is requested, a setting is out of range, or the vectors lack what a set requires.
        FormatError: vectors or a set cannot be found or read.
        CorpusError: documents cannot be read.
    """
    suite = Suite.read(**settings)
    source, label = resolve(vectors)
    return [scores.result() for scores in suite.score(source, name or label)]


def compare(
    *vectors: "Evaluable | str | os.PathLike[str]", names: Sequence[str] | None = None, **settings: Any
) -> list[Comparison]:
    """Compare each pair of vectors by paired tests on test sets, over the items that both cover.

    Arguments:
        vectors: two or more, each as in `evaluate`.
        names: what comparisons call them; by default their paths.
        settings: test sets and options, as in `evaluate`.

    Raises:
        SettingError, FormatError, CorpusError: as `evaluate`.
    """
    suite = Suite.read(**settings)
    scores = []
    for number, one in enumerate(vectors):
        source, label = resolve(one)
        scores.append(suite.score(source, names[number] if names else label))
    return compare_scores(scores)


def resolve(vectors: "Evaluable | str | os.PathLike[str]") -> "tuple[Evaluable, str]":
    """The vectors or the model, and a name for them."""
    if isinstance(vectors, str | os.PathLike):
        from embeddings.models.loading import load_model_or_vectors

        return load_model_or_vectors(vectors), Path(vectors).name
    if isinstance(vectors, ConcatenatedModels):
        return vectors, " + ".join(model.name for model in vectors.models)
    return vectors, "vectors" if isinstance(vectors, Vectors) else vectors.name
