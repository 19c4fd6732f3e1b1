"""Document classification: labels predicted from mean word vectors, inferred vectors, or trained document vectors."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.statistics.results import TEXTS, BinaryScores, F1Scores, ItemScores, Key
from embeddings.eval.tasks.evaluation_kind import Kind, Subject, TextTable, word_coverage
from embeddings.eval.tasks.linear_classifier import NO_LABEL, cross_predict, majority_scores, predict_rows
from embeddings.eval.test_sets import FOLDS, Split, splits_of, train_and_test_files
from embeddings.eval.word_matching import look_up
from embeddings.models.concatenated_models import ConcatenatedModels, concatenate
from embeddings.models.document_vectors import DOCUMENTS, document_numbers
from embeddings.models.embed import default_pool, word_frequencies
from embeddings.models.model import Model
from embeddings.vectors.pooling import DEFAULT_CONSTANT, RowTexts, sum_rows, sum_weights, word_weights
from embeddings.vectors.vectors import Vectors

TRAIN_TEST = "trained on one file and tested on another"
CROSS_VALIDATED = (
    f"{FOLDS}-fold cross-validation, stratified by label; documents with the same words are in the same fold"
)


@dataclass(frozen=True)
class DocumentSet:
    """Documents with labels, and for each of several splits the documents to train and to test on.

    Document d has the words `ids[starts[d]:starts[d + 1]]` of `words`. The documents are the column `text_column` of
    `sources`, in order. `names` (documents,) are the names of their trained vectors; None where vectors are inferred,
    or means of word vectors.
    """

    name: str
    words: list[str]
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    labels: list[str]
    splits: list[Split]
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

    Each is a table as `Corpus` reads it, or a folder or pattern of tables. With `use_trained_vectors`, documents are
    matched to trained vectors by number (from 0, TRAIN before TEST); with `name_column`, by the names in that column.
    """
    parts = train_and_test_files(name)
    (words, ids, starts, labels), *others = (read_labelled(part, text_column, label_column) for part in parts)
    training = len(labels) if others else None
    for more_words, more_ids, more_starts, more_labels in others:
        ids = np.append(ids, more_ids + np.int32(len(words)))
        starts = np.append(starts, more_starts[1:] + starts[-1])
        words, labels = words + more_words, labels + more_labels
    contents = [ids[start:stop].tobytes() for start, stop in pairwise(starts)]  # equal for equal words in equal order
    splits = splits_of(contents, labels, training)
    if min(len(test_rows) for _, test_rows in splits) == 0:
        raise CorpusError(f"{name} contains {len(set(contents))} distinct documents; at least {FOLDS} are required")
    names = document_numbers(len(labels)) if use_trained_vectors else None
    if name_column is not None:
        names = [tag for part in parts for tag in read_labelled(part, text_column, name_column)[-1]]
    protocol = TRAIN_TEST if others else CROSS_VALIDATED
    title = Path(parts[-1]).name.split(".")[0]
    return DocumentSet(title, words, ids, starts, labels, splits, protocol, tuple(parts), text_column, names)


def read_labelled(
    source: str, text_column: str, label_column: str
) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64], list[str]]:
    """The words, the ids and the offsets of the documents of a source, and their labels."""
    with Corpus(source, case="keep", text_column=text_column, tag_column=label_column).encode() as encoded:
        labels = encoded.single_tags.to_pylist()
        if None in labels:
            raise CorpusError(f"{source}: document {labels.index(None) + 1} has no {label_column}")
        starts = np.array(encoded.sentences[encoded.documents])
        return list(encoded.vocabulary.words), np.array(encoded.ids), starts, labels


PROTOCOL = (
    "logistic regression (L2 penalty, C = 1) on {source}, whitened over the training documents; the value is over all "
    "documents; ties go to the label that is first alphabetically; macro: the mean over labels; {split}; interval: "
    "Wilson's for accuracy, bootstrap over documents for macro-F1"
)
WORDS = (
    "; words by the tokenizer `words`, looked up as written, then in lower case; "
    "words without a vector are left out, and a document without any gets zeros"
)
MEANS = "the mean vector of a document's words" + WORDS
WEIGHTED_MEANS = f"the mean vector of a document's words, weighted by sif with the constant {DEFAULT_CONSTANT}" + WORDS
INFERRED = "the vectors that the model infers for documents, with seed 1 and as many epochs as in training"
TRAINED = "the trained document vectors with these names; a document without one gets zeros"
NOT_COVERED = {
    **dict.fromkeys((MEANS, WEIGHTED_MEANS), "no word of the documents has a vector"),
    INFERRED: "the model knows no word of the documents",
    TRAINED: "no document has a vector of its name",
}


