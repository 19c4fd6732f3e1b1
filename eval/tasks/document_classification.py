"""Document classification: labels predicted from pooled word vectors, inferred vectors, or trained document vectors."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from embeddings.corpora.tokenizers import resolve_tokenizer
from embeddings.eval.statistics.results import TEXTS, BinaryScores, F1Scores, ItemScores, Key
from embeddings.eval.tasks.evaluation_kind import EmbeddedTexts, Kind, PooledTexts, Subject, TextTable, TextVectors
from embeddings.eval.tasks.linear_classifier import NO_LABEL, cross_predict, majority_scores, predict_rows
from embeddings.eval.tasks.text_labels import LabelledTextSet, read_labelled_texts, read_texts
from embeddings.eval.test_sets import train_and_test_files
from embeddings.models.document_vectors import DOCUMENTS, document_numbers
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class DocumentSettings(TextTable, PooledTexts):
    """Which vectors documents have, and how those of words are pooled; see `embeddings.evaluate`."""

    use_trained_vectors: bool = False
    name_column: str | None = None


@dataclass(frozen=True)
class DocumentSet(LabelledTextSet):
    """Documents with labels; those with the same words are in the same fold.

    `names` (documents,) are the names of their trained vectors; None where vectors are inferred, or pooled from those
    of words.
    """

    names: Sequence[str] | None = None


def read_documents(name: str | os.PathLike[str], settings: DocumentSettings) -> DocumentSet:
    """Labelled documents: "TRAIN,TEST", or one file for cross-validation, as `read_texts` reads them.

    With `use_trained_vectors`, documents are matched to trained vectors by number (from 0, TRAIN before TEST); with
    `name_column`, by the names in that column.
    """
    words = resolve_tokenizer("words")
    test = read_texts(name, settings, key=lambda text: tuple(words(text)))
    names = document_numbers(len(test.labels)) if settings.use_trained_vectors else None
    if settings.name_column is not None:
        columns = settings.text_column, settings.name_column, settings.encoding_errors
        names = [tag for part in train_and_test_files(name) for tag in read_labelled_texts(part, *columns)[1]]
    return DocumentSet(**vars(test), names=names)


PROTOCOL = (
    "logistic regression (L2 penalty, C = 1) on {source}, whitened over the training documents; the value is over all "
    "documents; ties go to the label that is first alphabetically; macro: the mean over labels; {split}; interval: "
    "Wilson's for accuracy, bootstrap over documents for macro-F1"
)
MEANS = "vectors of their words ({pooling}); a document without a known word gets zeros"
INFERRED = "the vectors that the model infers for documents, with seed 1 and as many epochs as in training"
TRAINED = "the trained document vectors with these names; a document without one gets zeros"


def score_documents(subject: Subject, test: DocumentSet) -> list[ItemScores]:
    """Accuracy per label and overall (section None), macro-F1, and word coverage.

    Accuracy and macro-F1 are reported with those of the most frequent label of the training documents.
    """
    is_tested = np.zeros(len(test.texts), bool)
    for _, test_rows in test.splits:
        is_tested[test_rows] = True
    matrix, about, pooled = represent(subject, test)
    # before whitening, which moves zeros
    covered = np.asarray(matrix.any(axis=1))
    labels, label = np.unique(test.labels, return_inverse=True)
    unnamed, unknown = "no document has a vector of its name", "no word of the documents is known"
    reason = None if covered.any() else unnamed if about is TRAINED else unknown
    predictions = cross_predict(label, test.splits, None if reason else partial(predict_rows, matrix, covered, label))
    guess, common = predictions.guess, predictions.most_frequent
    shared: dict[str, Any] = {
        "vectors": subject.name, "protocol": PROTOCOL.format(source=about, split=test.protocol), "reason": reason,
        "note": predictions.note,
    }  # fmt: skip
    whole = BinaryScores(
        key=Key(test.name, "accuracy"),
        correct=guess == label,
        covered=covered,
        members=common != NO_LABEL,
        over_all=True,
        **shared,
    )
    actual, predicted = (side[is_tested][:, None] == np.arange(len(labels)) for side in (label, guess))
    macro = F1Scores(
        key=Key(test.name, "macro-f1"), covered=covered[is_tested], actual=actual, predicted=predicted,
        test=TEXTS, **shared,
    )  # fmt: skip
    *by_label, accuracy = whole.by_class(labels, label)
    majority = majority_scores(subject.name, test.name, label[is_tested], common[is_tested])
    scores = [*by_label, *majority, macro, accuracy]
    return scores if pooled is None else [*scores, pooled.coverage(subject.name, test.name)]


def represent(subject: Subject, test: DocumentSet) -> tuple[np.ndarray, str, EmbeddedTexts | None]:
    """The vectors of the documents (documents, dim), their description, and the pooled word vectors.

    Nothing is pooled for trained vectors.
    """
    source = subject.word_source
    if test.names is not None:
        document_vectors = source if isinstance(source, Vectors) else source.documents
        document_vectors.check_finite()
        rows = [document_vectors.index(name) if name in document_vectors else -1 for name in test.names]
        table = np.append(document_vectors.matrix, np.zeros((1, document_vectors.dim), np.float32), axis=0)
        return table[rows], TRAINED, None
    if not isinstance(source, Model) or DOCUMENTS not in source.tables:
        words = subject.texts.embed(test.texts)
        return words.matrix, MEANS.format(pooling=subject.texts.description), words
    texts = TextVectors(source.vectors, subject.settings.pooling)  # such a model pools nothing
    words = texts.embed(test.texts)
    if subject.settings.pooling:
        return words.matrix, MEANS.format(pooling=texts.description), words
    return source.infer(texts=test.texts), INFERRED, words


KIND = Kind(
    name="documents",
    metavar="FILE|TRAIN,TEST...",
    read=read_documents,
    score=score_documents,
    settings=DocumentSettings,
    options={"text_column": "NAME", "label_column": "NAME", "use_trained_vectors": None, "name_column": "NAME"},
    of_words=False,
)
