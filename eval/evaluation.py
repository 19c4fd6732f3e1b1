"""Evaluate and compare vectors and classifiers; all test sets are read and checked before any vectors are."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np

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
    text_classification,
    text_labels,
    text_similarity,
    word_association,
    word_categories,
    word_similarity,
    word_translation,
)
from embeddings.eval.tasks.evaluation_kind import Evaluable, Kind, Subject, Task
from embeddings.eval.test_sets import ALL
from embeddings.models.loading import load_classifier, load_model_or_vectors
from embeddings.models.model import Model
from embeddings.models.model_group import ModelGroup, is_group
from embeddings.printable import describe
from embeddings.text_search.index_folder import is_text_index
from embeddings.vectors.vectors import Vectors

ALL_KINDS = (  # in the order of results
    word_similarity.KIND, analogies.KIND, phrase_composition.KIND, word_categories.KIND, word_translation.KIND,
    word_association.KIND, tagging.KIND, perplexity.KIND, document_classification.KIND,
    text_similarity.KIND, retrieval.KIND, text_labels.CLUSTERING, text_classification.KIND,
)  # fmt: skip
KINDS = {kind.name: kind for kind in ALL_KINDS}


@dataclass(frozen=True)
class Suite:
    """Test sets of several kinds, and how they are scored; `Suite.read` makes one."""

    tasks: Sequence[Task]

    @classmethod
    def read(cls, *, encoding_errors: str = "strict", **settings: Any) -> "Suite":
        """Read test sets by name or path; see `evaluate` for the arguments.

        Raises:
            SettingError: nothing is requested, a setting is out of range, or an option is given without its test sets.
            FormatError: a set cannot be found or read.
            CorpusError: documents cannot be read.
        """
        # kinds are taken out first: what remains are settings, which are checked against these kinds
        tests = {name: kind.as_list(settings.pop(name)) for name, kind in KINDS.items() if name in settings}
        kinds = [kind for kind in ALL_KINDS if tests.get(kind.name)]
        check_kinds(kinds, settings)
        settings["encoding_errors"] = encoding_errors
        return cls([Task.read(kind, tests[kind.name], settings) for kind in kinds])

    @property
    def of_classifiers(self) -> bool:
        """Whether classifiers are evaluated."""
        return any(task.kind is text_classification.KIND for task in self.tasks)

    def sets(self, name: str) -> list[Any]:
        """The test sets of a kind."""
        return [test for task in self.tasks if task.kind.name == name for test in task.sets]

    def load(self, path: str | os.PathLike[str], *, allow_faiss: bool = False, **read_options: Any) -> Evaluable:
        """Load what is evaluated: a classifier, an index of texts, or a model or vectors as `embeddings.load` does."""
        if self.of_classifiers:
            return load_classifier(path, errors=read_options.get("errors", "strict"))
        if is_text_index(path):
            from embeddings.text_search.text_index import TextIndex  # imports numba

            return TextIndex(path, allow_faiss=allow_faiss)
        return load_model_or_vectors(path, **read_options)

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
        subject = Subject(source, name)
        if any(task.kind.of_words for task in self.tasks):
            _ = subject.vectors  # refused before anything is scored
        for task in self.tasks:
            for test in task.sets:
                yield from task.kind.score(replace(subject, settings=task.settings), test)


def check_kinds(kinds: Sequence[Kind], settings: Mapping[str, Any]) -> None:
    """Refuse settings that no kind has, or none of the requested kinds, and kinds that exclude each other."""
    if not kinds:
        raise SettingError(f"nothing to evaluate: give at least one of {', '.join(KINDS)}")
    if text_classification.KIND in kinds and len(kinds) > 1:
        raise SettingError(f"{S.labels} cannot be combined with {S[kinds[0].name]}: it evaluates classifiers")
    for name, value in settings.items():
        users = [kind for kind in ALL_KINDS if name in kind.defaults]
        if not users:
            raise SettingError(f"unknown setting {name!r} of an evaluation")
        is_set = value is not None and value is not False and any(value != kind.defaults[name] for kind in users)
        if is_set and not any(kind in kinds for kind in users):
            *first, last = (S[kind.name] for kind in users)
            required = f"{', '.join(first)} or {last}" if first else str(last)
            raise SettingError(f"{S[name]} requires {required}")
    half = settings.get("half")
    others = [kind for kind in kinds if "half" not in kind.defaults]
    if half not in (None, ALL) and others:
        known = ", ".join(kind.name for kind in ALL_KINDS if "half" in kind.defaults)
        raise SettingError(f"{S.half(half)} cannot be combined with {others[0].name}: only {known} have halves")


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
    # by key, since vectors may lack a result of others, such as a section without items
    for first, second in combinations(sides, 2):
        others = {one.key: one for one in second}
        comparisons += [compare_settings(one, others[one.key]) for one in first if one.key in others]
    return Comparisons.corrected(comparison for comparison in comparisons if comparison is not None)


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
        vectors: vectors, a model, or the path of either; for retrieval also an index of its documents, for
            labels a classifier. A group of models, its folder, or a list of models are runs of one setting: results
            have the mean, the standard deviation over runs, and an interval that covers other runs and other items.
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
        labels: labelled texts: lines with labels as for fastText, or a table. Excludes other kinds.
        compose: also score similarity with vectors composed for unknown words. Results report how many pairs have one.
        restrict: answer analogies from this many most frequent words, or "all"; one or several. The default is all
            and 30000.
        method: how analogies are answered: "3cosadd", the default, or "3cosmul"; one or both.
        window: the number of context words on either side of the word to tag; 2 by default.
        text_column: the column of the texts of a table.
        label_column: the column of the labels of a table.
        use_trained_vectors: use document vectors from training, by number: TRAIN first, then TEST.
        name_column: use document vectors from training, by the tags in this column.
        left_column: the column of the first text of a pair; by default the first of two text columns.
        right_column: the column of the second text of a pair.
        rating_column: the column of the ratings of pairs; by default score, rating or label.
        half: use only this half of the items of similarity, analogy, pairs or labels; a hash of each item decides.
            Early stopping and tuning see "dev" only, so "test" is left for reports.
        ranking: rank documents by "vectors", by words ("lexical", BM25), or by both ("fused"); one or several. By
            default by vectors, and those of an index of texts by both.
        stemming: rank by the stems of words in this language, such as "english".
        index: the index of vectors that retrieval uses, such as lsh:bits=512; by default search is exact.
        target: the vectors of the other language for translation, or their path; see `align`.
        encoding_errors: "strict", "replace" or "ignore" for bytes of pairs, retrieval, clustering, documents and
            labelled files that are not valid.
        k: maximum number of labels per text; -1 for all.
        threshold: minimum probability of a label.
        metrics: also report precision-at-recall:PERCENT or recall-at-precision:PERCENT, of one label with :LABEL behind
            it, or a score of one label, as in f1:LABEL.
        label_prefix: the prefix of the words of a line that are labels; the names of labels are compared without it.
        label_separator: what separates several labels in a cell of a table, such as a comma.
        encoding: the encoding of labelled texts, such as "cp1252".
        threads: of the prediction of labels; by default all cores.
        pool, constant, frequencies, remove_components, fit_on, dim: how vectors of texts are pooled for pairs,
            retrieval, clustering and documents; see `embeddings.embed`. `fit_on` is the path of a file.

    Raises:
        SettingError: nothing is requested, a setting is out of range, or the vectors lack what a set requires.
        FormatError: vectors or a set cannot be found or read.
        CorpusError: documents cannot be read.
    """
    suite = Suite.read(**settings)
    source, label = resolve(vectors, suite.load)
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
        source, label = resolve(one, suite.load)
        scores.append(suite.score(source, names[number] if names else label))
    comparisons = compare_scores(scores)
    # methods of ranking texts are also compared with each other
    if len(vectors) < 2 and not len(comparisons):
        raise SettingError(f"compare requires two vectors at least, each an argument, got {len(vectors)}")
    return comparisons


