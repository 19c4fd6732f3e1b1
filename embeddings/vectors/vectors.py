"""Words and their vectors: look up, compare, search."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import SettingError
from embeddings.support.cosine import row_blocks, unit, unit_rows
from embeddings.support.interop import Guest
from embeddings.support.word_list import Words

if TYPE_CHECKING:
    from embeddings.indexes import Index

Query = str | np.ndarray | Sequence[str | np.ndarray]
Neighbours = list[tuple[str, float]]
Compose = Callable[[Sequence[str]], np.ndarray]
COMPLETED = 50_000  # words, the most frequent, that an editor offers after vectors["


class Vectors(Guest):
    """Words in order of frequency, one row of a float32 matrix each.

    >>> import numpy as np, embeddings as em
    >>> vectors = em.Vectors(["king", "queen", "river"], np.array([[1, 0], [0.75, 0.25], [0, 1]]))
    >>> vectors
    <Vectors: 3 words, 2 components>
    >>> vectors["queen"].tolist(), "road" in vectors, list(vectors)
    ([0.75, 0.25], False, ['king', 'queen', 'river'])
    >>> [(word, round(cosine, 3)) for word, cosine in vectors.most_similar("king", top=1)]
    [('queen', 0.949)]

    Arguments:
        words: no two alike; or `Words`, which may be of a pyarrow array.
        matrix: (words, dim); kept as it is when it is float32 already, memory-mapped ones too.
        counts: (words,) how often each occurs, if that is known.
        compose: gives vectors (n, dim) for n texts that are not among `words`, zeros for one of which nothing is known.

    Raises:
        SettingError: a word stands twice, or the shapes do not fit together.
    """

    MADE = ("units", "fingerprint")

    def __init__(
        self,
        words: Iterable[str] | Words,
        matrix: np.ndarray,
        *,
        counts: Sequence[int] | np.ndarray | None = None,
        compose: Compose | None = None,
    ) -> None:
        self.names = words if isinstance(words, Words) else Words(words)
        self.matrix: np.ndarray = np.asarray(matrix, dtype=np.float32)
        self.counts: np.ndarray | None = None if counts is None else np.asarray(counts, dtype=np.int64)
        self.compose = compose
        self._check()

    def _check(self) -> None:
        if self.matrix.ndim != 2 or self.matrix.shape[1] < 1:
            raise SettingError(f"the matrix must be (words, dim) with dim at least 1, not {self.matrix.shape}")
        if len(self) != len(self.matrix):
            raise SettingError(f"{len(self)} words but {len(self.matrix)} rows of the matrix")
        if self.counts is not None and self.counts.shape != (len(self),):
            raise SettingError(f"{len(self)} words but counts of shape {self.counts.shape}")

    @classmethod
    def from_numpy(cls, words: Iterable[str], matrix: np.ndarray) -> "Vectors":
        """Vectors of an array (words, dim), of finite numbers.

        Raises:
            SettingError: as the constructor, or a number is NaN or infinite (the word is named).
        """
        vectors = cls(words, matrix)
        vectors.check_finite()
        return vectors

    def to_numpy(self) -> np.ndarray:
        """A copy of the matrix, (words, dim) float32, that may be changed."""
        return np.array(self.matrix, dtype=np.float32, subok=False)

    def to_pandas(self) -> Any:
        """A DataFrame: words as its index, a float32 column for each component; see `operations.frames`."""
        from embeddings.vectors.data_frames import to_pandas

        return to_pandas(self)

    @classmethod
    def from_pandas(cls, frame: Any) -> "Vectors":
        """Vectors of a DataFrame, laid out as `to_pandas` or as one of our Parquet files; see `operations.frames`."""
        from embeddings.vectors.data_frames import from_pandas

        return from_pandas(frame)

    def to_arrow(self) -> Any:
        """A pyarrow table with the columns word, count (if known) and vector; the matrix is not copied."""
        from embeddings.vectors.arrow_table import to_table

        return to_table(self)

    @classmethod
    def from_arrow(cls, table: Any) -> "Vectors":
        """Vectors of such a table; FormatError where a column is missing or holds something else."""
        from embeddings.vectors.arrow_table import from_table

        return from_table(table)

    @property
    def words(self) -> list[str]:
        """All words, the most frequent first."""
        return self.names.listed

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return self.names.find(word) is not None

    def _ipython_key_completions_(self) -> list[str]:
        return self.words[:COMPLETED]

    def __repr__(self) -> str:
        return f"<Vectors: {len(self)} words, {self.dim} components>"

    @property
    def dim(self) -> int:
        """Components per vector."""
        return int(self.matrix.shape[1])

    def index(self, word: str) -> int:
        """The row of a word.

        Raises:
            UnknownWordError: it has none; the message names the nearest spellings.
        """
        row = self.names.find(word)
        if row is None:
            raise UnknownWordError(self._unknown(word))
        return row

    def _unknown(self, word: str) -> str:
        from embeddings.support.suggestions import close_matches

        close = close_matches(word, self.words, self.names.rows)
        hint = f"; close: {', '.join(close)}" if close else ""
        return f"no vector for {word!r} among {len(self)} words{hint}"

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: Sequence[str]) -> np.ndarray: ...
    def __getitem__(self, key: str | Sequence[str]) -> np.ndarray:
        """The vector (dim,) of a word, read-only, or the vectors (words, dim) of several.

        Raises:
            UnknownWordError: a word has no vector and none can be composed.
        """
        if isinstance(key, str):
            return self._vector(key)
        if not isinstance(key, Sequence | np.ndarray) or isinstance(key[:0], bytes):
            raise SettingError(f"a word is a text, or several in a list, not {key!r}")
        return np.array([self._vector(word) for word in key], dtype=np.float32).reshape(-1, self.dim)

    def _vector(self, word: str) -> np.ndarray:
        if not isinstance(word, str):
            raise SettingError(f"a word is a text, not {word!r}")
        if self.compose is not None and word not in self:
            from embeddings.vectors.compose import composed

            return composed(self, word)
        row: np.ndarray = self.matrix[self.index(word)]
        row.flags.writeable = False
        return row

    @cached_property
    def units(self) -> np.ndarray:
        """The rows at length one, (words, dim) float32; zero rows stay zero. Made at the first use.

        Raises:
            SettingError: a row holds NaN or infinity; the word is named.
        """
        units = unit_rows(self.matrix)
        if not np.isfinite(units.sum()):
            self.check_finite()
        return units

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the matrix and its shape: what an index was built from. Words are no part of it."""
        whole = hashlib.sha256(repr(self.matrix.shape).encode())
        for part in row_blocks(*self.matrix.shape):
            whole.update(np.ascontiguousarray(self.matrix[part]).data)
        return whole.hexdigest()

    def check_finite(self) -> None:
        """Refuse a NaN or an infinity.

        Raises:
            SettingError: naming the first word that has one.
        """
        for part in row_blocks(*self.matrix.shape):
            flat = self.matrix[part].ravel()
            with np.errstate(over="ignore", invalid="ignore"):
                if np.isfinite(np.dot(flat, flat)):  # far faster; the squares of large ones overflow: look closer
                    continue
            good = np.isfinite(self.matrix[part]).all(axis=1)
            if not good.all():
                word = self.words[part.start + int(good.argmin())]
                raise SettingError(f"the vector of {word!r} holds NaN or infinity")

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words, -1 to 1; 0 where a vector is zero."""
        return float(np.clip(unit(self[a]) @ unit(self[b]), -1, 1))

    def most_similar(
        self,
        positive: Query,
        negative: Query = (),
        *,
        top: int = 10,
        restrict: int | None = None,
        index: "Index | str | os.PathLike[str] | None" = None,
    ) -> Neighbours:
        """The `top` words nearest to the mean of unit vectors, each with its cosine, nearest first.

        Words in `negative` are subtracted. Arrays stand for themselves and are not brought to length one
        (as in gensim). Words asked with are not among the answers; ties go to the more frequent word.

        Arguments:
            positive: a word, an array (dim,), or several of either.
            restrict: only the first so many, most frequent, words may be answers; None for all.
            index: what finds them: an index of these vectors, the path of one, or the name of a kind with its
                settings, such as "lsh:bits=512", to be built now. None compares with every word.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `top` or `restrict` below 1, nothing asked, an array of another length, or an index of
                other vectors.
        """
        from embeddings.vectors.search import most_similar

        return most_similar(self, positive, negative, top=top, restrict=restrict, index=index)

    def most_similar_many(
        self,
        queries: Iterable[Query],
        *,
        top: int = 10,
        restrict: int | None = None,
        index: "Index | str | os.PathLike[str] | None" = None,
    ) -> list[Neighbours]:
        """`most_similar` of each query, all at once."""
        from embeddings.vectors.search import most_similar_many

        return most_similar_many(self, queries, top=top, restrict=restrict, index=index)

    def analogy(
        self,
        a: str,
        b: str,
        c: str,
        *,
        method: Literal["3cosadd", "3cosmul"] = "3cosadd",
        top: int = 10,
        restrict: int | None = None,
    ) -> Neighbours:
        """The words that are to c as b is to a, best first; a, b and c are not among them.

        3cosadd scores by cos(x, b - a + c) of unit vectors (Mikolov et al., 2013); 3cosmul multiplies and
        divides cosines moved to 0..1 (Levy and Goldberg, 2014).

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: another method, or `top` or `restrict` below 1.
        """
        from embeddings.vectors.search import analogy

        return analogy(self, a, b, c, method=method, top=top, restrict=restrict)

    def doesnt_match(self, words: Sequence[str]) -> str:
        """The word that goes least with the others: furthest from the mean of all."""
        from embeddings.vectors.compare import doesnt_match

        return doesnt_match(self, words)

    def distances(self, word: str | np.ndarray, others: Sequence[str] | None = None) -> np.ndarray:
        """1 - cosine to each of `others`, or to all words in their order; float64."""
        from embeddings.vectors.compare import distances

        return distances(self, word, others)

    def closer_than(self, a: str, b: str) -> list[str]:
        """The words nearer to a than b is, in order of frequency."""
        from embeddings.vectors.compare import closer_than

        return closer_than(self, a, b)

    def rank(self, a: str, b: str) -> int:
        """The rank of b among the neighbours of a, 1 for the nearest."""
        from embeddings.vectors.compare import rank

        return rank(self, a, b)

    def subset(self, words: int | Iterable[str]) -> "Vectors":
        """The first so many words, or those named, in that order."""
        from embeddings.vectors.subset import subset

        return subset(self, words)

    def normalised(self) -> "Vectors":
        """The same words with vectors of length one."""
        from embeddings.vectors.subset import normalised

        return normalised(self)

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        force: bool = False,
        counts: bool | None = None,
        **options: Any,
    ) -> None:
        """Write for other tools, in one of `embeddings.formats.names()` or by the ending of the path.

        Arguments:
            counts: True to write them in any case (else where the file holds them), False never.
            options: of the format, such as `dtype="float16"`.

        Raises:
            FormatError: an unknown ending, or the format cannot hold a word (it is named).
            RegistryError: an unknown format.
            SettingError: an option that the format does not have, or counts that are not known.
            OutputError: the path exists (unless `force`) or cannot be written.
        """
        from embeddings.vectors import format_dispatch

        format_dispatch.write(self, path, format=format, force=force, counts=counts, **options)
