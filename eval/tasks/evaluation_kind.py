"""A kind of evaluation: how its sets are read and scored, its settings, and the words and texts that it scores."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.record_rows import JsonNumber
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.statistics.results import ItemScores, Key, Measurement
from embeddings.eval.test_sets import ALL
from embeddings.eval.word_matching import CaseFolding
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.text_search.text_index import TextIndex

GIVEN = "given"  # candidates of left texts of pairs
METHODS = ("3cosadd", "3cosmul", "pairdirection")  # of answering analogies
POOLING = ("pool", "constant", "frequencies", "remove_components", "fit_on", "dim")  # arguments of `embeddings.embed`
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
    candidates: Sequence[int | str] = ()
    ranking: Sequence[str] = ()
    stemming: str | None = None
    index: str | None = None
    target: Any = None
    encoding_errors: str = "strict"
    half: str = ALL
    pooling: Mapping[str, Any] = field(default_factory=dict)


COVERAGE = "word coverage"


@dataclass(frozen=True)
class EmbeddedTexts:
    """Vectors of texts (texts, dim) float32; a text that is not `covered` (texts,) has no known word and zeros."""

    matrix: np.ndarray
    covered: NDArray[np.bool_]
    known_words: int
    words: int

    def coverage(self, vectors: str, test: str) -> Measurement:
        """The share of word occurrences that have a vector."""
        return word_coverage(vectors, test, self.known_words, self.words)


def word_coverage(vectors: str, test: str, known: int, words: int) -> Measurement:
    """The share of word occurrences that have a vector."""
    return Measurement(
        vectors=vectors, key=Key(test, COVERAGE), value=known / words if words else None, covered=known, total=words,
        protocol="word occurrences with a vector over all", reason=None if words else "the texts have no words",
    )  # fmt: skip


def check_text(cell: object, name: str) -> str:
    """The text in a cell of a table, empty for null; `name` says in messages which text it is."""
    if cell is not None and (not isinstance(cell, str) or isinstance(cell, JsonNumber)):
        raise CorpusError(f"{name} must be a string, got {cell!r:.40}")
    return cell or ""


class TextVectors:
    """Embeds the texts of test sets.

    Arguments:
        source: the vectors or the model.
        pooling: the arguments `POOLING` of `embeddings.embed`. Without `fit_on`, frequencies of texts and components
            are learned from the texts of each set.

    Raises:
        SettingError: an argument does not suit the source.
    """

    def __init__(self, source: Vectors | Model, pooling: Mapping[str, Any]) -> None:
        self.source = source
        self.pooling = dict(pooling)

    @property
    def description(self) -> str:
        """The settings, for protocols."""
        from embeddings.models.embed import default_pool

        settings = {"pool": default_pool(self.source), **self.pooling}
        return ", ".join(f"{name} {value}" for name, value in settings.items())

    def embed_pairs(self, left: Sequence[str], right: Sequence[str]) -> EmbeddedTexts:
        """Vectors of left, then of right texts; what has to be learned is learned from both, or from each side."""
        from embeddings.models.embed import both_sides

        sides = both_sides(self.source)
        if sides[0] is sides[1]:
            return self.embed([*left, *right])
        a, b = (TextVectors(side, self.pooling).embed(texts) for side, texts in zip(sides, (left, right), strict=True))
        parts = np.concatenate([a.matrix, b.matrix]), np.concatenate([a.covered, b.covered])
        return EmbeddedTexts(*parts, a.known_words + b.known_words, a.words + b.words)

    def embed(self, texts: Sequence[str]) -> EmbeddedTexts:
        """The vectors of the texts of a set; what has to be learned is learned from them."""
        from embeddings.models.embed import text_batches_of, text_embedder

        options = {name: value for name, value in self.pooling.items() if name != "fit_on"}
        embedder = text_embedder(self.source, **options)
        if self.pooling.get("fit_on") is not None:
            embedder.fit_first(text_batches_of(Path(self.pooling["fit_on"]), None))
        parts = [rows for _, rows in embedder.embed(text_batches_of(texts, None))]
        matrix, counts = np.concatenate([np.zeros((0, embedder.output_dim), np.float32), *parts]), embedder.counts
        return EmbeddedTexts(matrix, np.asarray(matrix.any(axis=1)), counts.words - counts.unknown_words, counts.words)


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
