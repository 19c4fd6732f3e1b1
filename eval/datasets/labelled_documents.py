"""Labelled documents, and which of them a classifier learns from and is tested on."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.statistics.cross_validation import FOLDS, stratified_folds
from embeddings.models.document_vectors import document_numbers
from embeddings.vectors.pooling import BagsOfWords

TRAIN_TEST = "trained on one file and tested on another"
CROSS_VALIDATED = (
    f"{FOLDS}-fold cross-validation, stratified by label; documents with the same words are in the same fold"
)


@dataclass(frozen=True)
class LabelledDocuments(BagsOfWords):
    """Documents with their labels."""

    labels: list[str]

    def contents(self) -> list[bytes]:
        """A key for each document that is equal for equal words in equal order."""
        return [self.ids[start:stop].tobytes() for start, stop in pairwise(self.starts)]


@dataclass(frozen=True)
class DocumentSet:
    """Documents, and for each of several splits the documents to train and to test on.

    The documents are the column `text_column` of `sources`, in order. `names` (documents,) are the names of their
    trained vectors; None where vectors are inferred, or means of word vectors.
    """

    name: str
    documents: LabelledDocuments
    splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    protocol: str
    sources: tuple[str, ...]
    text_column: str
    names: Sequence[str] | None = None


def read_documents(
    name: str | os.PathLike[str],
    text_column: str,
    label_column: str,
    name_column: str | None = None,
    *,
    use_trained_vectors: bool = False,
) -> DocumentSet:
    """Labelled documents: "TRAIN,TEST", or one file for cross-validation.

    Each is a table as `Corpus` reads it, or a folder or pattern of tables. With `use_trained_vectors` the documents'
    vectors were trained under their numbers, from 0 on, TRAIN's before TEST's; with `name_column` under these names.
    """
    parts = [part for part in str(name).split(",") if part]
    if Path(name).exists() or len(parts) == 1:
        parts = [str(name)]
        documents = read_labelled(str(name), text_column, label_column)
        fold = stratified_folds(documents.contents(), np.unique(documents.labels, return_inverse=True)[1])
        splits = [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(FOLDS)]
        protocol = CROSS_VALIDATED
    elif len(parts) == 2:
        train, test = (read_labelled(part, text_column, label_column) for part in parts)
        documents, count = concatenate_documents(train, test), len(train.labels)
        splits, protocol = [(np.arange(count), np.arange(count, len(documents.labels)))], TRAIN_TEST
    else:
        raise SettingError(f"documents must be a file or TRAIN,TEST, got {str(name)!r}")
    if min(len(test_rows) for _, test_rows in splits) == 0:
        distinct = len(set(documents.contents()))
        raise CorpusError(f"{name} contains {distinct} distinct documents; at least {FOLDS} are required")
    names = document_numbers(len(documents.labels)) if use_trained_vectors else None
    if name_column is not None:
        names = [tag for part in parts for tag in read_labelled(part, text_column, name_column).labels]
    title = Path(parts[-1]).name.split(".")[0]
    return DocumentSet(title, documents, splits, protocol, tuple(parts), text_column, names)


def read_labelled(source: str, text_column: str, label_column: str) -> LabelledDocuments:
    """The documents of a source with their labels."""
    with Corpus(source, case="keep", text_column=text_column, tag_column=label_column).encode() as encoded:
        labels = encoded.single_tags.to_pylist()
        if None in labels:
            raise CorpusError(f"{source}: document {labels.index(None) + 1} has no label")
        bags = BagsOfWords.of(encoded)
        return LabelledDocuments(bags.words, bags.ids, bags.starts, labels)


def concatenate_documents(first: LabelledDocuments, second: LabelledDocuments) -> LabelledDocuments:
    """The documents of both."""
    ids = np.append(first.ids, second.ids + np.int32(len(first.words)))
    starts = np.append(first.starts, second.starts[1:] + first.starts[-1])
    return LabelledDocuments(first.words + second.words, ids, starts, first.labels + second.labels)
