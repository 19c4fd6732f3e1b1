"""Words and their vectors: look up, compare, search, convert."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.vectors import arrow_table, data_frames, format_dispatch
from embeddings.vectors.vectors_html import vectors_html
from embeddings.vectors.word_similarity import SimilarityMixin


class Vectors(SimilarityMixin):
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
        return data_frames.to_pandas(self.words, self.to_numpy())

    @classmethod
    def from_pandas(cls, frame: Any) -> "Vectors":
        """Vectors from a DataFrame in one of two layouts.

        Words in the index and a component in each column, as `to_pandas` returns; or the columns word, vector and
        optionally count, as `pandas.read_parquet` returns for files that `save` writes.

        Raises:
            SettingError: a column has a wrong type, a word occurs twice, or a vector holds NaN or infinity.
        """
        words, matrix, counts = data_frames.from_pandas(frame)
        return cls(words, matrix, counts=counts).check_finite()

    def to_arrow(self) -> Any:
        """A pyarrow table with the columns word, count (if known) and vector; the matrix is not copied."""
        return arrow_table.to_table(self)

    @classmethod
    def from_arrow(cls, table: Any) -> "Vectors":
        """Vectors from a pyarrow table or record batch with these columns; contiguous float32 is not copied.

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
            rows = list(dict.fromkeys(self.index(word) for word in ([words] if isinstance(words, str) else words)))
            subset_words = [self.words[row] for row in rows]
        counts = None if self.counts is None else self.counts[rows]
        return type(self)(
            subset_words, self.matrix[rows], counts=counts, compose=self.compose, word_form=self.word_form
        )

    def normalize(self) -> "Vectors":
        """The same words with vectors of length one; zero vectors stay zero.

        Raises:
            SettingError: a vector holds NaN or infinity; the message names the word.
        """
        return type(self)(self.word_list, self.unit_rows, counts=self.counts, word_form=self.word_form)

    def with_unknown_rows(self) -> "Vectors":
        """The same vectors, in which an unknown word has the vector learned for unknown words.

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
