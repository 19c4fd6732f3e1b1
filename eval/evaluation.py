"""Evaluate and compare vectors in one call."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.reading.reader import Report
from embeddings.corpora.reading.sources import resolve_source
from embeddings.eval.statistics.results import Comparison, Result
from embeddings.eval.suite import Suite, compare_scores
from embeddings.eval.tasks.label_scores import LabelMetric, LabelScores
from embeddings.eval.tasks.predicted_labels import Ranker, predict_labels
from embeddings.eval.test_sets import ALL, check_half, select_texts
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.models.loading import load_classifier
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.eval.tasks.evaluation_kind import Evaluable


def evaluate(
    vectors: "Evaluable | str | os.PathLike[str]", *, name: str | None = None, **settings: Any
) -> list[Result]:
    """Score vectors on test sets; the results come in the order of the sets below.

    Arguments:
        vectors: vectors, a model, or the path of either; for documents also `embeddings.concatenate(model, other)`.
        name: what results call the vectors; by default the path.
        similarity: word pairs with ratings: wordsim353, simlex999 or a file. In Python, of each kind one or several.
        analogy: analogies: google-analogies, google-phrases or a file in Google, MSR or BATS format.
        phrases: rated phrases, or "held-out": the phrases that a composition model was not fitted to.
        categories: words by category: google-categories or a file.
        tagging: part-of-speech tagging: ud-ewt, a folder of a UD treebank, or two files "TRAIN,TEST".
        documents: document classification: labelled tables "TRAIN,TEST", or one file for 5-fold cross-validation.
        perplexity: the loss and perplexity of a held-out text, for models of objectives with probabilities.
        pairs: similarity of texts: a table of rated pairs.
        retrieval: the three files of a set, (QUERIES, CORPUS, QRELS), in the layout of BEIR; or several sets.
        clustering: clustering of texts by k-means: a labelled table.
        probe: classification of texts by logistic regression: labelled tables, as for `documents`.
        stats: also compute statistics: norms, isotropy, hubs among nearest neighbours.
        compose: also score similarity with vectors composed for unknown words. Results report how many pairs have one.
        restrict: answer analogies from this many most frequent words, None for all; one or several.
        method: the method of analogies: "3cosadd", "3cosmul" or "pairdirection"; one or several.
        window: the number of context words on either side of the word to tag; 2 by default.
        text_column: the column of the text of documents.
        label_column: the column of the label of documents.
        use_trained_vectors: use document vectors from training, by number: TRAIN first, then TEST.
        name_column: use document vectors from training, by the tags in this column.
        left_column: the column of the first text of a pair; by default the first of two text columns.
        right_column: the column of the second text of a pair.
        rating_column: the column of the ratings of pairs; by default score, rating or label.
        half: use only this half of the items of similarity, analogy, pairs or labels; a hash of each item decides.
            Early stopping and tuning see "dev" only, so "test" is left for reports.
        index: the index that retrieval uses, such as lsh:bits=512; by default search is exact.
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


Classifier = Ranker | str | os.PathLike[str]


def evaluate_classifier(
    classifier: Classifier, source: str | os.PathLike[str] | Iterable[Any], *, k: int = 1, threshold: float = 0.0,
    label_prefix: str = PREFIX, label_separator: str | None = None, text_column: str | None = None,
    label_column: str | None = None, metrics: Iterable[str] = (), encoding: str = "utf-8",
    encoding_errors: str = "strict", half: str = ALL, threads: int | None = None, report: Report | None = None,
    name: str | None = None,
) -> LabelScores:  # fmt: skip
    """Compare the labels of texts with those that a classifier predicts; `results()` has all scores.

    The texts are read in batches; memory grows with their number by a few bytes each. Texts without labels are left
    out, and counted in `predictions.unlabelled`.

    Arguments:
        classifier: a classifier, or the path of one.
        source: a file of lines with labels as for fastText, a table, or an iterable of such lines or of mappings.
        k: the maximum number of predicted labels; -1 for all.
        threshold: the minimum probability of a predicted label.
        label_prefix: begins the words of a line that are labels; the names of labels are compared without it.
        label_separator: separates several labels in a cell of a table; see `LabelFormat` for it and the columns.
        text_column: the text column of a table; by default `text`, or the only other column of strings.
        label_column: the label column of a table; by default `label`.
        metrics: further metrics to report, such as "recall-at-precision:90:sport"; see `LabelMetric.parse`.
        encoding: the encoding of the texts, such as "cp1252".
        encoding_errors: "strict", "replace" or "ignore" for bytes that are invalid in it.
        half: "dev" or "test" for half of the texts, which a hash of each text fixes; see
            `embeddings.eval.test_sets`.
        threads: by default all cores.
        report: called with the number of bytes read, as stored on disk, and their total.
        name: what results call the classifier; by default its path.

    Raises:
        SettingError: an argument is out of range.
        CorpusError: the texts cannot be read, or none has a label.
        FormatError: the classifier cannot be read.
    """
    form = LabelFormat(label_prefix, text_column, label_column, label_separator)
    sources, label_metrics = resolve_source(source), [LabelMetric.parse(metric, label_prefix) for metric in metrics]
    if isinstance(classifier, str | os.PathLike):
        name = name or Path(classifier).name
        ranker: Ranker = load_classifier(classifier, errors=encoding_errors)
    else:
        ranker = classifier
    batches = form.read(sources, encoding=encoding, encoding_errors=encoding_errors, report=report)
    if check_half(half) != ALL:
        batches = (select_texts(batch, half) for batch in batches)
    title = Path(source).name if isinstance(source, str | os.PathLike) else sources[0].name
    predictions = predict_labels(ranker, batches, k, threshold, prefix=label_prefix, threads=threads, source=title)
    return LabelScores(predictions, title, name or "classifier", k, threshold, label_metrics, half)