def score_documents(subject: Subject, test: DocumentSet) -> list[ItemScores]:
    """Accuracy per label and overall (section None), macro-F1, and word coverage.

    Accuracy and macro-F1 are reported with those of the most frequent label of the training documents.
    """
    source: Vectors | Model | ConcatenatedModels
    source = subject.source if isinstance(subject.source, ConcatenatedModels) else subject.word_source
    name = subject.name
    matrix, covered, kind = represent(source, test)
    labels, label = np.unique(test.labels, return_inverse=True)
    reason = None if covered.any() else NOT_COVERED[kind]
    predictions = cross_predict(label, test.splits, None if reason else partial(predict_rows, matrix, covered, label))
    guess, common = predictions.guess, predictions.most_frequent
    is_tested = common != NO_LABEL
    shared: dict[str, Any] = {
        "vectors": name, "protocol": PROTOCOL.format(source=kind, split=test.protocol), "reason": reason,
        "note": predictions.note,
    }  # fmt: skip
    whole = BinaryScores(
        key=Key(test.name, "accuracy"),
        correct=guess == label,
        covered=covered,
        members=is_tested,
        over_all=True,
        **shared,
    )
    actual, predicted = (side[is_tested][:, None] == np.arange(len(labels)) for side in (label, guess))
    macro = F1Scores(
        key=Key(test.name, "macro-f1"), covered=covered[is_tested], actual=actual, predicted=predicted,
        test=TEXTS, **shared,
    )  # fmt: skip
    *by_label, accuracy = whole.by_class(labels, label)
    majority = majority_scores(name, test.name, label[is_tested], common[is_tested])
    scores = [*by_label, *majority, macro, accuracy]
    if kind is TRAINED or isinstance(source, ConcatenatedModels):
        return scores
    _, counts, _ = mean_vectors(source, test)
    known, words = int(counts[is_tested].sum()), int(np.diff(test.starts)[is_tested].sum())
    return [*scores, word_coverage(name, test.name, known, words)]


def represent(
    source: Vectors | Model | ConcatenatedModels, test: DocumentSet
) -> tuple[np.ndarray, NDArray[np.bool_], str]:
    """The vectors of the documents (documents, dim), which of them are covered, and a description of the vectors."""
    if test.names is not None:
        document_vectors = source if isinstance(source, Vectors) else source.documents
        document_vectors.check_finite()
        rows = [document_vectors.index(name) if name in document_vectors else -1 for name in test.names]
        matrix = np.append(document_vectors.matrix, np.zeros((1, document_vectors.dim), np.float32), axis=0)[rows]
        return matrix, np.asarray(matrix.any(axis=1)), TRAINED
    if isinstance(source, ConcatenatedModels) or (isinstance(source, Model) and DOCUMENTS in source.tables):
        models = source if isinstance(source, ConcatenatedModels) else concatenate(source)
        texts = [models.corpus(path, text_column=test.text_column) for path in test.sources]
        matrix = np.concatenate([models.infer(text) for text in texts])
        if len(matrix) != len(test.labels):
            raise SettingError(
                f"{', '.join(test.sources)}: {len(test.labels)} labelled documents, but {len(matrix)} "
                "documents for the models, which were trained with documents='lines'"
            )
        return matrix, np.asarray(matrix.any(axis=1)), INFERRED
    matrix, counts, kind = mean_vectors(source, test)
    return matrix, counts > 0, kind


def mean_vectors(source: Vectors | Model, test: DocumentSet) -> tuple[np.ndarray, NDArray[np.int64], str]:
    """The mean vector of each document's known words (documents, dim) float32, weighted by sif if `embed` does so.

    Also the number of known words (documents,), and a description of the vectors.
    """
    matrix, has_vector = look_up(source if isinstance(source, Vectors) else source.vectors, test.words)
    frequencies = word_frequencies(source) if default_pool(source) == "sif" else None
    weights = has_vector
    if frequencies is not None:
        weights = has_vector * word_weights(test.words, frequencies, "sif", DEFAULT_CONSTANT)
    texts = RowTexts(test.ids.astype(np.int64), test.starts)
    sums, counts = sum_rows([matrix], texts, [weights]), sum_weights(texts, has_vector)
    means = np.asarray(sums / np.maximum(counts, 1)[:, None], dtype=np.float32)
    return means, counts.astype(np.int64), MEANS if frequencies is None else WEIGHTED_MEANS


@dataclass(frozen=True, kw_only=True)
class DocumentSettings(TextTable):
    """Which vectors documents have; see `embeddings.evaluate`."""

    use_trained_vectors: bool = False
    name_column: str | None = None


KIND = Kind(
    name="documents",
    metavar="FILE|TRAIN,TEST...",
    read=lambda test, settings: read_documents(
        test, settings.text_column, settings.label_column, settings.name_column,
        use_trained_vectors=settings.use_trained_vectors,
    ),
    score=score_documents,
    settings=DocumentSettings,
    options={"text_column": "NAME", "label_column": "NAME", "use_trained_vectors": None, "name_column": "NAME"},
    of_words=False,
)  # fmt: skip
