"""A kind of evaluation: how its sets are read and scored, its settings, and the words and texts that it scores."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.encodings import DecodingPolicy
from embeddings.errors import SettingError
from embeddings.eval.statistics.results import ItemScores, Key, Measurement
from embeddings.eval.test_sets import ALL, Half
from embeddings.eval.word_matching import CaseFolding
from embeddings.models.model import Model
from embeddings.settings import Positive, Range, check_value
from embeddings.vectors.pooling import Frequencies, Pool
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor
    from embeddings.text_search.text_index import TextIndex

AnalogyMethod = Literal["3cosadd", "3cosmul"]
METHODS = get_args(AnalogyMethod)
POOLING = ("pool", "constant", "frequencies", "remove_components", "fit_on", "dim")  # arguments of `embeddings.embed`
Evaluable = Union[Vectors, Model, "TextIndex", "LabelPredictor"]
TestSets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def several(default: Any, kind: Any, words: Mapping[Any, Any] = MappingProxyType({})) -> Any:
    """A setting of one or several values of a type, each once; digits are numbers, and `words` map to other values."""
    return field(default=default, metadata={"kind": kind, "words": words})


def read_several(setting: Field[Any], value: Any) -> list[Any]:
    """The list of one or several values, which are checked."""
    kind, words = setting.metadata["kind"], setting.metadata["words"]
    chosen = []
    for one in value if isinstance(value, Iterable) and not isinstance(value, str) else [value]:
        number = int(one) if isinstance(one, str) and one.isdecimal() else one
        chosen.append(words[one] if one in words else check_value(setting.name, number, kind, {}))
    return list(dict.fromkeys(chosen)) or [*cast(Sequence[Any], setting.default)]


@dataclass(frozen=True, kw_only=True)
class KindSettings:
    """The settings of a kind of evaluation, arguments of `embeddings.evaluate`; types and ranges are checked."""

    def __post_init__(self) -> None:
        types = get_type_hints(type(self), include_extras=True)  # with the ranges of numbers
        for one in fields(self):
            value = getattr(self, one.name)
            if "kind" in one.metadata:
                object.__setattr__(self, one.name, read_several(one, value))
            elif types[one.name] is not Any:
                object.__setattr__(self, one.name, check_value(one.name, value, types[one.name], {}))


@dataclass(frozen=True, kw_only=True)
class Halved(KindSettings):
    """Settings of kinds whose items are divided into halves for development and for tests."""

    half: Half = ALL


@dataclass(frozen=True, kw_only=True)
class TextTable(KindSettings):
    """The columns of a labelled table."""

    text_column: str = "text"
    label_column: str = "label"


@dataclass(frozen=True, kw_only=True)
class PooledTexts(KindSettings):
    """How files of texts are decoded, and how vectors of texts are pooled: see `embeddings.embed`."""

    pool: Pool | None = None
    constant: Annotated[float, Range(ge=1e-9)] | None = None
    frequencies: Frequencies | None = None
    remove_components: Annotated[int, Range(ge=0)] | None = None
    fit_on: Any = None
    dim: Positive | None = None
    encoding_errors: DecodingPolicy = "strict"

    @property
    def pooling(self) -> dict[str, Any]:
        """The arguments of `embeddings.embed` that are given."""
        values = {name: getattr(self, name) for name in POOLING}
        return {name: value for name, value in values.items() if value is not None}


COVERAGE = "word coverage"


@dataclass(frozen=True)
class EmbeddedTexts:
    """Vectors of texts (texts, dim) float32; a text that is not `covered` (texts,) has no known word and zeros."""

    matrix: np.ndarray
    covered: NDArray[np.bool_]
    known_words: int
    words: int
    forms: str = ""  # see `word_coverage`

    def coverage(self, vectors: str, test: str) -> Measurement:
        """The share of word occurrences that have a vector."""
        return word_coverage(vectors, test, self.known_words, self.words, self.forms)


def word_coverage(vectors: str, test: str, known: int, words: int, forms: str = "") -> Measurement:
    """The share of word occurrences that have a vector.

    forms: the number of words found in each form other than as they are written; see `TextCounts.describe_forms`.
    """
    return Measurement(
        vectors=vectors, key=Key(test, COVERAGE), value=known / words if words else None, covered=known, total=words,
        protocol="word occurrences with a vector over all", reason=None if words else "the texts have no words",
        note=f"words found in another form: {forms}" if forms else None,
    )  # fmt: skip


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

    def embed(self, texts: Sequence[str]) -> EmbeddedTexts:
        """The vectors of the texts of a set; what has to be learned is learned from them."""
        from embeddings.models.embed import text_batches_of, text_embedder

        options = {name: value for name, value in self.pooling.items() if name != "fit_on"}
        embedder = text_embedder(self.source, **options)
        if self.pooling.get("fit_on") is not None:
            embedder.fit_first(text_batches_of(Path(self.pooling["fit_on"]), None))
        parts = [rows for _, rows in embedder.embed(text_batches_of(texts, None))]
        matrix, counts = np.concatenate([np.zeros((0, embedder.output_dim), np.float32), *parts]), embedder.counts
        known, covered = counts.words - counts.unknown_words, np.asarray(matrix.any(axis=1))
        return EmbeddedTexts(matrix, covered, known, counts.words, counts.describe_forms())


@dataclass(frozen=True)
class Subject:
    """Vectors, a model or a classifier that is evaluated, called `name` in results, by the settings of a kind."""

    source: Evaluable
    name: str
    settings: Any = None
    cache: dict[str, Any] = field(default_factory=dict)  # what subjects with other settings share

    @property
    def word_source(self) -> Vectors | Model:
        """The vectors or the model, if it has word vectors.

        Raises:
            SettingError: it has none.
        """
        if not isinstance(self.source, Vectors | Model):
            problem = f"{self.name} is evaluated by retrieval only"
            raise SettingError(f"{problem}: an index of texts has no word vectors")
        return self.source

    @property
    def vectors(self) -> Vectors:
        """The word vectors."""
        return self.word_source if isinstance(self.word_source, Vectors) else self.word_source.vectors

    @property
    def folding(self) -> CaseFolding:
        """The rows of words whatever their case."""
        if "folding" not in self.cache:
            zeros = np.flatnonzero(~self.vectors.matrix.any(axis=1)).tolist()
            self.cache["folding"] = CaseFolding(self.vectors.words, self.vectors.word_form, zeros)
        folding: CaseFolding = self.cache["folding"]
        return folding

    @property
    def classifier(self) -> "LabelPredictor":
        """The classifier.

        Raises:
            SettingError: the model is not a classifier, or there are vectors only.
        """
        if isinstance(self.source, Model):
            return self.source.classifier
        if not hasattr(self.source, "rank") or not hasattr(self.source, "labels"):
            raise SettingError(f"{self.name} is not a classifier, whose labels can be evaluated")
        return cast("LabelPredictor", self.source)

    @property
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
        metavar: what the option takes, in capitals; ends with ... if it can be repeated.
        read: a test set from its name or path.
        score: the scores of a subject on a set.
        settings: the class of its settings.
        options: the settings that are options, each with its metavar, as in `embeddings.cli.options.from_signature`.
        of_words: whether the word vectors are evaluated, which an index of texts does not have.
        as_list: one or several sets as a list.
    """

    name: str
    metavar: str
    read: Callable[[Any, Any], Any]
    score: Callable[[Subject, Any], Iterable[ItemScores]]
    settings: type[KindSettings] = KindSettings
    options: Mapping[str, str | None] = field(default_factory=dict)
    of_words: bool = True
    as_list: Callable[[Any], list[Any]] = as_list

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each setting."""
        return {one.name: one.default for one in fields(self.settings)}


@dataclass(frozen=True)
class Task:
    """Test sets of a kind, and the settings by which they are scored."""

    kind: Kind
    sets: list[Any]
    settings: Any

    @classmethod
    def read(cls, kind: Kind, tests: Sequence[Any], settings: Mapping[str, Any]) -> "Task":
        """Read the sets, or the half of each, with those of the settings that the kind has."""
        own = kind.settings(**{name: value for name, value in settings.items() if name in kind.defaults})
        sets = [kind.read(test, own) for test in tests]
        if isinstance(own, Halved) and own.half != ALL:
            sets = [one.select(own.half) for one in sets]
        return cls(kind, sets, own)
