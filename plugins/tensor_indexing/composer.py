"""Vectors that can be composed: what a fitted model, or any vectors, give for two words."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import FormatError, SettingError
from embeddings.plugins.tensor_indexing.composition_tables import (
    EXAMPLES,
    FIRST,
    PHRASE,
    SECOND,
    TYPE,
    check_examples,
    functions_of,
)
from embeddings.plugins.tensor_indexing.fit_settings import JOINER
from embeddings.plugins.tensor_indexing.functions import OWN, UNFITTED, Parameters, composed
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from embeddings.vectors.vectors import Neighbours, Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

DEFAULT = "tensor-indexing"
SPEECH = "parts-of-speech"  # the table of `Examples.speech`


class Composer:
    """Composes the vectors of two words.

    Arguments:
        vectors: of words, and of phrases.
        functions: parameters by type and function; none for plain vectors.
        types: the names that the first column of `examples` numbers.
        examples: (examples, 5) int32: type, rows of first word, second word and phrase, part (see `split`).
        joiner: stands between the words in the token of a phrase.
        speech: the part of speech of each word, as `Examples.speech`, which tells the types of other phrases.
    """

    def __init__(
        self,
        vectors: Vectors,
        functions: Mapping[str, Mapping[str, Parameters]] | None = None,
        *,
        types: Sequence[str] = (),
        examples: np.ndarray | None = None,
        joiner: str = JOINER,
        speech: np.ndarray | None = None,
    ) -> None:
        self.vectors = vectors
        self.functions = functions or {}
        self.types = list(types)
        self.examples = np.empty((0, 5), np.int32) if examples is None else np.asarray(examples)
        self.joiner = joiner
        self.speech = speech

    @classmethod
    def of(cls, source: "Model | Vectors | str | os.PathLike[str]") -> "Composer":
        """The composer of a model, of vectors, or of the path of either.

        Where no functions were learned it has those that need none.

        Raises:
            FormatError: the path cannot be read, or the tables are not those of such a model.
        """
        if isinstance(source, str | os.PathLike):
            from embeddings.models.loading import load_whole

            source = load_whole(source)
        if isinstance(source, Vectors):
            return cls(source)
        types, table = source.record.get("types", []), source.tables.get(EXAMPLES)
        functions = functions_of(source.tables, source.vectors.dim)
        check_examples(table, types, len(source.vectors))
        speech, joiner = speech_of(source), joiner_of(source.record)
        return cls(source.vectors, functions, types=types, examples=table, joiner=joiner, speech=speech)

    @property
    def known_types(self) -> list[str]:
        """The types that have functions of their own, and `ANY`."""
        return [*sorted(type for type in self.functions if type != ANY), ANY]

    def known_functions(self, type: str = ANY) -> list[str]:
        """The functions there are for a type, the phrase's own vector last.

        Raises:
            SettingError: no such type.
        """
        if type not in self.known_types:
            raise SettingError(
                f"no functions were learned for the type {type!r}; there are {', '.join(self.known_types)}"
            )
        return [*UNFITTED, *self.functions.get(type, {}), OWN]

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """Which example each pair of rows of words is; the first of several."""
        pairs = self.examples[:, [FIRST, SECOND]].tolist()
        return {(first, second): len(pairs) - 1 - back for back, (first, second) in enumerate(reversed(pairs))}

    def listed(self, first: str, second: str) -> np.ndarray | None:
        """The example of two words, or None; the first of several."""
        if first not in self.vectors or second not in self.vectors:
            return None
        place = self.places.get((self.vectors.index(first), self.vectors.index(second)))
        return None if place is None else np.asarray(self.examples[place])

    def type_of(self, first: str, second: str) -> str:
        """The type that the phrase was listed with, or that its words' parts of speech make; `ANY` if it is neither.

        `ANY` too if there are no functions for that type.
        """
        example = self.listed(first, second)
        name = self.told(first, second) if example is None else self.types[example[TYPE]]
        return name if name in self.functions else ANY

    def told(self, first: str, second: str) -> str:
        """The type of a phrase by the parts of speech of its words; `ANY` if it has none."""
        from embeddings.corpora.phrases.pos_types import TAGS, TYPES

        if self.speech is None or first not in self.vectors or second not in self.vectors:
            return ANY
        codes = [self.speech[self.vectors.index(word)] for word in (first, second)]
        return next((name for name, tags in TYPES.items() if [TAGS.index(tag) for tag in tags] == codes), ANY)

    def own(self, first: str, second: str) -> int:
        """The row of the phrase itself: as it was listed, or else of the words with the joiner between; -1 for none."""
        example = self.listed(first, second)
        if example is not None:
            return int(example[PHRASE])
        token = self.joiner.join((first, second))
        return self.vectors.index(token) if token in self.vectors else -1

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of phrases, (texts, dim) float32; zeros for a text that is not two words with vectors.

        A text has its words parted by a space, or if there is none by the joiner.
        """
        made = np.zeros((len(texts), self.vectors.dim), np.float32)
        places: defaultdict[str, list[list[int]]] = defaultdict(list)
        for place, text in enumerate(texts):
            words = text.split() if len(text.split()) > 1 else text.split(self.joiner)
            if len(words) == 2 and all(word in self.vectors for word in words):
                places[self.type_of(*words)].append([place, *map(self.vectors.index, words)])
        for type, known in places.items():
            of, first, second = np.array(known).T
            made[of] = self.rows(self.vectors.matrix[first], self.vectors.matrix[second], type=type)
        return made

    def compose(self, first: str, second: str, *, type: str | None = None, function: str | None = None) -> np.ndarray:
        """The vector (dim,) float32 of a phrase.

        Arguments:
            type: whose functions are used; if not given, those of `type_of`.
            function: one of `known_functions`; tensor indexing if not given.

        Raises:
            UnknownWordError: a word has no vector; or, for "own", the phrase.
            SettingError: no such type or function.
        """
        type = self.type_of(first, second) if type is None else type
        if self.check(type, function) == OWN:
            if self.own(first, second) < 0:
                raise UnknownWordError(f"the phrase '{first} {second}' has no vector of its own")
            return np.array(self.vectors.matrix[self.own(first, second)])
        words = self.vectors[[first, second]]
        made: np.ndarray = self.rows(words[:1], words[1:], type=type, function=function)[0]
        return made

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
        """The words and phrases nearest to a composed phrase, each with its cosine; its two words are not among them.

        Raises:
            UnknownWordError, SettingError: as `compose`, and `top` or `restrict` below 1.
        """
        from embeddings.vectors.search import answers

        made = self.compose(first, second, type=type, function=function)
        barred = [self.vectors.index(word) for word in (first, second) if word in self.vectors]
        return answers(self.vectors, [(made, barred)], top=top, restrict=restrict, index=None)[0]

    def rows(self, x: np.ndarray, y: np.ndarray, *, type: str = ANY, function: str | None = None) -> np.ndarray:
        """The vectors of phrases from those of their words, all (phrases, dim) float32; not for "own".

        Raises:
            SettingError: no such type or function.
        """
        name = self.check(type, function)
        return composed(name, self.functions.get(type, {}).get(name, {}), x, y)

    def check(self, type: str, function: str | None) -> str:
        """The name of a function of a type.

        Raises:
            SettingError: no such type or function.
        """
        known, name = self.known_functions(type), function or DEFAULT
        if name not in known:
            raise SettingError(f"there is no function {name!r} for the type {type!r}; there are {', '.join(known)}")
        return name


def joiner_of(record: Mapping[str, Any]) -> str:
    """What stands between the words of a phrase in a model with this record: as it was fitted, or its corpus read."""
    text = record.get("text")
    phrases = text.get("phrases") if isinstance(text, Mapping) else None
    read = phrases.get("joiner") if isinstance(phrases, Mapping) else None
    return next((known for known in (record.get("joiner"), read) if isinstance(known, str) and known), JOINER)


def speech_of(model: "Model") -> np.ndarray | None:
    """The parts of speech of a model's words, (words,) int8; None if it does not know any.

    Raises:
        FormatError: they are not of that shape.
    """
    found = model.tables.get(SPEECH)
    if found is not None and (found.shape != (len(model.vectors),) or found.dtype != np.int8):
        kind = f"{found.shape} {found.dtype}"
        raise FormatError(f"the model is broken: its table {SPEECH!r} is {kind}, not one int8 for each word")
    return found
