"""Trainings on two groups of documents, as they are and divided at random."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus_cache.tempdir import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import MIN_UNITS, write_selection
from embeddings.errors import CorpusError, SettingError
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import prepare
from embeddings.vectors.align import align
from embeddings.vectors.vectors import Vectors

Progress = Callable[[int, int], object]  # takes the number of finished trainings, and of all


@dataclass(frozen=True)
class DocumentGroups:
    """Two groups of the documents of a corpus.

    groups: (documents,) 0 for the first group, 1 for the second, -1 for documents to leave out.

    Raises:
        SettingError: the groups are not of this form.
        CorpusError: a group has too few documents.
    """

    encoded: EncodedCorpus
    groups: NDArray[np.int64]

    def __post_init__(self) -> None:
        groups, documents = self.groups, len(self.encoded.documents) - 1
        if groups.shape != (documents,) or not np.isin(groups, (-1, 0, 1)).all():
            message = f"groups must be 0, 1 or -1 for each of {documents:,} documents, got shape {groups.shape}"
            raise SettingError(message)
        for group in (0, 1):
            count = int(np.sum(groups == group))
            if count < MIN_UNITS:
                message = f"group {group + 1} has too few documents: {count}, at least {MIN_UNITS} are required"
                raise CorpusError(f"{message}; blank lines separate the documents of a text file")

    @property
    def sizes(self) -> tuple[int, int]:
        """How many documents are in each group."""
        return int(np.sum(self.groups == 0)), int(np.sum(self.groups == 1))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The occurrences of each word of the corpus in each group, (2, types)."""
        return np.stack([word_counts(self.encoded, np.flatnonzero(self.groups == group)) for group in (0, 1)])

    def divisions(self, permutations: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The documents of both groups: as they are, then divided at random into groups with as many words.

        Vectors of fewer words vary more, so that groups with as many documents would not do where those of one group
        are longer.
        """
        yield np.flatnonzero(self.groups == 0), np.flatnonzero(self.groups == 1)
        members = np.flatnonzero(self.groups >= 0)
        borders = np.asarray(self.encoded.sentences)[np.asarray(self.encoded.documents)]
        sizes, random = np.diff(borders)[members], np.random.default_rng(seed)
        first_size = int(sizes[self.groups[members] == 0].sum())
        for _ in range(permutations):
            order = random.permutation(len(members))
            end = int(np.searchsorted(np.cumsum(sizes[order]), first_size, side="right"))
            end = min(max(end, 1), len(members) - 1)
            yield np.sort(members[order[:end]]), np.sort(members[order[end:]])


@dataclass(frozen=True)
class GroupTrainer:
    """How vectors are trained on a group of documents."""

    trainer: Trainer
    threads: int
    seed: int

    def train(self, encoded: EncodedCorpus, documents: NDArray[np.int64]) -> Vectors:
        """Vectors of length 1 that are trained on some documents."""
        with new_folder(corpora_folder()) as folder:
            part = write_selection(encoded, np.asarray(encoded.documents), documents, folder)
        with part:
            data = prepare(self.trainer, part, threads=self.threads, seed=self.seed)
            return self.trainer.learn(data).vectors.normalize()


@dataclass(frozen=True)
class DivisionChanges:
    """How far words change between two groups, and between random groups of the same sizes.

    pair: the vectors of the two groups. rows: (words,) those of the words that were compared. changes: (1 +
    permutations, words) 1 - cosine of each word's two aligned vectors, first between the two groups.
    """

    pair: list[Vectors]
    rows: NDArray[np.int64]
    changes: NDArray[np.float64]


def measure_changes(
    groups: DocumentGroups, trainer: GroupTrainer, permutations: int, occurrences: int, report: Progress | None
) -> DivisionChanges:
    """Train on the groups and on random divisions.

    Raises:
        CorpusError: too few words occur often enough in both groups.
    """
    pair: list[Vectors] = []
    changes: list[NDArray[np.float64]] = []
    for number, division in enumerate(groups.divisions(permutations, trainer.seed)):
        vectors = [trainer.train(groups.encoded, documents) for documents in division]
        pair = pair or vectors
        rows = compared_rows(pair[0], groups.counts, occurrences)
        changes.append(distances(vectors, rows))
        if report is not None:
            report(number + 1, permutations + 1)
    return DivisionChanges(pair, rows, np.stack(changes))


def word_counts(encoded: EncodedCorpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The occurrences of each word of the corpus in some documents."""
    borders = np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
    inside = np.zeros(len(borders) - 1, bool)
    inside[documents] = True
    tokens = np.repeat(inside, np.diff(borders))
    size = len(encoded.vocabulary)
    return np.bincount(encoded.ids[tokens], minlength=size)[:size]


def compared_rows(vectors: Vectors, counts: NDArray[np.int64], occurrences: int) -> NDArray[np.int64]:
    """The rows of the words that are frequent enough in both groups; the vocabulary is sorted as the counts are."""
    rows = np.flatnonzero(counts[:, : len(vectors)].min(axis=0) >= occurrences)
    if len(rows) < vectors.dim:
        raise CorpusError(
            f"{len(rows)} words occur {occurrences} times in both groups, too few to compare {vectors.dim} dimensions: "
            "lower occurrences or dim, or compare larger groups"
        )
    return rows


def distances(pair: list[Vectors], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - cosine of each word's two vectors, after the first space is rotated onto the second, (rows,)."""
    first, second = (Vectors([str(row) for row in rows], centred(one.matrix[rows])).normalize() for one in pair)
    aligned = align(first, onto=second).vectors.matrix
    return np.asarray(1 - np.einsum("ij,ij->i", aligned, second.matrix, dtype=np.float64))


def centred(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows less their mean, the direction that all words share, which would hide differences."""
    return np.asarray(matrix - matrix.mean(axis=0))
