"""Words and their vectors: look up, compare, search, convert."""

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.html_elements import Html, tag
from embeddings.support.imports import import_extra
from embeddings.support.result_table import ResultTable
from embeddings.vectors import arrow_table, format_dispatch
from embeddings.vectors.arrow_table import COUNT, SCALE, VECTOR, WORD
from embeddings.vectors.precision import dequantise
from embeddings.vectors.search import SearchMixin


def vector_column(frame: Any) -> np.ndarray:
    """The column of vectors as a float32 matrix; int8 vectors are multiplied by their scale."""
    try:
        rows = np.stack([np.asarray(row) for row in frame[VECTOR]])
        if rows.dtype == np.int8 and SCALE in frame.columns:
            return dequantise(rows, frame[SCALE].to_numpy(dtype=np.float32))
        return rows.astype(np.float32)
    except (ValueError, TypeError) as error:
        raise SettingError(f"the column {VECTOR!r} must hold vectors of one length: {error}") from None


MAX_WORDS, MAX_COMPONENTS = 10, 6


def vectors_html(vectors: "Vectors") -> Html:
    """Render the first words with their counts, vector norms and first components."""
    n_components = min(vectors.dim, MAX_COMPONENTS)
    item, rows = vectors.item_name.removesuffix("s"), list[dict[str, object]]()
    for index, name in enumerate(islice(vectors.words, MAX_WORDS)):
        vector = np.asarray(vectors.matrix[index], np.float64)
        count = {} if vectors.counts is None else {"count": int(vectors.counts[index])}
        components = {str(number): float(vector[number]) for number in range(n_components)}
        rows.append({item: name, **count, "norm": float(np.sqrt((vector * vector).sum())), **components})
    rest = [f"{len(vectors) - len(rows):,} more {vectors.item_name}"] * (len(vectors) > len(rows))
    rest += [f"{vectors.dim - n_components:,} more components"] * (vectors.dim > n_components)
    compose_note = ["vectors of unseen words are composed"] * (vectors.compose is not None)
    return tag(
        "div",
        tag("p", tag("b", "Vectors"), f": {len(vectors):,} {vectors.item_name}, {vectors.dim:,} components"),
        Html(ResultTable(rows)._repr_html_()),
        tag("p", "; ".join([" and ".join(rest)] * bool(rest) + compose_note)),
    )


