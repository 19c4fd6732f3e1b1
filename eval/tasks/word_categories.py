"""Word categories: purity of k-means clusters, and scores of a linear classifier that predicts the categories."""

import os
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError
from embeddings.eval import test_sets
from embeddings.eval.statistics.results import BinaryScores, F1Scores, ItemScores, Key
from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.eval.tasks.linear_classifier import NO_LABEL, cross_predict, majority_scores, predict_rows
from embeddings.eval.word_matching import look_up_rows
from embeddings.support.cosine import normalize
from embeddings.support.imports import import_library

# Sections of the Google analogies, and the categories of the two words of their pairs.
GOOGLE_SECTIONS = {
    "capital-world": ("capital", "country"),
    "currency": ("country", "currency"),
    "city-in-state": ("city", "state"),
    "family": ("family", "family"),
    "gram6-nationality-adjective": ("country", "nationality"),
}


@dataclass(frozen=True)
class WordCategories:
    """Words and the category of each; a word with several categories is listed once for each."""

    name: str
    words: list[str]
    categories: list[str]


def read_word_categories(name: str | os.PathLike[str]) -> WordCategories:
    """A set by name ("google-categories"), or a file of lines "word TAB category"; commas and spaces also separate.

    A line that occurs twice counts once.
    """
    if str(name) == test_sets.GOOGLE_CATEGORIES and not Path(name).exists():
        # without words of two categories, such as Georgia
        test = read_questions(test_sets.GOOGLE_ANALOGIES)
        categories_of: dict[str, set[str]] = {}
        for (a, b, _), section in zip(test.questions, test.section_of, strict=True):
            for word, category in zip((a, b), GOOGLE_SECTIONS.get(test.sections[section], ()), strict=False):
                categories_of.setdefault(word, set()).add(category)
        single = {word: names.pop() for word, names in sorted(categories_of.items()) if len(names) == 1}
        return WordCategories(test_sets.GOOGLE_CATEGORIES, list(single), list(single.values()))
    path = test_sets.locate(name)
    entries: dict[tuple[str, str], None] = {}
    for number, line in test_sets.read_lines(path):
        separator = next((mark for mark in "\t," if mark in line), None)
        fields = [field.strip() for field in line.split(separator)]
        if len(fields) != 2 or not all(fields):
            raise test_sets.line_error(path, number, "a word and its category", line)
        # a dict keeps the order of the file, which a set would not: folds depend on it
        entries[fields[0], fields[1]] = None
    if len({category for _, category in entries}) < 2:
        raise FormatError(f"{path} contains fewer than two categories")
    return WordCategories(
        test_sets.set_name(name), [word for word, _ in entries], [category for _, category in entries]
    )


STARTS, SEED = 10, 1
CLUSTERING_PROTOCOL = (
    "the share of words that belong to the most frequent category of their cluster (not 0 for random clusters); "
    f"k-means of unit vectors, as many clusters as categories, the best of {STARTS} starts, seed {SEED}; case is "
    "ignored; words without a vector are left out; a word of two categories counts twice; of equally frequent "
    "categories the first by name; interval: Wilson's, for fixed clusters"
)


def score_purity(subject: Subject, test: WordCategories) -> list[BinaryScores]:
    """Which words belong to the most frequent category of their cluster: by category, and all (section None)."""
    rows = subject.folding.find(test.words)
    covered = rows >= 0
    names, category = np.unique(test.categories, return_inverse=True)
    correct, reason = np.zeros(len(rows), dtype=bool), None
    count = len(np.unique(category[covered]))
    if count < 2:
        reason = "fewer than two categories have words with vectors"
    else:
        cluster = kmeans(normalize(subject.vectors.matrix[rows[covered]]), count)
        table = np.zeros((count, len(names)), dtype=np.int64)
        np.add.at(table, (cluster, category[covered]), 1)
        correct[covered] = table.argmax(axis=1)[cluster] == category[covered]
    whole = BinaryScores(
        vectors=subject.name,
        key=Key(test.name, "purity"),
        correct=correct,
        covered=covered,
        members=np.ones(len(rows), dtype=bool),
        protocol=CLUSTERING_PROTOCOL,
        reason=reason,
    )
    return whole.by_class(names, category)


