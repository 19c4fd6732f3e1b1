"""Evaluate and compare vectors and classifiers; all test sets are read and checked before any vectors are."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union

import numpy as np

from embeddings.corpora.reading.encodings import DecodingPolicy
from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.reading.sources import resolve_source
from embeddings.errors import S, SettingError
from embeddings.eval.statistics.results import Comparisons, ItemScores, Scores
from embeddings.eval.statistics.run_scores import compare_settings, group_runs
from embeddings.eval.tasks import (
    analogies,
    document_classification,
    perplexity,
    phrase_composition,
    retrieval,
    tagging,
    text_labels,
    text_similarity,
    vector_statistics,
    word_association,
    word_categories,
    word_similarity,
    word_translation,
)
from embeddings.eval.tasks.evaluation_kind import (
    GIVEN,
    METHODS,
    POOLING,
    Evaluable,
    EvaluationSettings,
    Subject,
    TestSets,
)
from embeddings.eval.tasks.label_scores import LabelMetric, LabelScores, predict_labels
from embeddings.eval.test_sets import ALL, Half, check_half, select_texts
from embeddings.indexes.index import check_spec
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.models.loading import load_classifier, load_model_or_vectors
from embeddings.models.model import Model
from embeddings.models.model_group import ModelGroup, is_group
from embeddings.settings import Range, check_value
from embeddings.support.progress_display import MEGABYTES, ProgressOption, showing
from embeddings.text_search.index_folder import SCORES, is_text_index
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor

ALL_KINDS = (  # in the order of results
    word_similarity.KIND, analogies.KIND, phrase_composition.KIND, word_categories.KIND, word_translation.KIND,
    word_association.KIND, tagging.KIND, perplexity.KIND, vector_statistics.KIND, document_classification.KIND,
    text_similarity.KIND, retrieval.KIND, text_labels.CLUSTERING, text_labels.PROBE,
)  # fmt: skip
KINDS = {kind.name: kind for kind in ALL_KINDS}
DEFAULTS = {field.name: field.default for field in fields(EvaluationSettings) if field.name != "pooling"}


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Test sets by kind, and how they are used; `Suite.read` makes one."""

    sets: Mapping[str, Sequence[Any]]
    settings: EvaluationSettings

    @classmethod
    def read(
        cls, *, similarity: TestSets = (), analogy: TestSets = (), phrases: TestSets = (), categories: TestSets = (),
        translation: TestSets = (), association: TestSets = (), tagging: TestSets = (), documents: TestSets = (),
        perplexity: TestSets = (), pairs: TestSets = (), retrieval: Sequence[Any] = (), clustering: TestSets = (),
        probe: TestSets = (), stats: bool = False,
        compose: bool = False, restrict: int | Sequence[int | None] | None = (None, 30000),
        method: str | Sequence[str] = ("3cosadd",), window: int = tagging.WINDOW, text_column: str = "text",
        label_column: str = "label", use_trained_vectors: bool = False, name_column: str | None = None,
        left_column: str | None = None, right_column: str | None = None, rating_column: str | None = None,
        candidates: str | Sequence[str] = (),
        ranking: str | Sequence[str] = (), stemming: str | None = None, index: str | None = None, target: Any = None,
        encoding_errors: str = "strict", half: Half = ALL, **pooling: Any,
    ) -> "Suite":  # fmt: skip
        """Read test sets by name or path; see `evaluate` for the arguments.

        Raises:
            SettingError: nothing is requested, a setting is out of range, or an option is given without its test sets.
            FormatError: a set cannot be found or read.
            CorpusError: documents cannot be read.
        """
        arguments = {name: value for name, value in locals().items() if name not in ("cls", "pooling")}
        tests = {name: kind.as_list(arguments.pop(name)) for name, kind in KINDS.items()}
        settings = check_settings(arguments | pooling, tests)
        return cls(sets={name: kind.read_all(tests[name], settings) for name, kind in KINDS.items()}, settings=settings)

    def score(self, source: Evaluable | Sequence[Evaluable], name: str) -> list[ItemScores]:
        """The scores of `source`, called `name` in results, on every set; several are runs of one setting.

        Raises:
            SettingError: the source does not have what a set requires: composition, fitted phrases, or word vectors.
        """
        return list(self.iter_scores(source, name))

    def iter_scores(self, source: Evaluable | Sequence[Evaluable], name: str) -> Iterator[ItemScores]:
        """The scores of `source` on every set, one after another as soon as they are computed."""
        if isinstance(source, Sequence):
            yield from group_runs(name, [self.score(one, name) for one in source])
            return
        subject = Subject(source, name, self.settings)
        if any(self.sets[kind.name] for kind in ALL_KINDS if kind.of_words):
            _ = subject.vectors  # refused before anything is scored
        for kind in ALL_KINDS:
            for test in self.sets[kind.name]:
                yield from kind.score(subject, test)


