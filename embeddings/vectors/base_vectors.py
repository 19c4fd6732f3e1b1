"""The base class of `Vectors`: storage, lookup, unit rows, fingerprint."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, wraps
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

import numpy as np

from embeddings.corpora.remapping import UnknownRows
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import S, SettingError
from embeddings.setting_names import OUR_NAMES, normalize_name
from embeddings.support.cosine import normalize_rows, row_blocks
from embeddings.support.interop import InteropMixin
from embeddings.support.word_list import WordList, as_counts

P = ParamSpec("P")
T = TypeVar("T")
Compose = Callable[[Sequence[str]], np.ndarray]
Form = Callable[[str], str]
MAX_PARTS = 10  # parts that a message lists for a word that the tokenizer splits
MAX_COMPLETIONS = 50_000  # most frequent words that an editor offers after vectors["


def refuse_other_names(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a method so that a keyword of another tool raises a SettingError that names ours."""
    parameters = signature(function).parameters

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            ours = OUR_NAMES.get(normalize_name(name))
            if name not in parameters and ours in parameters:
                raise SettingError(f"{function.__name__} has no argument {name}: use {ours}")
        return function(*args, **kwargs)

    return call


class BaseVectors(InteropMixin):
    """Words and their rows. `Vectors` documents the arguments."""

    CACHED_ATTRIBUTES = ("unit_rows", "fingerprint", "unknown_rows")
    item_name: ClassVar[str] = "words"  # plural of the items that have vectors, for messages
    tokenizer_file: Path | None = None  # path of tokenizer.json, in formats that store one

    def __init__(
        self,
        words: Iterable[str] | WordList,
        matrix: np.ndarray,
        *,
        counts: Sequence[int] | np.ndarray | None = None,
        compose: Compose | None = None,
        word_form: Form | None = None,
    ) -> None:
        self.word_list = words if isinstance(words, WordList) else WordList(words)
        try:
            self.matrix: np.ndarray = np.asarray(matrix, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise SettingError(f"matrix must be numbers, (words, dim): {error}") from None
        self.counts: np.ndarray | None = None if counts is None else as_counts(counts)
        self.compose = compose
        self.word_form = word_form
        if self.matrix.ndim != 2 or self.matrix.shape[1] < 1:
            raise SettingError(f"matrix must be (words, dim) with dim at least 1, got {self.matrix.shape}")
        if len(self) != len(self.matrix):
            raise SettingError(f"matrix must have a row for each word: {len(self)} words, {len(self.matrix)} rows")
        if self.counts is not None and self.counts.shape != (len(self),):
            raise SettingError(f"counts must have one number for each of {len(self)} words, got {self.counts.shape}")

    @property
    def words(self) -> list[str]:
        """All words, the most frequent first."""
        return self.word_list.words

    @property
    def dim(self) -> int:
        """Components per vector."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.word_list)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return self.find(word) is not None

    def _ipython_key_completions_(self) -> list[str]:
        return self.words[:MAX_COMPLETIONS]

    def __repr__(self) -> str:
        return f"<Vectors: {len(self)} {self.item_name}, {self.dim} components>"

    def as_word(self, item: object) -> str | None:
        """The word that an item of a query names; None if it is not a word."""
        return item if isinstance(item, str) else None

    def find(self, word: object) -> int | None:
        """The row of a word with this spelling, or else with its form in the training text; None if there is none.

        All lookups follow this rule. The form is known for saved models, which record how their text was read: on
        lower-cased text "King" finds the row of "king". Vectors of other programs are found by their spelling only.
        """
        name = self.as_word(word)
        row = self.word_list.find(name)
        if row is None and self.word_form is not None and name is not None:
            form = self.word_form(name)
            return None if form == name else self.word_list.find(form)
        return row

    def get(self, word: str, default: Any = None) -> Any:
        """The vector of a word as `vectors[word]` returns it, or `default` if it has none."""
        try:
            return self._vector(word)
        except UnknownWordError:
            return default

    def index(self, word: str) -> int:
        """The row of a word; see `find`.

        Raises:
            UnknownWordError: the word has no row; the message suggests similar spellings.
        """
        row = self.find(word)
        if row is None:
            raise UnknownWordError(f"no vector for {word!r} among {len(self)} {self.item_name}{self._hint(word)}")
        return row

    def _hint(self, word: object) -> str:
        """A suggestion for a word without a row: several words of the text, or a word that is spelled similarly."""
        from embeddings.corpora.word_rules import WordForm
        from embeddings.support.suggestions import close_matches

        if self.word_form is None or not isinstance(word, str):
            close = close_matches(word, self.word_list)
        else:
            parts = self.word_form.words(word) if isinstance(self.word_form, WordForm) else [word]
            if 1 < len(parts) <= MAX_PARTS and all(part in self for part in parts):
                return f"; in the text it is {len(parts)} words: {', '.join(parts)}"
            close = close_matches(self.word_form(word), self.word_list)
        return f"; did you mean {', '.join(close)}?" if close else ""

    def __getitem__(self, key: str | Sequence[str]) -> np.ndarray:
        """The vector (dim,) of a word, read-only, or the vectors (words, dim) of a list of words.

        Raises:
            UnknownWordError: a word has no vector and none can be composed.
            SettingError: the key is neither a string nor a list of strings.
        """
        if self.as_word(key) is not None:
            return self._vector(key)
        if not isinstance(key, Sequence | np.ndarray) or isinstance(key[:0], bytes):
            raise SettingError(f"key must be a word or a list of words, got {key!r:.80}")
        return np.array([self._vector(word) for word in key], dtype=np.float32).reshape(-1, self.dim)

    def _vector(self, word: object) -> np.ndarray:
        name = self.as_word(word)
        if name is None:
            raise SettingError(f"a word must be a string, got {word!r:.80}")
        if self.compose is not None and name not in self:
            row: np.ndarray = self.compose_words([name])[0]
            if not row.any():
                raise UnknownWordError(f"no vector for {name!r} among {len(self)} words, and none can be composed")
        else:
            row = self.matrix[self.index(name)]
        row.flags.writeable = False
        return row

    def compose_words(self, words: Sequence[str]) -> np.ndarray:
        """Composed vectors (words, dim) float32 for any words; zeros for words without known parts.

        Raises:
            SettingError: these vectors cannot be composed, or the composed rows have a wrong shape or are not finite.
        """
        if self.compose is None:
            raise SettingError("cannot compose vectors for other words: only words of the vocabulary have one")
        rows = np.asarray(self.compose(words), dtype=np.float32)
        if rows.shape != (len(words), self.dim):
            raise SettingError(f"composed vectors must be {(len(words), self.dim)}, got {rows.shape}")
        is_finite = np.isfinite(rows).all(axis=1)
        if not is_finite.all():
            raise SettingError(f"the composed vector of {words[int(is_finite.argmin())]!r} holds NaN or infinity")
        return rows

    @cached_property
    def unit_rows(self) -> np.ndarray:
        """The rows at length one, (words, dim) float32; zero rows stay zero. Computed once, on first use.

        Raises:
            SettingError: a row holds NaN or infinity; the message names the word.
        """
        rows = normalize_rows(self.matrix)
        if not np.isfinite(rows.sum()):
            self.check_finite()
        return rows

    @cached_property
    def unknown_rows(self) -> UnknownRows | None:
        """The rows for unknown words of vectors trained with `unknown_rows`, or of a word `<unk>`; None without any.

        Raises:
            SettingError: some of several rows are missing.
        """
        return UnknownRows.of(self.words)

    def learned_unknown(self, words: Sequence[str]) -> np.ndarray:
        """The vectors learned for unknown words, (words, dim): a hash of a word, in its form in the text, selects one.

        Raises:
            SettingError: there are none.
        """
        if self.unknown_rows is None:
            raise SettingError(
                f"these vectors have no row for unknown words; train them with the setting {S.unknown_rows}"
            )
        form = self.word_form or str
        names = [self.unknown_rows.name_of(form(word)) for word in words]
        return np.asarray(self.matrix[np.array([self.index(name) for name in names], np.int64)])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the matrix and its shape, by which an index recognises its vectors; words are not included."""
        digest = hashlib.sha256(repr(self.matrix.shape).encode())
        for block in row_blocks(*self.matrix.shape):
            digest.update(np.ascontiguousarray(self.matrix[block]).data)
        return digest.hexdigest()

    def check_finite(self) -> Self:
        """Check that no vector holds NaN or infinity, and return `self`.

        Raises:
            SettingError: one does; the message names its word.
        """
        for block in row_blocks(*self.matrix.shape):
            flat = self.matrix[block].ravel()
            with np.errstate(over="ignore", invalid="ignore"):
                if np.isfinite(np.dot(flat, flat)):  # much faster; large squares overflow and take the exact check
                    continue
            is_finite = np.isfinite(self.matrix[block]).all(axis=1)
            if not is_finite.all():
                word = self.words[block.start + int(is_finite.argmin())]
                raise SettingError(f"the vector of {word!r} holds NaN or infinity")
        return self
