"""Vectors that can be composed: what a fitted model, or any vectors, give for two words."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from embeddings.composition.functions import OWN, UNFITTED, Parameters, composed
from embeddings.composition.phrases import ANY
from embeddings.composition.settings import JOINER
from embeddings.composition.tables import EXAMPLES, FIRST, PHRASE, SECOND, TYPE, check_examples, functions_of
from embeddings.errors import SettingError
from embeddings.vectors import Neighbours, Vectors
from embeddings.vocabulary import UnknownWordError

if TYPE_CHECKING:
    from embeddings.model import Model

DEFAULT = "tensor-indexing"


class Composer:
    """Composes the vectors of two words.

    Arguments:
        vectors: of words, and of phrases.
        functions: parameters by type and function; none for plain vectors.
        types: the names that the first column of `examples` numbers.
        examples: (examples, 5) int32: type, rows of first word, second word and phrase, part (see `split`).
        joiner: stands between the words in the token of a phrase.
    """

    def __init__(
        self,
        vectors: Vectors,
        functions: Mapping[str, Mapping[str, Parameters]] | None = None,
        *,
        types: Sequence[str] = (),
        examples: np.ndarray | None = None,
        joiner: str = JOINER,
    ) -> None:
        self.vectors = vectors
        self.functions = functions or {}
        self.types = list(types)
        self.examples = np.empty((0, 5), np.int32) if examples is None else np.asarray(examples)
        self.joiner = joiner

    @classmethod
    def of(cls, source: "Model | Vectors | str | os.PathLike[str]") -> "Composer":
        """The composer of a model, of vectors, or of the path of either.

        Where no functions were learned it has those that need none.

        Raises:
            FormatError: the path cannot be read, or the tables are not those of such a model.
        """
        if isinstance(source, str | os.PathLike):
            from embeddings.loading import load_whole

            source = load_whole(source)
        if isinstance(source, Vectors):
            return cls(source)
        types, table = source.record.get("types", []), source.tables.get(EXAMPLES)
        functions = functions_of(source.tables, source.vectors.dim)
        check_examples(table, types, len(source.vectors))
        joiner = str(source.record.get("joiner", JOINER))
        return cls(source.vectors, functions, types=types, examples=table, joiner=joiner)

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

    def listed(self, first: str, second: str) -> np.ndarray | None:
        """The example of two words, or None; the first of several."""
        if first not in self.vectors or second not in self.vectors:
            return None
        rows = self.vectors.index(first), self.vectors.index(second)
        found = np.flatnonzero((self.examples[:, [FIRST, SECOND]] == rows).all(axis=1))
        return np.asarray(self.examples[found[0]]) if len(found) else None

    def type_of(self, first: str, second: str) -> str:
        """The type that the phrase was listed with, if it has functions; else `ANY`."""
        example = self.listed(first, second)
        name = ANY if example is None else self.types[example[TYPE]]
        return name if name in self.functions else ANY

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
        for row, text in enumerate(texts):
            words = text.split() if len(text.split()) > 1 else text.split(self.joiner)
            if len(words) == 2 and all(word in self.vectors for word in words):
                made[row] = self.compose(words[0], words[1])
        return made

    def compose(self, first: str, second: str, *, type: str | None = None, function: str | None = None) -> np.ndarray:
        """The vector (dim,) float32 of a phrase.

        Arguments:
            type: whose functions are used; the type that the phrase was listed with, or else "any", if not given.
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
        from embeddings.operations.search import answers

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
