"""Labels of texts: reading them, and how well clusters of the text vectors match them."""

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from embeddings.corpora.reading.columns import Role
from embeddings.corpora.reading.reader import open_table
from embeddings.corpora.reading.sources import resolve_source
from embeddings.errors import CorpusError
from embeddings.eval.statistics.results import ItemScores, Key, ResampledScores
from embeddings.eval.tasks.evaluation_kind import Kind, PooledTexts, Subject, TextTable
from embeddings.eval.tasks.word_categories import kmeans
from embeddings.eval.test_sets import FOLDS, Split, set_name, splits_of, train_and_test_files
from embeddings.support.cosine import normalize
from embeddings.support.imports import import_library

TRAIN_TEST = "trained on one file and tested on another"
NO_WORD = "no text has a known word"
CROSS_VALIDATED = f"{FOLDS}-fold cross-validation, stratified by label; equal texts are in the same fold"


@dataclass(frozen=True, kw_only=True)
class LabelledTextSettings(TextTable, PooledTexts):
    """The columns of a table and how vectors of texts are pooled."""


@dataclass(frozen=True)
class LabelledTextSet:
    """Texts with labels, and for each of several splits the texts to train and to test on."""

    name: str
    texts: list[str]
    labels: list[str]
    splits: list[Split]
    protocol: str


def read_texts(name: str | os.PathLike[str], settings: Any, *, key: Callable[[str], Hashable] = str) -> LabelledTextSet:
    """The texts of "TRAIN,TEST", or of one file for cross-validation.

    Arguments:
        settings: the columns, and how bytes are decoded.
        key: a function of a text; texts with the same value are in the same fold.

    Raises:
        CorpusError: a file cannot be read, has no such column or an unlabelled text, or there are too few texts or
            labels.
    """
    columns = settings.text_column, settings.label_column, settings.encoding_errors
    parts = train_and_test_files(name)
    (texts, labels), *others = (read_labelled_texts(part, *columns) for part in parts)
    training = len(texts) if others else None
    for more_texts, more_labels in others:
        texts, labels = texts + more_texts, labels + more_labels
    contents = list(map(key, texts))
    splits = splits_of(contents, labels, training)
    for train_rows, test_rows in splits:
        if not len(test_rows) or len({labels[row] for row in train_rows}) < 2:
            raise CorpusError(
                f"{name} has {len(set(contents))} distinct texts and {len(set(labels))} labels; classification "
                f"requires {FOLDS} texts and two labels to learn from"
            )
    return LabelledTextSet(set_name(parts[-1]), texts, labels, splits, TRAIN_TEST if others else CROSS_VALIDATED)


def read_clustered_texts(name: str | os.PathLike[str], settings: LabelledTextSettings) -> LabelledTextSet:
    """The texts of one file with two labels at least.

    Raises:
        CorpusError: the file cannot be read, has no such column or an unlabelled text, or there are too few labels.
    """
    texts, labels = read_labelled_texts(name, settings.text_column, settings.label_column, settings.encoding_errors)
    if len(set(labels)) < 2:
        raise CorpusError(f"{name} has {len(set(labels))} labels; clustering requires at least two")
    return LabelledTextSet(set_name(name), texts, labels, [], "")


def read_labelled_texts(
    path: str | os.PathLike[str], text_column: str, label_column: str, encoding_errors: str
) -> tuple[list[str], list[str]]:
    """The texts of a table and their labels; null is an empty text."""
    texts: list[str] = []
    labels: list[str] = []
    roles = [(text_column, Role.TEXT), (label_column, Role.TAG)]
    for source in resolve_source(path):
        with open_table(source, encoding_errors=encoding_errors) as table:
            for batch in table.read(roles) if table.columns else ():
                cells, tags = (array.to_pylist() for array in batch.arrays)
                for row, (cell, tag) in enumerate(zip(cells, tags, strict=True)):
                    if isinstance(cell, list) or isinstance(tag, list) or not tag:
                        problem = "a text and its label must be strings" if tag else f"the text has no {label_column}"
                        raise CorpusError(f"{batch.position(row)}: {problem}")
                    texts.append(cell or "")
                labels += tags
    return texts, labels


CLUSTERING_PROTOCOL = (
    "V-measure, the harmonic mean of homogeneity and completeness; k-means of unit text vectors ({pooling}), as many "
    "clusters as labels, the best of 10 starts, seed 1; a text without a known word is zeros and counts; interval: "
    "bootstrap over texts, for fixed clusters"
)


def score_clustering(subject: Subject, test: LabelledTextSet) -> list[ItemScores]:
    """The V-measure of k-means clusters, and word coverage."""
    vectors, name = subject.texts, subject.name
    embedded = vectors.embed(test.texts)
    names, label = np.unique(test.labels, return_inverse=True)
    has_words = bool(embedded.covered.any())
    cluster = kmeans(normalize(embedded.matrix), len(names)) if has_words else np.zeros_like(label)
    scores = ClusterScores(
        vectors=name,
        key=Key(test.name, "v-measure"),
        label=label,
        cluster=cluster,
        covered=embedded.covered,
        protocol=CLUSTERING_PROTOCOL.format(pooling=vectors.description),
        reason=None if has_words else NO_WORD,
    )
    return [scores, embedded.coverage(name, test.name)]


@dataclass(frozen=True, kw_only=True)
class ClusterScores(ResampledScores):
    """The label and the cluster of each item, both int64 (items,), and their V-measure."""

    label: np.ndarray
    cluster: np.ndarray

    def score(self, weights: np.ndarray) -> np.ndarray:
        """The V-measure in each resample (resamples,), from how often each item is drawn, (resamples, items)."""
        csr_array = import_library("scipy.sparse").csr_array

        size = int(self.cluster.max()) + 1
        # only cells that occur: with many labels and clusters most of the table is empty
        cells, cell = np.unique(self.label * size + self.cluster, return_inverse=True)
        items = len(cell)
        indicator = csr_array((np.ones(items), (cell, np.arange(items))), (len(cells), items))
        counts = (indicator @ weights.T).T
        by_label = group_columns(counts, cells // size)
        by_cluster = group_columns(counts, cells % size)
        total = weights.sum(axis=1)
        joint, labels, clusters = (entropy(part, total) for part in (counts, by_label, by_cluster))
        mutual = labels + clusters - joint
        # the entropies cancel to this form, which is defined where one of them is 0
        both = labels + clusters  # 2 h c / (h + c) with h = mutual / labels and c = mutual / clusters
        return np.asarray(np.divide(2 * mutual, both, out=np.ones_like(both), where=both > 0))


def group_columns(counts: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The sums of the columns of each group, (resamples, groups)."""
    return np.stack([counts[:, group == one].sum(axis=1) for one in np.unique(group)], axis=1)


def entropy(counts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The entropy in nats of each row of counts (resamples, cells), whose sums are `total` (resamples,)."""
    shares = counts / total[:, None]
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


CLUSTERING = Kind(
    name="clustering",
    metavar="FILE...",
    read=read_clustered_texts,
    score=score_clustering,
    settings=LabelledTextSettings,
    options={"text_column": "NAME", "label_column": "NAME"},
    of_words=False,
)
