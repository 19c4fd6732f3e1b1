"""Pretrained word vectors, taken from another model or file.

A word of the vocabulary starts from the vector of the word with the same spelling. If the corpus is lower-cased and the
given words are not, several of them may match one word: `duplicates` decides between them. Words without a match start
at random as usual.

Initialised rows are trained, or frozen: their updates are redirected to a row that is never read
(`embeddings.kernels.step_buffers.mask_frozen`), so everything else learns as if they were constants.

Some trainers also use vectors as constant parts of those of the model, or through a learned projection; see
`embeddings.training.pretrained_words`.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, get_args

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
InitMode = Literal["initial", "concatenate", "project"]
INIT_MODES: tuple[str, ...] = get_args(InitMode)


@dataclass(frozen=True)
class InitFrom:
    """Vectors to start training from.

    Arguments:
        vectors: vectors, a model, or the path of either in any format that can be read.
        duplicates: the vector of a word that several pretrained words match in lower case: that of the most frequent
            or, without counts, of the first, or the average. "exact" matches only identical spellings.
        freeze: do not update the pretrained vectors.
        mode: how pretrained vectors are used. initial: training starts from them; concatenate: they are the first
            components of the vectors, zeros for other words, and only the remaining components are trained; project:
            vectors are their products with a trained matrix, and other words are trained as usual. In Python,
            skipgram and cbow support all modes.

    Raises:
        SettingError: an argument is of the wrong type or not an allowed value.
    """

    vectors: "Vectors | Model | str | os.PathLike[str]"
    duplicates: Duplicates = "most-frequent"
    freeze: bool = False
    mode: InitMode = "initial"

    def __post_init__(self) -> None:
        check_value("duplicates", self.duplicates, Duplicates, {})
        check_value("mode", self.mode, InitMode, {})
        if self.freeze and self.mode != "initial":
            raise SettingError(
                f"{S.freeze} cannot be combined with {S.mode(self.mode)}, which never changes given vectors"
            )

    @cached_property
    def source_vectors(self) -> Vectors:
        """The vectors, read from their path if one is given."""
        if isinstance(self.vectors, Vectors):
            return self.vectors
        return self.vectors.vectors if isinstance(self.vectors, Model) else load(self.vectors)

    def config(self) -> dict[str, Any]:
        """The values that a run's fingerprint holds for the pretrained vectors."""
        choices = {"duplicates": self.duplicates, "freeze": self.freeze, "mode": self.mode}
        return {"vectors": self.source_vectors.fingerprint, **choices}

    def check(self, trainer: TrainerDeclaration) -> None:
        """Refuse pretrained vectors or modes that a trainer cannot start from."""
        name, dim, own = trainer.trainer_name, asdict(trainer).get("dim"), self.source_vectors.dim
        has_mode = self.mode in ("initial", *trainer.init_modes)
        if not (trainer.can_init and has_mode and (trainer.can_freeze or not (self.freeze or self.mode != "initial"))):
            verb = "freeze word vectors" if self.freeze and trainer.can_init else "start from pretrained vectors"
            use = "" if self.mode == "initial" else f" and {S.mode(self.mode)}: use skipgram or cbow without tie"
            raise SettingError(f"{name} cannot {verb} with these settings{use}")
        if self.mode == "initial" and own != dim:
            raise SettingError(f"{S.dim} must be {own}, as in the vectors to start from, got {dim}")
        if self.mode == "concatenate" and (dim or 0) <= own:
            raise SettingError(
                f"{S.dim} must be greater than {own}, the dimension of the pretrained vectors that "
                f"{S.mode('concatenate')} extends by trained components, got {dim}"
            )

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
        if self.mode == "initial" and plan.set_vectors is not None:
            plan.set_vectors(tables, rows, matrix)
        elif self.mode == "initial":
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
    for n in np.flatnonzero(sizes > 1) if duplicates == "average" else ():
        candidates = np.sort(sources[begins[n] : begins[n] + sizes[n]])
        matrix[n] = np.mean(vectors.matrix[candidates], axis=0, dtype=np.float64)
    return rows, matrix