class Vectors(SearchMixin):
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
        words: distinct words, or a `WordList`, which may hold a pyarrow array.
        matrix: (words, dim); a float32 array, memory-mapped ones included, is not copied.
        counts: (words,) occurrences of each word, if known.
        compose: a function that maps n unknown words to vectors (n, dim), with zeros for words without known parts.
        word_form: a function that maps a word, as typed, to its form in the training text, by which it is found if no
            word has its spelling; see `find`.

    Raises:
        SettingError: a word occurs twice, the shapes do not match, or the sum of the counts does not fit an int64.
    """

    def _repr_html_(self) -> str:
        return vectors_html(self)

    @classmethod
    def from_numpy(cls, words: Iterable[str], matrix: np.ndarray) -> "Vectors":
        """Vectors from an array (words, dim) of finite numbers.

        Raises:
            SettingError: as for the constructor, or a vector holds NaN or infinity; the message names the word.
        """
        return cls(words, matrix).check_finite()

    def to_numpy(self) -> np.ndarray:
        """A writable copy of the matrix, (words, dim) float32."""
        return np.array(self.matrix, dtype=np.float32, subok=False)

    def to_pandas(self) -> Any:
        """A DataFrame copy with a row for each word (its index, "word") and a float32 column for each component.

        It omits counts; `to_arrow().to_pandas()` has them as a column.

        Raises:
            EmbeddingsError: pandas is not installed.
        """
        pandas = import_extra("pandas", "pandas", "to_pandas")
        return pandas.DataFrame(self.to_numpy(), index=pandas.Index(self.words, name=WORD, dtype=object), copy=False)

    @classmethod
    def from_pandas(cls, frame: Any) -> "Vectors":
        """Vectors from a DataFrame in one of two layouts.

        Words in the index and a component in each column, as `to_pandas` returns; or the columns word, vector and
        optionally count, as `pandas.read_parquet` returns for files that `save` writes.

        Raises:
            SettingError: a column has a wrong type, a word occurs twice, or a vector holds NaN or infinity.
        """
        if WORD in frame.columns and VECTOR in frame.columns:
            words, matrix = frame[WORD].tolist(), vector_column(frame)
            counts = frame[COUNT] if COUNT in frame.columns and not frame[COUNT].isna().all() else None
        else:
            for name, dtype in frame.dtypes.items():
                if getattr(dtype, "kind", "O") not in "fiu":
                    raise SettingError(f"the column {name!r} must hold numbers, got {dtype}")
            words, matrix, counts = frame.index.tolist(), frame.to_numpy(dtype=np.float32), None
        wrong = next((word for word in words if not isinstance(word, str)), None)
        if wrong is not None:
            raise SettingError(f"words must be strings, got {wrong!r}")
        if counts is not None and (counts.isna().any() or not np.issubdtype(counts.dtype, np.integer)):
            raise SettingError(f"the column {COUNT!r} must hold whole numbers, got {counts.dtype}")
        return cls(words, matrix, counts=None if counts is None else counts.to_numpy()).check_finite()

    def to_arrow(self) -> Any:
        """A pyarrow table with the columns word, count (if known) and vector; the matrix is not copied."""
        return arrow_table.to_table(self)

    @classmethod
    def from_arrow(cls, table: Any) -> "Vectors":
        """Vectors from an Arrow table or record batch with the columns of `to_arrow`; contiguous float32 is not copied.

        Raises:
            FormatError: columns are missing, of other types or hold nulls, lists differ in length, a word occurs twice,
                or a vector holds NaN or infinity.
        """
        return arrow_table.from_table(table, cls)

    def subset(self, words: int | Iterable[str]) -> "Vectors":
        """The first n words, or the listed words in that order without repetitions, with their counts.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: a number below 1.
        """
        if isinstance(words, int | np.integer):
            if words < 1:
                raise SettingError(f"the number of words must be at least 1, got {words}")
            rows: slice | list[int] = slice(int(words))
            subset_words = self.words[: int(words)]
        else:
            words = [words] if isinstance(words, str) else words
            if not isinstance(words, Iterable):
                raise SettingError(f"words must be a number or a list of words, got {words!r:.80}")
            rows = list(dict.fromkeys(map(self.index, words)))
            subset_words = [self.words[row] for row in rows]
        counts = None if self.counts is None else self.counts[rows]
        return type(self)(
            subset_words, self.matrix[rows], counts=counts, compose=self.compose, word_form=self.word_form
        )

    def normalize(self) -> "Vectors":
        """Vectors of length one for the same words; zero vectors stay zero.

        Raises:
            SettingError: a vector holds NaN or infinity; the message names the word.
        """
        return type(self)(self.word_list, self.unit_rows, counts=self.counts, word_form=self.word_form)

    def with_unknown_rows(self) -> "Vectors":
        """A copy in which an unknown word has the vector learned for unknown words.

        They are those of trainers with `unknown_rows`, or of a word `<unk>`.

        Raises:
            SettingError: there are none.
        """
        self.learned_unknown([])
        compose, form = self.learned_unknown, self.word_form
        return type(self)(self.word_list, self.matrix, counts=self.counts, compose=compose, word_form=form)

    def add_vectors(
        self, words: Sequence[str], matrix: np.ndarray, *, counts: Sequence[int] | None = None, replace: bool = False
    ) -> "Vectors":
        """New Vectors with more words at the end; the original is unchanged.

        Arguments:
            matrix: (words, dim), a row for each of `words`.
            counts: occurrences of the new words; without them the result has no counts.
            replace: words that already have a vector get the new one; otherwise they keep theirs.

        Raises:
            SettingError: shapes do not match, a word is listed twice, or a vector holds NaN or infinity.
        """
        addition = type(self)(words, matrix, counts=counts).check_finite()
        if addition.dim != self.dim:
            raise SettingError(f"vectors of {addition.dim} components cannot be added to vectors of {self.dim}")
        is_new = np.array([self.word_list.find(word) is None for word in addition.words], dtype=bool)  # by spelling
        rows = np.concatenate([self.matrix, addition.matrix[is_new]])
        if replace:
            known_rows = np.flatnonzero(~is_new)
            rows[[self.index(addition.words[row]) for row in known_rows]] = addition.matrix[known_rows]
        all_words = self.words + [addition.words[row] for row in np.flatnonzero(is_new)]
        all_counts = None
        if self.counts is not None and addition.counts is not None:
            all_counts = np.concatenate([self.counts, addition.counts[is_new]])
        return type(self)(all_words, rows, counts=all_counts, compose=self.compose, word_form=self.word_form)

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        force: bool = False,
        counts: bool | None = None,
        **options: Any,
    ) -> None:
        """Write a file or folder that other tools read.

        Arguments:
            format: one of `embeddings.formats.names()`; by default the extension of the path selects it.
            force: replace an existing file, or an existing folder of the same format.
            counts: True writes word counts, to a second file if the format does not store them. False omits them. None
                writes them if the format stores them.
            options: of the format, such as `dtype="float16"`.

        Raises:
            FormatError: the extension is unknown, or the format cannot store a word; the message names it.
            RegistryError: the format is unknown.
            SettingError: the format does not have such an option, or counts are requested but unknown.
            OutputError: the path exists (unless `force`) or cannot be written.
        """
        format_dispatch.write(self, path, format=format, force=force, counts=counts, **options)


class HasVectors(Protocol):
    """A model, or any object with vectors."""

    vectors: Vectors


def as_vectors(source: Any) -> Vectors:
    """`source` if it is Vectors, or the vectors of a model."""
    vectors = getattr(source, "vectors", source)
    if not isinstance(vectors, Vectors):
        raise SettingError(f"expected Vectors or a Model, such as embeddings.load returns, got {source!r:.80}")
    return vectors