def compare_scores(scores: Sequence[Sequence[ItemScores]]) -> Comparisons:
    """Paired tests of each pair of vectors or settings, given `Suite.score` of each, where both have a value.

    If retrieval has several rankings, each of each vectors is compared with all others.
    """
    comparisons, sides = [], list[Sequence[ItemScores]]()
    for one in scores:
        parts: dict[str | None, list[ItemScores]] = {}
        for part in one:
            ranking = part.key.method if part.key.measure in retrieval.MEASURES else None
            renamed = replace(part, vectors=f"{part.vectors} ({ranking})", key=replace(part.key, method=None))
            parts.setdefault(ranking, []).append(renamed if ranking else part)
        sides += parts.values() if len(set(parts) - {None}) > 1 else [one]
    for first, second in combinations(sides, 2):
        others = {one.key: one for one in second}
        comparisons += [compare_settings(one, others[one.key]) for one in first if one.key in others]
    return Comparisons.corrected(comparison for comparison in comparisons if comparison is not None)


def check_settings(arguments: Mapping[str, Any], tests: Mapping[str, Sequence[Any]]) -> EvaluationSettings:
    """The settings of an evaluation; refuses unknown settings, values out of range, and kinds without a test set."""
    given = dict(arguments)
    if unknown := [name for name in given if name not in (*DEFAULTS, *POOLING)]:
        remedy = "; use evaluate_classifier for classifiers" if unknown[0] == "labels" else ""
        raise SettingError(f"unknown setting {unknown[0]!r} of an evaluation{remedy}")
    restrict = given["restrict"]
    limits = list(restrict) if isinstance(restrict, Iterable) and not isinstance(restrict, str) else [restrict]
    for limit in limits or [""]:
        is_number = isinstance(limit, Integral) and not isinstance(limit, bool)
        if limit is not None and not (is_number and limit >= 1):
            raise SettingError(
                f"{S.restrict} must be a whole number of at least 1, or None for all words, got {limit!r}"
            )
    given["restrict"] = list(dict.fromkeys(None if limit is None else int(limit) for limit in limits))
    given["method"] = check_choices("method", given["method"] or [""], METHODS)
    given["candidates"] = check_candidates(given["candidates"], given["half"])
    given["ranking"] = check_choices("ranking", given["ranking"], tuple(SCORES))
    check_value("window", given["window"], int, {"ge": 0, "le": tagging.MAX_WINDOW})
    check_value("encoding_errors", given["encoding_errors"], DecodingPolicy, {})
    if given["index"] is not None:
        check_spec(given["index"])
    requested = [kind for kind in ALL_KINDS if tests[kind.name]]
    if not requested:
        raise SettingError(f"nothing to evaluate: give at least one of {', '.join(KINDS)}")
    others = [kind.name for kind in requested if not kind.has_halves and kind is not vector_statistics.KIND]
    if check_half(given["half"]) != ALL and others:
        known = ", ".join(kind.name for kind in ALL_KINDS if kind.has_halves)
        raise SettingError(f"{S.half(given['half'])} cannot be combined with {others[0]}: only {known} have halves")
    for name, value in arguments.items():
        users = [kind.name for kind in ALL_KINDS if name in kind.settings]
        is_set = value is not None and value is not False and value != DEFAULTS.get(name)
        if users and is_set and not any(tests[user] for user in users):
            *first, last = (S[user] for user in users)
            required = f"{', '.join(first)} or {last}" if first else last
            raise SettingError(f"{S[name]} requires {required}")
    pooling = {name: given.pop(name) for name in POOLING if name in given}
    return EvaluationSettings(**given, pooling=pooling)