def kmeans(units: np.ndarray, count: int) -> NDArray[np.int64]:
    """The cluster of each row (rows,), deterministic."""
    KMeans = import_library("sklearn.cluster").KMeans
    ConvergenceWarning = import_library("sklearn.exceptions").ConvergenceWarning
    threadpool_limits = import_library("threadpoolctl").threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        return np.asarray(KMeans(count, n_init=STARTS, random_state=SEED).fit_predict(units), dtype=np.int64)


METHOD = f"{test_sets.FOLDS} folds"
PREDICTION_PROTOCOL = (
    f"logistic regression (L2 penalty, C = 1) on vectors, whitened over the training words; {test_sets.FOLDS}-fold "
    "cross-validation, stratified by category; case is ignored, and of words that differ in case alone the most "
    "frequent is used; vectors are composed where possible; a word of two categories counts twice, in the same fold; "
    "F1 is over all words, and a word without a vector is predicted no category; macro: the mean over categories; "
    "accuracy is over words with vectors; interval: bootstrap over words (accuracy: Wilson's)"
)


def score_categories(subject: Subject, test: WordCategories) -> list[ItemScores]:
    """The F1 of each category (section), micro-F1, macro-F1, the majority baseline, and accuracy."""
    names, category = np.unique(test.categories, return_inverse=True)
    matrix, covered = look_up_rows(subject.vectors, test.words, subject.folding.find(test.words))
    reason = None if covered.any() else "no word has a vector"
    splits = test_sets.splits_of([word.upper() for word in test.words], test.categories, None)
    predicted, common, note = cross_predict(category, splits, partial(predict, matrix, covered, category))
    actual, guesses = (side[:, None] == np.arange(len(names)) for side in (category, predicted))
    name = subject.name
    score = partial(F1Scores, vectors=name, covered=covered, protocol=PREDICTION_PROTOCOL, reason=reason, note=note)
    key = partial(Key, test.name, method=METHOD)
    scores: list[ItemScores] = []
    for column, one in enumerate(names):
        detail = key("f1", section=str(one), is_detail=True)
        scores.append(score(key=detail, actual=actual[:, [column]], predicted=guesses[:, [column]]))
    correct, everything = category == predicted, np.ones(len(category), dtype=bool)
    micro = {"actual": everything[:, None], "predicted": (predicted != NO_LABEL)[:, None], "hits": correct[:, None]}
    scores += [score(key=key("micro-f1"), **micro), score(key=key("macro-f1"), actual=actual, predicted=guesses)]
    accuracy = BinaryScores(
        vectors=name, key=key("accuracy"), correct=correct, covered=covered, members=everything,
        protocol=PREDICTION_PROTOCOL,
        reason=reason, note=note,
    )  # fmt: skip
    return [*scores, *majority_scores(name, test.name, category, common), accuracy]


def predict(
    matrix: np.ndarray, covered: NDArray[np.bool_], category: NDArray[np.int64], train_rows: NDArray[np.int64],
    test_rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], bool]:  # fmt: skip
    """The categories predicted for the test words, none without a vector; and whether the classifier converged."""
    predicted, train, is_known = np.full(len(test_rows), NO_LABEL), train_rows[covered[train_rows]], covered[test_rows]
    if not len(train) or not is_known.any():
        return predicted, True
    predicted[is_known], has_converged = predict_rows(matrix, covered, category, train, test_rows[is_known])
    return predicted, has_converged


KIND = Kind(
    name="categories",
    metavar="NAME|FILE...",
    read=lambda test, settings: read_word_categories(test),
    score=lambda subject, test: [*score_categories(subject, test), *score_purity(subject, test)],
)
