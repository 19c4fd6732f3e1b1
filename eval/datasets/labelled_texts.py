"""Texts with one label each, for clustering and for classification probes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.record_columns import JsonNumber
from embeddings.corpora.reading.sources import resolve_source
from embeddings.corpora.reading.table_columns import open_columns
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.datasets.dataset_files import set_name
from embeddings.eval.statistics.cross_validation import FOLDS, stratified_folds

TRAIN_TEST = "trained on one file and tested on another"
CROSS_VALIDATED = f"{FOLDS}-fold cross-validation, stratified by label; equal texts are in the same fold"
Split = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class LabelledTextSet:
    """Texts with labels, and for each of several splits the texts to train and to test on."""

    name: str
    texts: list[str]
    labels: list[str]
    splits: list[Split]
    protocol: str


def read_texts_to_classify(
    name: str | os.PathLike[str], text_column: str, label_column: str, *, encoding_errors: str = "strict"
) -> LabelledTextSet:
    """The texts of "TRAIN,TEST", or of one file for cross-validation.

    Raises:
        CorpusError: a file cannot be read, has no such column or an unlabelled text, or there are too few texts.
    """
    parts = [part for part in str(name).split(",") if part]
    if Path(name).exists() or len(parts) == 1:
        texts, labels = read_labelled_texts(name, text_column, label_column, encoding_errors)
        fold = stratified_folds(texts, np.unique(labels, return_inverse=True)[1])
        splits = [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(FOLDS)]
        protocol, title = CROSS_VALIDATED, set_name(name)
    elif len(parts) == 2:
        (texts, labels), test = (
            read_labelled_texts(part, text_column, label_column, encoding_errors) for part in parts
        )
        count = len(texts)
        texts, labels = texts + test[0], labels + test[1]
        splits, protocol, title = [(np.arange(count), np.arange(count, len(texts)))], TRAIN_TEST, set_name(parts[1])
    else:
        raise SettingError(f"probe must be a file or TRAIN,TEST, got {str(name)!r}")
    for train_rows, test_rows in splits:
        if not len(test_rows) or len({labels[row] for row in train_rows}) < 2:
            raise CorpusError(
                f"{name} has {len(set(texts))} distinct texts and {len(set(labels))} labels; a probe requires "
                f"{FOLDS} texts and two labels to learn from"
            )
    return LabelledTextSet(title, texts, labels, splits, protocol)


def read_texts_to_cluster(
    name: str | os.PathLike[str], text_column: str, label_column: str, *, encoding_errors: str = "strict"
) -> LabelledTextSet:
    """The texts of a file.

    Raises:
        CorpusError: the file cannot be read, has no such column or an unlabelled text, or all labels are the same.
    """
    texts, labels = read_labelled_texts(name, text_column, label_column, encoding_errors)
    if len(set(labels)) < 2:
        raise CorpusError(f"{name} has {len(set(labels))} labels; clustering requires at least two")
    return LabelledTextSet(set_name(name), texts, labels, [], "")


def read_labelled_texts(
    path: str | os.PathLike[str], text_column: str, label_column: str, encoding_errors: str
) -> tuple[list[str], list[str]]:
    """The texts of a table and their labels; null is an empty text."""
    texts: list[str] = []
    labels: list[str] = []
    for source in resolve_source(path):
        number = 0
        with open_columns(source, encoding_errors=encoding_errors) as table:
            for cells, tags in table.batches([text_column, label_column]) if table.columns else ():
                texts += check_cells(cells, text_column, source.name, number)
                if None in tags or "" in tags:
                    row = number + 1 + min(tags.index(empty) for empty in (None, "") if empty in tags)
                    raise CorpusError(f"{source.name}, row {row}: the text has no label")
                labels += map(str, tags)
                number += len(cells)
    return texts, labels


def check_cells(cells: Sequence[object], column: str, file: str, start: int) -> list[str]:
    """The cells of a column of text."""
    for row, cell in enumerate(cells, start + 1):
        if cell is not None and (not isinstance(cell, str) or isinstance(cell, JsonNumber)):
            raise CorpusError(f"{file}, row {row}: the text {column!r} must be a string, got {cell!r:.40}")
    return [str(cell or "") for cell in cells]