def check_candidates(values: Any, half: str) -> list[int | str]:
    """The numbers of candidates of left texts, each once, or `GIVEN`."""
    chosen = list(dict.fromkeys([values] if isinstance(values, int | str) else values))
    numbers = [int(value) if isinstance(value, str) and value.isdecimal() else value for value in chosen]
    for value in numbers:
        if value != GIVEN and (not isinstance(value, int) or value < 2):
            raise SettingError(f"{S.candidates} must be given or a whole number of at least 2, got {value!r:.40}")
    if GIVEN in numbers and half != ALL:
        raise SettingError(f"{S.half(half)} cannot be combined with {S.candidates(GIVEN)}: it would divide candidates")
    return numbers


def check_choices(name: str, values: str | Sequence[str], choices: Sequence[str]) -> list[str]:
    """The values of a setting as a list, each once."""
    chosen = [values] if isinstance(values, str) else list(dict.fromkeys(values))
    for value in chosen:
        if value not in choices:
            raise SettingError(f"{S[name]} must be one of {', '.join(choices)}, got {value!r}")
    return chosen


MEASURES = {"spearman", "accuracy"}  # whose mean is the score


def mean_score(suite: Suite, model: Model) -> float:
    """The mean of a model's scores on all sets; a set without a score raises a SettingError."""
    results = [scores.result() for scores in suite.score(model, model.name)]
    totals = [one for one in results if one.measure in MEASURES and one.section is None and not one.is_detail]
    for result in totals:
        if result.value is None:
            raise SettingError(f"no score on {result.set}: {result.reason}")
    return float(np.mean([result.value for result in totals]))


One = Evaluable | str | os.PathLike[str]


def evaluate(vectors: One | ModelGroup | Sequence[One], *, name: str | None = None, **settings: Any) -> Scores:
    """Score vectors on test sets; the results come in the order of the sets below.

    Arguments:
        vectors: vectors, a model, or the path of either; for documents also the result of
            `embeddings.training.concatenate(model, other)`, for retrieval also an index of its documents. A group of
            models, its folder, or a list of models are runs of one setting: results have the mean, the standard
            deviation over runs, and an interval that covers other runs and other items.
        name: what results call the vectors; by default the path.
        similarity: word pairs with ratings: wordsim353, simlex999 or a file. In Python, of each kind one or several.
        analogy: analogies: google-analogies, google-phrases or a file in Google, MSR or BATS format.
        phrases: rated phrases, or "held-out": the phrases that a composition model was not fitted to.
        categories: words by category: google-categories or a file.
        translation: translations of words by aligned vectors: a dictionary, lines of a word and its translation.
        association: association tests (WEAT): a table with the columns test, list, word and role.
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
        candidates: score pairs by recall@1, @2 and @5 of the right text among this many candidates, such as 2 and 10:
            itself and random others; or "given": among the right texts of successive pairs with the same left text, of
            which those with a rating above 0 are right; one or several.
        half: use only this half of the items of similarity, analogy, pairs or labels; a hash of each item decides.
            Early stopping and tuning see "dev" only, so "test" is left for reports.
        ranking: rank documents by "vectors", by words ("lexical", BM25), or by both ("fused"); one or several. By
            default by vectors, and those of an index of texts by both.
        stemming: rank by the stems of words in this language, such as "english".
        index: the index of vectors that retrieval uses, such as lsh:bits=512; by default search is exact.
        target: the vectors of the other language for translation, or their path; see `align`.
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
    return Scores(scores.result() for scores in suite.score(source, name or label))


def compare(
    *vectors: One | ModelGroup | Sequence[One], names: Sequence[str] | None = None, **settings: Any
) -> Comparisons:
    """Compare each pair of vectors, or of groups of runs, by paired tests on test sets, over the items that both cover.

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


