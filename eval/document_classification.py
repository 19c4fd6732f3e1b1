"""How well a document's vector tells its label: the mean of its words', what a model infers, or what it learned."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import Corpus, EncodedCorpus
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.cross_validation import FOLDS, folds
from embeddings.eval.item_scores import Counted, Outcome, Shares
from embeddings.eval.results import Key
from embeddings.eval.window_classifier import STOPPED, Windows, learn, whitened
from embeddings.eval.word_matching import look_up
from embeddings.models.document_vectors import TABLE, Concatenated, concatenate, numbered
from embeddings.models.model import Model
from embeddings.vectors.pooling import Bags
from embeddings.vectors.vectors import Vectors

PROTOCOL = (
    "logistic regression (L2 penalty, C = 1) on {what}, whitened over the documents learned from; the value is over "
    "all documents; of labels that tie the first by name; {split}; interval: Wilson's"
)
MEANS = (
    "the mean of the vectors of a document's words; words by the tokenizer `words`, looked up as they stand, then in "
    "lower case; words without a vector are left out, and a document with none is zeros"
)
INFERRED = "the vectors that the model infers for documents, with the seed 1 and as many epochs as it was trained"
TRAINED = "the vectors of documents of these names that were learned before; a document without one is zeros"
NONE = {
    MEANS: "no word of the documents has a vector",
    INFERRED: "no word of the documents is known to the model",
    TRAINED: "no document has a vector of its name",
}
Represented = Vectors | Model | Concatenated
SPLIT = "learned from one file and judged by another"
CROSS = (
    "one file: each fifth of it, drawn once with every label in proportion, is judged by what is learned from the "
    "others; documents of the same words are in the same fifth"
)


@dataclass(frozen=True)
class Labelled(Bags):
    """Documents with their labels."""

    labels: list[str]

    def same(self) -> list[bytes]:
        """Something for each document that is equal for equal words in equal order."""
        return [self.ids[start:stop].tobytes() for start, stop in pairwise(self.starts)]

    def means(self, vectors: Vectors) -> tuple[np.ndarray, NDArray[np.int64]]:
        """The mean vector (documents, dim) float32 of the words that have one, and how many do (documents,)."""
        matrix, known = look_up(vectors, self.words)
        sums, counts = self.sums(matrix, known), self.totals(known)
        return np.asarray(sums / np.maximum(counts, 1)[:, None], dtype=np.float32), counts.astype(np.int64)


@dataclass(frozen=True)
class DocumentSet:
    """Documents, and for each of several rounds which are learned from; the rest of the round's are judged.

    They are the column `text` of `sources`, one after another. `names` (documents,) are those that vectors of documents
    have in what is judged; None where vectors are inferred, or means of those of words.
    """

    name: str
    documents: Labelled
    rounds: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    split: str
    sources: tuple[str, ...]
    text: str
    names: Sequence[str] | None = None

    def represented(self, source: Represented) -> tuple[np.ndarray, NDArray[np.bool_], str]:
        """The vectors of the documents (documents, dim), which of them are known, and a word on what they are.

        Raises:
            SettingError, RegistryError, FormatError: as `Model.infer` and `Model.documents`.
        """
        if self.names is not None:
            trained = source if isinstance(source, Vectors) else source.documents
            trained.check_finite()
            places = [trained.index(name) if name in trained else -1 for name in self.names]
            rows = np.append(trained.matrix, np.zeros((1, trained.dim), np.float32), axis=0)[places]
            return rows, np.asarray(rows.any(axis=1)), TRAINED
        if isinstance(source, Concatenated) or (isinstance(source, Model) and TABLE in source.tables):
            rows = self.inferred(source if isinstance(source, Concatenated) else concatenate(source))
            return rows, np.asarray(rows.any(axis=1)), INFERRED
        rows, counts = self.documents.means(source if isinstance(source, Vectors) else source.vectors)
        return rows, counts > 0, MEANS

    def inferred(self, models: Concatenated) -> np.ndarray:
        """The vectors that models infer for the documents, (documents, sum of dims).

        Raises:
            SettingError: to the models a line is a document, and documents here have several.
            SettingError, RegistryError, FormatError: as `Model.infer`.
        """
        texts = [models.corpus(source, text_column=self.text) for source in self.sources]
        found = np.concatenate([models.infer(text) for text in texts])
        if len(found) != len(self.documents.labels):
            told = f"{len(self.documents.labels)} documents are labelled, {len(found)} to the models"
            raise SettingError(f"{', '.join(self.sources)}: {told}, to which each line is one (documents lines)")
        return found


def read_documents(
    name: str | os.PathLike[str],
    text_column: str,
    label_column: str,
    *,
    trained: bool = False,
    name_column: str | None = None,
) -> DocumentSet:
    """Labelled documents: "TRAIN,TEST", or one file, of which a fifth after another is judged.

    Each is a table as `Corpus` reads it, or a folder or pattern of such. With `trained` their vectors are those that
    were learned for documents of the same names: of a column, or numbers from 0 on, TRAIN's before TEST's.

    Raises:
        CorpusError: it cannot be read, lacks a column, a document has no label, or there are too few.
    """
    parts = [part for part in str(name).split(",") if part]
    if Path(name).exists() or len(parts) == 1:
        parts = [str(name)]
        documents = read_labelled(str(name), text_column, label_column)
        fold = folds(documents.same(), np.unique(documents.labels, return_inverse=True)[1])
        rounds = [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(FOLDS)]
        split = CROSS
    elif len(parts) == 2:
        train, test = (read_labelled(part, text_column, label_column) for part in parts)
        documents, count = joined(train, test), len(train.labels)
        rounds, split = [(np.arange(count), np.arange(count, len(documents.labels)))], SPLIT
    else:
        raise SettingError(f"documents are a file, or TRAIN,TEST, not {str(name)!r}")
    if min(len(judged) for _, judged in rounds) == 0:
        found = len(set(documents.same()))
        raise CorpusError(f"{name} holds {found} different documents, and {FOLDS} are needed")
    names = numbered(len(documents.labels)) if trained else None
    if name_column is not None:
        names = [tag for part in parts for tag in read_labelled(part, text_column, name_column).labels]
    title = Path(parts[-1]).name.split(".")[0]
    return DocumentSet(title, documents, rounds, split, tuple(parts), text_column, names)


def read_labelled(source: str, text_column: str, label_column: str) -> Labelled:
    """The documents of a source.

    Raises:
        CorpusError: as `read_documents`.
    """
    with Corpus(source, case="keep", text_column=text_column, tag_column=label_column).encode() as encoded:
        return of_corpus(encoded, source)


def of_corpus(encoded: EncodedCorpus, source: str) -> Labelled:
    """The same of an encoded corpus with tags."""
    labels = encoded.tags.to_pylist()
    if None in labels:
        raise CorpusError(f"{source}: document {labels.index(None) + 1} has no label")
    bags = Bags.of(encoded)
    return Labelled(bags.words, bags.ids, bags.starts, labels)


def joined(first: Labelled, second: Labelled) -> Labelled:
    """The documents of both."""
    ids = np.append(first.ids, second.ids + np.int32(len(first.words)))
    starts = np.append(first.starts, second.starts[1:] + first.starts[-1])
    return Labelled(first.words + second.words, ids, starts, first.labels + second.labels)


def classification(source: Represented, test: DocumentSet, *, name: str) -> list[Outcome]:
    """Which documents get the right label: by label, and all (section None); and how many words have vectors.

    Raises:
        SettingError, RegistryError, FormatError: as `DocumentSet.represented`.
    """
    vectors, known, what = test.represented(source)
    kinds, label = np.unique(test.documents.labels, return_inverse=True)
    right, judged, converged = np.zeros(len(label), dtype=bool), np.zeros(len(label), dtype=bool), True
    reason = None if known.any() else NONE[what]
    for learned, asked in test.rounds:
        judged[asked] = True
        if reason is None:
            found, ended = told(vectors, known, label, learned, asked)
            right[asked], converged = found == label[asked], converged and ended
    whole = Shares(
        vectors=name,
        key=Key(test.name, "accuracy"),
        right=right,
        seen=known,
        members=judged,
        every=True,
        protocol=PROTOCOL.format(what=what, split=test.split),
        reason=reason,
        note=None if converged else STOPPED,
    )
    parts = [whole.section(str(kind), label == place, detail=True) for place, kind in enumerate(kinds)]
    parts = [part for part in parts if part.members.any()]
    if what is TRAINED or isinstance(source, Concatenated):
        return [*parts, whole]
    _, counts = test.documents.means(source if isinstance(source, Vectors) else source.vectors)
    lengths = np.diff(test.documents.starts)
    words = Counted.share(name, Key(test.name, "words with vectors"), counts[judged].sum(), lengths[judged].sum())
    return [*parts, whole, words]


def told(
    means: np.ndarray, known: np.ndarray, label: NDArray[np.int64], learned: NDArray[np.int64], asked: NDArray[np.int64]
) -> tuple[NDArray[np.int64], bool]:
    """The labels that are found for the documents asked for, and whether the classifier converged."""
    weights = np.zeros(len(means))
    weights[learned] = known[learned]
    table = whitened(means, weights) * known[:, None].astype(np.float32)
    classifier = learn(Windows(table, learned[:, None]), label[learned], int(label.max()) + 1)
    return classifier.predict(Windows(table, asked[:, None])), classifier.converged
