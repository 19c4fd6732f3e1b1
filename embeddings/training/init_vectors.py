"""Pretrained word vectors, taken from another model or file.

A word of the vocabulary starts from the vector of the word with the same spelling. If the corpus is lower-cased and the
given words are not, several of them may match one word: `duplicates` decides between them. Words without a match start
at random as usual.

Initialised rows are trained, or frozen: their updates are redirected to a row that is never read
(`embeddings.kernels.step_buffers.mask_frozen`), so everything else learns as if they were constants.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Literal

import numpy as np

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import S, SettingError
from embeddings.models.loading import load
from embeddings.models.model import Model
from embeddings.models.table import Arrays, is_finite
from embeddings.settings import check_value
from embeddings.training.plan import Plan
from embeddings.training.stream import CorpusShare
from embeddings.training.trainer_declaration import TrainerDeclaration
from embeddings.vectors.vectors import Vectors

Duplicates = Literal["most-frequent", "average", "exact"]


@dataclass(frozen=True)
class InitFrom:
    """Vectors to start training from.

    Arguments:
        vectors: vectors, a model, or the path of either in any format that can be read.
        duplicates: the vector of a word that several pretrained words match in lower case: that of the most frequent
            or, without counts, of the first, or the average. "exact" matches only identical spellings.
        freeze: do not update the pretrained vectors.

    Raises:
        SettingError: `duplicates` is not an allowed value.
    """

    vectors: "Vectors | Model | str | os.PathLike[str]"
    duplicates: Duplicates = "most-frequent"
    freeze: bool = False

    def __post_init__(self) -> None:
        check_value("duplicates", self.duplicates, Duplicates, {})

    @cached_property
    def source_vectors(self) -> Vectors:
        """The vectors, read from their path if one is given."""
        if isinstance(self.vectors, Vectors):
            return self.vectors
        return self.vectors.vectors if isinstance(self.vectors, Model) else load(self.vectors)

    def config(self) -> dict[str, Any]:
        """The values that a run's fingerprint holds for the pretrained vectors."""
        return {"vectors": self.source_vectors.fingerprint, "duplicates": self.duplicates, "freeze": self.freeze}

    def check(self, trainer: TrainerDeclaration) -> None:
        """Refuse pretrained vectors that a trainer cannot start from."""
        name, dim, own = trainer.trainer_name, asdict(trainer).get("dim"), self.source_vectors.dim
        if not trainer.can_init or (self.freeze and not trainer.can_freeze):
            verb = "freeze word vectors" if trainer.can_init else "start from pretrained vectors"
            raise SettingError(f"{name} cannot {verb} with these settings")
        if own != dim:
            raise SettingError(f"{S.dim} must be {own}, as in the vectors to start from, got {dim}")

    def match(self, vocabulary: Vocabulary, encoded: EncodedCorpus | CorpusShare) -> tuple[np.ndarray, np.ndarray]:
        """The rows of words with a vector to start from, int64 (n,), and the vectors, float32 (n, dim)."""
        words = vocabulary.words
        form = WordForm(encoded.meta["settings"])
        rows, matrix = match_rows(self.source_vectors, words, self.duplicates, form)
        if not len(rows):
            raise SettingError(f"none of the {len(words)} words of the corpus has a vector to start from")
        if not is_finite(matrix):
            word = words[rows[int(np.isfinite(matrix).all(axis=1).argmin())]]
            raise SettingError(f"the initial vector of {word!r} contains NaN or infinity")
        return rows, matrix

    def apply(
        self, vocabulary: Vocabulary, encoded: EncodedCorpus | CorpusShare, plan: Plan, tables: Arrays
    ) -> np.ndarray:
        """Set the rows of words, as the plan does it; returns a mask of the words with a vector, bool (rows,)."""
        rows, matrix = self.match(vocabulary, encoded)
        table = tables[plan.word_table]
        if plan.set_vectors is not None:
            plan.set_vectors(tables, rows, matrix)
        else:
            table[rows, : matrix.shape[1]] = matrix
        return np.isin(np.arange(len(table)), rows)

    def frozen_rows(self, vocabulary: Vocabulary, encoded: EncodedCorpus | CorpusShare) -> np.ndarray:
        """A mask of the words whose vectors are constant, bool (vocabulary,)."""
        return np.isin(np.arange(len(vocabulary)), self.match(vocabulary, encoded)[0] if self.freeze else [])


def match_rows(
    vectors: Vectors, words: Sequence[str], duplicates: str, form: Callable[[str], str]
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of words with a vector, int64 (n,), and their vectors, float32 (n, dim)."""
    row_of = {word: row for row, word in enumerate(words)}
    forms = vectors.words if duplicates == "exact" else map(form, vectors.words)
    matches = np.fromiter(map(row_of.get, forms, repeat(-1)), np.int64, len(vectors))
    sources = np.flatnonzero(matches >= 0)
    counts = np.zeros(len(vectors), np.int64) if vectors.counts is None else vectors.counts
    order = np.lexsort((sources, -counts[sources].astype(np.int64), matches[sources]))
    sources = sources[order]  # by row, then the most frequent one, then the first
    rows, begins, sizes = np.unique(matches[sources], return_index=True, return_counts=True)
    matrix = vectors.matrix[sources[begins]].astype(np.float32, copy=False)
    # In the order of the file, so that the sum is rounded in the same way whatever the counts are.
    for n in np.flatnonzero(sizes > 1) if duplicates == "average" else ():
        candidates = np.sort(sources[begins[n] : begins[n] + sizes[n]])
        matrix[n] = np.mean(vectors.matrix[candidates], axis=0, dtype=np.float64)
    return rows, matrix