def resolve(vectors: One | ModelGroup | Sequence[One]) -> tuple[Evaluable | list[Evaluable], str]:
    """The vectors or model to evaluate, or the models of several runs, and their name."""
    if isinstance(vectors, ModelGroup):
        return [*vectors.models], vectors.folder.name
    if isinstance(vectors, str | os.PathLike):
        if is_group(vectors):
            return resolve(ModelGroup.load(vectors))
        return load_evaluable(vectors), Path(vectors).name
    if isinstance(vectors, ConcatenatedModels):
        return vectors, " + ".join(model.name for model in vectors.models)
    if isinstance(vectors, Sequence):
        runs = [resolve(one) for one in vectors]
        if not runs or any(isinstance(one, list) for one, _ in runs):
            raise SettingError(f"several runs must be a list of models, vectors or paths, got {vectors!r:.80}")
        return [one for one, _ in runs if not isinstance(one, list)], f"{len(runs)} runs of {runs[0][1]}"
    if isinstance(vectors, Vectors | Model):
        return vectors, "vectors" if isinstance(vectors, Vectors) else vectors.name
    if type(vectors).__name__ != "TextIndex":
        raise SettingError(f"vectors must be a model, vectors, a path or a list of runs, got {vectors!r:.80}")
    return vectors, vectors.path.name


def load_evaluable(path: str | os.PathLike[str], *, allow_faiss: bool = False, **read_options: Any) -> Evaluable:
    """Load an index of texts, or a model or vectors with options of `embeddings.load`."""
    if is_text_index(path):
        from embeddings.text_search.text_index import TextIndex  # imports numba

        return TextIndex(path, allow_faiss=allow_faiss)
    return load_model_or_vectors(path, **read_options)


Classifier = Union["LabelPredictor", str, os.PathLike[str]]


def evaluate_classifier(
    classifier: Classifier, source: str | os.PathLike[str] | Iterable[Any], *,
    k: Annotated[int, Range(ge=-1)] = 1, threshold: Annotated[float, Range(ge=0, le=1)] = 0.0,
    label_prefix: str = PREFIX, label_separator: str | None = None, text_column: str | None = None,
    label_column: str | None = None, metrics: Iterable[str] = (), encoding: str = "utf-8",
    encoding_errors: str = "strict", half: str = ALL, threads: int | None = None,
    progress: ProgressOption = None, name: str | None = None,
) -> LabelScores:  # fmt: skip
    """Compare the labels of texts with the predictions of a classifier; `results()` has all scores.

    The texts are read in batches; memory grows with their number by a few bytes each. Texts without labels are left
    out, and counted in `predictions.unlabelled`.

    Arguments:
        classifier: a classifier, or the path of one.
        source: a file of lines with labels as for fastText, a table, or an iterable of such lines or of mappings.
        k: maximum number of labels per text; -1 for all.
        threshold: minimum probability of a label.
        label_prefix: begins the words of a line that are labels; the names of labels are compared without it.
        label_separator: separates several labels in a cell of a table; see `LabelFormat` for it and the columns.
        text_column: the text column of a table; by default `text`, or the only other column of strings.
        label_column: the label column of a table; by default `label`.
        metrics: also report precision-at-recall:PERCENT or recall-at-precision:PERCENT, of one label with :LABEL behind
            it, or a score of one label, as in f1:LABEL.
        encoding: the encoding of the texts, such as "cp1252".
        encoding_errors: "strict", "replace" or "ignore" for bytes that are invalid in it.
        half: "dev" or "test" for half of the texts, which a hash of each text fixes; see
            `embeddings.eval.test_sets`.
        threads: by default all cores.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of bytes read, as stored on disk, and the total.
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
        classifier = load_classifier(classifier, errors=encoding_errors)
    title = Path(source).name if isinstance(source, str | os.PathLike) else sources[0].name
    with showing(progress, "predicting", MEGABYTES) as shown:
        batches = form.read(sources, encoding=encoding, encoding_errors=encoding_errors, report=shown)
        if check_half(half) != ALL:
            batches = (select_texts(batch, half) for batch in batches)
        predictions = predict_labels(
            classifier, batches, k, threshold, prefix=label_prefix, threads=threads, source=title
        )
    return LabelScores(predictions, title, name or "classifier", k, threshold, label_metrics, half)