def resolve(
    vectors: One | ModelGroup | Sequence[One], load: Callable[[Any], Evaluable]
) -> tuple[Evaluable | list[Evaluable], str]:
    """The vectors or model to evaluate, or the models of several runs, and their name."""
    if isinstance(vectors, ModelGroup):
        return [*vectors.models], vectors.folder.name
    if isinstance(vectors, str | os.PathLike):
        if is_group(vectors):
            return resolve(ModelGroup.load(vectors), load)
        return load(vectors), Path(vectors).name
    if isinstance(vectors, Sequence):
        # a group inside a list would be runs of runs, for which there is no interval
        runs = [resolve(one, load) for one in vectors]
        if runs and not any(isinstance(one, list) for one, _ in runs):
            return [cast(Evaluable, one) for one, _ in runs], f"{len(runs)} runs of {runs[0][1]}"
    if isinstance(vectors, Vectors | Model):
        return vectors, "vectors" if isinstance(vectors, Vectors) else vectors.name
    other: Any = vectors  # a classifier or an index of texts
    if not hasattr(other, "labels") and not hasattr(other, "path"):
        kinds = "vectors, a model, a classifier, an index of texts, or the path of one"
        raise SettingError(f"what is evaluated must be {kinds}, got {describe(other)}")
    return other, "classifier" if hasattr(other, "labels") else other.path.name
