"""Composition of phrase vectors by the functions of a fitted model, or by functions without parameters."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from embeddings.corpora.phrases.phrase import JOINER
from embeddings.corpora.phrases.pos_types import TAGS, TYPES
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import FormatError, S, SettingError
from embeddings.models.model import Model, saved_array
from embeddings.plugins.tensor_indexing.functions import FUNCTIONS, OWN, WITHOUT_PARAMETERS, Parameters, compose_rows
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from embeddings.vectors.search import Neighbours
from embeddings.vectors.vectors import Vectors

EXAMPLES = "phrases"
TYPE, FIRST, SECOND, PHRASE, PART = range(5)  # columns of the table `EXAMPLES`
PARAMETERS = {name: {"left", "right", "identity"} for name in ("full-additive", "tensor-indexing", "tensor-additive")}
PARAMETERS |= {"weighted-additive": {"weights"}}
DEFAULTS = ("tensor-additive", "tensor-indexing", "additive")  # the first that a type has
NO_EXAMPLES = np.empty((0, 5), np.int32)
POS_TAGS = "parts-of-speech"  # the table of `Examples.pos_tags`


def parse_name(name: str) -> tuple[str, str, str] | None:
    """The type, function and parameter of a table; None for another table."""
    parts = name.rsplit("/", 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and parts[1] in FUNCTIONS else None


def read_functions(tables: Mapping[str, np.ndarray], dim: int) -> dict[str, dict[str, Parameters]]:
    """The parameters by type and function; other tables are ignored."""
    by_type: dict[str, dict[str, Parameters]] = {}
    for name, table in tables.items():
        if key := parse_name(name):
            by_type.setdefault(key[0], {}).setdefault(key[1], {})[key[2]] = table
    shapes = {"weights": (2,), "identity": (2,)}
    for type, functions in by_type.items():
        for function, parameters in functions.items():
            matrices = (max(len(np.atleast_1d(parameters.get("left", ()))), 1), dim, dim)
            expected = shapes | {"left": matrices, "right": matrices}
            fits = all(array.shape == expected[name] and array.dtype.kind == "f" for name, array in parameters.items())
            if set(parameters) != PARAMETERS.get(function) or not fits:
                raise FormatError(f"the model is broken: its tables {type}/{function} do not fit {dim} components")
    return by_type


@dataclass(eq=False, repr=False)
class Composer:
    """Composes phrase vectors from the vectors of two words."""

    vectors: Vectors  # of words, and of phrases
    functions: Mapping[str, Mapping[str, Parameters]] = field(default_factory=dict)  # by type and function
    _: KW_ONLY
    types: Sequence[str] = ()  # names that examples refer to by index
    # (examples, 5): type, rows of first word, second word and phrase, part (see `phrase_pairs.split`)
    examples: np.ndarray = field(default_factory=lambda: NO_EXAMPLES)
    joiner: str = JOINER  # joins the words of a phrase in its token
    pos_tags: np.ndarray | None = None  # part of speech of each word (see `Examples.pos_tags`)

    @classmethod
    def of(cls, source: "Model | Vectors | str | os.PathLike[str]") -> "Composer":
        """The composer of a model or of vectors, or of their path; vectors have no fitted functions."""
        if isinstance(source, str | os.PathLike):
            from embeddings.models.loading import load_model_or_vectors

            source = load_model_or_vectors(source)
        if isinstance(source, Vectors):
            return cls(source)
        examples, types = source.tables.get(EXAMPLES, NO_EXAMPLES), source.record.get("types", [])
        if examples is not NO_EXAMPLES:
            words = len(source.vectors)
            has_types = isinstance(types, list) and all(isinstance(one, str) for one in types)
            saved_array(source, EXAMPLES, (None, PART + 1), "int32")
            limits = [len(types), words, words, words, 3] if has_types else []
            if not has_types or (len(examples) and (examples.min() < 0 or (examples.max(axis=0) >= limits).any())):
                raise FormatError(f"the model is broken: {EXAMPLES!r} refers to missing words, types or parts")
        functions = read_functions(source.tables, source.vectors.dim)
        joiner, tags = joiner_of(source.record), None
        if POS_TAGS in source.tables:
            tags = saved_array(source, POS_TAGS, (len(source.vectors),), "int8")
        return cls(source.vectors, functions, types=types, examples=examples, joiner=joiner, pos_tags=tags)

    @property
    def known_types(self) -> list[str]:
        """The types with fitted functions, and `ANY`."""
        return [*sorted(type for type in self.functions if type != ANY), ANY]

    def known_functions(self, type: str = ANY) -> list[str]:
        """The names of the functions of a type; the last is `OWN`, the trained vector of the phrase."""
        if type not in self.known_types:
            raise SettingError(f"{S.type} must be one of {', '.join(self.known_types)}, got {type!r}")
        return [*WITHOUT_PARAMETERS, *self.functions.get(type, {}), OWN]

    @cached_property
    def example_of(self) -> dict[tuple[int, int], int]:
        """The index of the first example of each pair of word rows."""
        pairs = self.examples[:, [FIRST, SECOND]].tolist()
        return {(first, second): index for index, (first, second) in reversed(list(enumerate(pairs)))}

    def example(self, first: str, second: str) -> np.ndarray | None:
        """The first example of two words, or None."""
        if first not in self.vectors or second not in self.vectors:
            return None
        index = self.example_of.get((self.vectors.index(first), self.vectors.index(second)))
        return None if index is None else np.asarray(self.examples[index])

    def type_of(self, first: str, second: str) -> str:
        """The type of a phrase: as listed, else from parts of speech; `ANY` if that type has no functions."""
        name, example = ANY, self.example(first, second)
        if example is not None:
            name = self.types[example[TYPE]]
        elif self.pos_tags is not None and first in self.vectors and second in self.vectors:
            codes = [self.pos_tags[self.vectors.index(word)] for word in (first, second)]
            name = next((name for name, tags in TYPES.items() if [TAGS.index(tag) for tag in tags] == codes), ANY)
        return name if name in self.functions else ANY

    def phrase_row(self, first: str, second: str) -> int:
        """The row of the phrase's own vector: of its example, else of the token of its words; -1 if it has none."""
        example = self.example(first, second)
        if example is not None:
            return int(example[PHRASE])
        token = self.joiner.join((first, second))
        return self.vectors.index(token) if token in self.vectors else -1

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of phrases, (texts, dim) float32; zeros for a text that is not two words with vectors.

        The words of a text are separated by a space, or if there is none by the joiner.
        """
        composition = np.zeros((len(texts), self.vectors.dim), np.float32)
        rows_by_type: defaultdict[str, list[list[int]]] = defaultdict(list)
        for number, text in enumerate(texts):
            words = text.split()
            if len(words) < 2:
                words = text.split(self.joiner)
            if len(words) == 2 and all(word in self.vectors for word in words):
                rows_by_type[self.type_of(*words)].append([number, *map(self.vectors.index, words)])
        for type, rows in rows_by_type.items():
            numbers, first, second = np.array(rows).T
            composition[numbers] = self.compose_rows(self.vectors.matrix[first], self.vectors.matrix[second], type=type)
        return composition

    def compose(self, first: str, second: str, *, type: str | None = None, function: str | None = None) -> np.ndarray:
        """The vector (dim,) float32 of a phrase.

        Arguments:
            first: the first word.
            second: the second word.
            type: the phrase type whose functions are used; by default the listed type of the phrase, else its
                type by parts of speech, else any.
            function: additive, multiplicative, own (the phrase's trained vector), or fitted: weighted-additive,
                full-additive, tensor-indexing, tensor-additive; by default tensor-additive, or additive if nothing is
                fitted.

        Raises:
            UnknownWordError: a word or, for "own", the phrase has no vector.
            SettingError: there is no such type or function.
        """
        type = self.type_of(first, second) if type is None else type
        if self.resolve_function(type, function) == OWN:
            row = self.phrase_row(first, second)
            if row < 0:
                raise UnknownWordError(f"no vector for the phrase '{first} {second}' itself")
            return np.array(self.vectors.matrix[row])
        words = self.vectors[[first, second]]
        return np.asarray(self.compose_rows(words[:1], words[1:], type=type, function=function)[0])

    def neighbours(
        self,
        first: str,
        second: str,
        *,
        type: str | None = None,
        function: str | None = None,
        top: int = 10,
        restrict: int | None = None,
    ) -> Neighbours:
        """The words and phrases nearest to a composed phrase, with cosines; the two words of the phrase are excluded.

        Raises:
            UnknownWordError, SettingError: as `compose`; or `top` or `restrict` is below 1.
        """
        phrase = self.compose(first, second, type=type, function=function)
        return self.vectors.most_similar(phrase, exclude=(first, second), top=top, restrict=restrict)

    def compose_rows(self, x: np.ndarray, y: np.ndarray, *, type: str = ANY, function: str | None = None) -> np.ndarray:
        """Compose phrase vectors from word vectors, all (phrases, dim) float32, by any function but "own"."""
        name = self.resolve_function(type, function)
        return compose_rows(name, self.functions.get(type, {}).get(name, {}), x, y)

    def resolve_function(self, type: str, function: str | None) -> str:
        """Return the name of a function or the default; raises SettingError if the type does not have the function."""
        choices = self.known_functions(type)
        name = function or next(default for default in DEFAULTS if default in choices)
        if name not in choices:
            raise SettingError(f"{S.function} must be one of {', '.join(choices)} for the type {type!r}, got {name!r}")
        return name


def joiner_of(record: Mapping[str, Any]) -> str:
    """The joiner in the record of a model: of its fitting, or else of its corpus."""
    text = record.get("text")
    phrases = text.get("phrases") if isinstance(text, Mapping) else None
    of_corpus = phrases.get("joiner") if isinstance(phrases, Mapping) else None
    joiners = (record.get("joiner"), of_corpus)
    return next((joiner for joiner in joiners if isinstance(joiner, str) and joiner), JOINER)
