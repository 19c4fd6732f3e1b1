"""Vectors that a run starts from: rows of the table of words that are given instead of drawn.

A word of the vocabulary gets the vector of the word of that spelling. Where the corpus is lower-cased and the given
words are not, several of them are one word here: the most frequent is taken, or the mean of all; or only words that are
spelled as they stand. Words without a given vector start at random, as they would have.

Given rows are trained on, or frozen: steps that would move them go to a row that is never read
(`embeddings.kernels.step_buffers.hold_still`), so that all else learns as if they were constants.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.settings import check_value
from embeddings.training.parameters import parameters
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model
    from embeddings.training.task import Task

WORDS = "words"  # the table that is started from
Duplicates = Literal["most-frequent", "average", "exact"]
ROWS = {  # what the rows of that table are, as a trainer's `word_rows` tells: whether they may be given, and frozen
    "vectors": (True, True),
    "outputs": (True, False),
    "parts": (True, False),
    "sums": (False, False),
}


@dataclass(frozen=True)
class InitFrom:
    """Vectors to start from.

    Arguments:
        vectors: vectors, a model, or the path of either in any format that is read.
        duplicates: of given words that are one when lower-cased, "most-frequent" takes that one (by counts, or else the
            first), "average" the mean of all; "exact" takes only words that are spelled as those of the corpus.
        freeze: leave the given rows as they are.

    Raises:
        SettingError: an argument is out of range.
    """

    vectors: "Vectors | Model | str | os.PathLike[str]"
    duplicates: Duplicates = "most-frequent"
    freeze: bool = False

    def __post_init__(self) -> None:
        from embeddings.models.model import Model

        given: Any = self.vectors
        if not isinstance(given, Vectors | Model | str | os.PathLike):
            shown = " ".join(repr(given).split())
            raise SettingError(f"init takes Vectors, a Model, or the path of either, not {shown:.80}")
        check_value("duplicates", self.duplicates, Duplicates, {})
        check_value("freeze", self.freeze, bool, {})

    @cached_property
    def given(self) -> Vectors:
        """The vectors themselves.

        Raises:
            FormatError: they cannot be read.
        """
        from embeddings.models.loading import load

        if isinstance(self.vectors, Vectors):
            return self.vectors
        return load(self.vectors) if isinstance(self.vectors, str | os.PathLike) else self.vectors.vectors

    @property
    def config(self) -> dict[str, Any]:
        """What tells it from others."""
        return {"vectors": self.given.fingerprint, "duplicates": self.duplicates, "freeze": self.freeze}

    def check(self, trainer: str, settings: Any) -> None:
        """Refuse vectors that a trainer cannot start from.

        Raises:
            SettingError: saying why.
            FormatError: they cannot be read.
        """
        starts, freezes = ROWS[getattr(settings, "word_rows", "vectors")]
        if not starts:
            raise SettingError(f"{trainer} cannot start from vectors: its own are sums of rows of their parts")
        if self.freeze and not freezes:
            raise SettingError(f"{trainer} has no rows of words that could be frozen: they are not their vectors alone")
        if self.given.dim != settings.dim:
            raise SettingError(f"the vectors to start from have {self.given.dim} components: dim must be that too")

    def put(self, task: "Task", tables: Any) -> np.ndarray:
        """Write given vectors into the table of words; gives which rows they are, bool (rows,).

        Raises:
            SettingError: no word has one, or one holds NaN or infinity.
        """
        words, table = task.vocabulary.words, parameters(tables)[WORDS]
        keeps = task.encoded.meta["settings"].get("case") == "keep"
        places, rows = matched(self.given, words, self.duplicates, same if keeps else lower_case())
        if not len(places):
            raise SettingError(f"none of the {len(words)} words of the corpus has a vector to start from")
        good = np.isfinite(rows).all(axis=1)
        if not good.all():
            raise SettingError(f"the vector to start {words[places[int(good.argmin())]]!r} from holds NaN or infinity")
        table[places, : self.given.dim] = rows
        given = np.zeros(len(table), np.bool_)
        given[places] = True
        return given


def same(word: str) -> str:
    """The word as it stands."""
    return word


def lower_case() -> Callable[[str], str]:
    """What lower-cases a word as corpora do."""
    from embeddings.corpora.tokenizers import lower_case

    return lower_case


def matched(
    vectors: Vectors, words: Sequence[str], duplicates: str, normal: Callable[[str], str]
) -> tuple[np.ndarray, np.ndarray]:
    """The places of words that have a vector, int64 (n,), and these, float32 (n, dim)."""
    if duplicates == "exact":
        normal = same
    wanted = {word: place for place, word in enumerate(words)}
    found: dict[int, list[int]] = {}
    for row, word in enumerate(vectors.words):
        place = wanted.get(normal(word))
        if place is not None:
            found.setdefault(place, []).append(row)
    places = np.array(list(found), np.int64)
    matrix = np.empty((len(found), vectors.dim), np.float32)
    for goal, rows in zip(matrix, found.values(), strict=True):
        if duplicates == "average":
            goal[:] = np.mean(vectors.matrix[rows], axis=0, dtype=np.float64)
        else:
            goal[:] = vectors.matrix[rows[0] if vectors.counts is None else rows[int(vectors.counts[rows].argmax())]]
    return places, matrix
