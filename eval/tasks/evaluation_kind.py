"""A kind of evaluation, such as word similarity: how its test sets are read and scored, and which settings it has."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

from embeddings.errors import SettingError
from embeddings.eval.statistics.results import ItemScores
from embeddings.eval.tasks.pooled_texts import TextVectors
from embeddings.eval.test_sets import ALL
from embeddings.eval.word_matching import CaseFolding
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.text_search.text_index import TextIndex

METHODS = ("3cosadd", "3cosmul", "pairdirection")  # of answering analogies
Evaluable = Union[Vectors, Model, ConcatenatedModels, "TextIndex"]
TestSets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How test sets are read and scored; see `embeddings.evaluate` for the settings."""

    compose: bool = False
    restrict: Sequence[int | None] = (None, 30000)
    method: Sequence[str] = METHODS[:1]
    window: int = 2
    text_column: str = "text"
    label_column: str = "label"
    use_trained_vectors: bool = False
    name_column: str | None = None
    left_column: str | None = None
    right_column: str | None = None
    rating_column: str | None = None
    ranking: Sequence[str] = ()
    stemming: str | None = None
    index: str | None = None
    target: Any = None
    encoding_errors: str = "strict"
    half: str = ALL
    pooling: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """Vectors or a model that are evaluated, called `name` in results."""

    source: Evaluable
    name: str
    settings: EvaluationSettings

    @property
    def word_source(self) -> Vectors | Model:
        """The vectors or the model, if it has word vectors.

        Raises:
            SettingError: it has none.
        """
        if isinstance(self.source, ConcatenatedModels):
            raise SettingError("concatenated models have document vectors only: evaluate them by documents")
        if not isinstance(self.source, Vectors | Model):
            raise SettingError(f"{self.name} is an index of texts, which is evaluated by retrieval only")
        return self.source

    @property
    def vectors(self) -> Vectors:
        """The word vectors."""
        return self.word_source if isinstance(self.word_source, Vectors) else self.word_source.vectors

    @cached_property
    def folding(self) -> CaseFolding:
        """The rows of words whatever their case."""
        return CaseFolding(self.vectors.words, self.vectors.word_form)

    @cached_property
    def texts(self) -> TextVectors:
        """The vectors of texts."""
        return TextVectors(self.word_source, self.settings.pooling)


def as_list(tests: TestSets) -> list[Any]:
    """One or several test sets as a list."""
    return [tests] if isinstance(tests, str | os.PathLike) else list(tests)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evaluation.

    Arguments:
        name: an argument of `embeddings.evaluate`, and an option of `embeddings evaluate`.
        read: a test set from its name or path.
        score: the scores of a subject on a set.
        settings: names of the settings that only some kinds use, of which this is one.
        has_halves: whether `select` of a set gives its half for development or for tests.
        of_words: whether the word vectors are evaluated, which concatenated models do not have.
        as_list: one or several sets as a list.
    """

    name: str
    read: Callable[[Any, EvaluationSettings], Any]
    score: Callable[[Subject, Any], Iterable[ItemScores]]
    settings: Sequence[str] = ()
    has_halves: bool = False
    of_words: bool = True
    as_list: Callable[[Any], list[Any]] = as_list

    def read_all(self, tests: Sequence[Any], settings: EvaluationSettings) -> list[Any]:
        """Several test sets, or the items of each that are in the half of the settings."""
        sets = [self.read(test, settings) for test in tests]
        is_halved = self.has_halves and settings.half != ALL
        return [one.select(settings.half) for one in sets] if is_halved else sets
