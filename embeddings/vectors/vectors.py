"""Words and their vectors: look up, compare, search, convert."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from embeddings.corpora.remapping import find_unknown_rows, row_number
from embeddings.corpora.tokenizers import is_lower_case
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import S, SettingError
from embeddings.indexes.cosine_search import check_search, pair_cosines, product_error, search_multiplicative
from embeddings.indexes.protocol import SearchMethod
from embeddings.setting_names import InteropMixin
from embeddings.settings import Positive, check_list, check_value
from embeddings.settings.setting_fields import refuse_unknown
from embeddings.support import cosine
from embeddings.support.cosine import normalize_rows, row_blocks
from embeddings.support.foreign_files import format_errors
from embeddings.support.html_elements import Html, tag
from embeddings.support.imports import import_extra, pa
from embeddings.support.result_table import ResultTable
from embeddings.support.word_list import WordList, as_counts
from embeddings.vectors import arrow_table, file_format, search
from embeddings.vectors.arrow_table import COUNT, SCALE, VECTOR, WORD
from embeddings.vectors.compact_rows import CompactRows
from embeddings.vectors.index import Index
from embeddings.vectors.spellings import AS_WRITTEN, spellings
from embeddings.vectors.word_vectors import HasVectors

Compose = Callable[[Sequence[str]], np.ndarray]
Form = Callable[[str], str]
MAX_PARTS = 10  # parts that a message lists for a word that the tokenizer splits
ZIPF_OFFSET = 2.7  # of ranks: frequencies of words are close to 1 / (rank + 2.7) (Piantadosi 2014)
MAX_COMPLETIONS = 50_000  # most frequent words that an editor offers after vectors["


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


class Vectors(InteropMixin):
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
        matrix: (words, dim); a float32 array, memory-mapped ones included, is not copied; or the rows of a small model.
        counts: (words,) occurrences of each word, if known.
        compose: a function that maps n unknown words to vectors (n, dim), with zeros for words without known parts.
        word_form: a function that maps a word, as typed, to its form in the training text, by which it is found if no
            word has its spelling; see `find`.

    Threads may share Vectors, and forked processes may go on with them: no method changes them. What is computed on
    first use, such as `unit_rows`, may be computed by several threads at once, with equal results.

    Raises:
        SettingError: a word occurs twice, the shapes do not match, or the sum of the counts does not fit an int64.
    """

    CACHED_ATTRIBUTES = ("unit_rows", "fingerprint", "unknown_rows", "is_lower", "frequencies", "text_weights")
    item_name: ClassVar[str] = "words"  # plural of the items that have vectors, for messages
    tokenizer_file: Path | None = None  # path of tokenizer.json, in formats that store one
    unit_texts: bool = False  # whether vectors of texts are scaled to length 1, in formats that record it
    text_pool: str | None = None  # how vectors of texts are pooled by default, if the model has recorded it

    def __init__(
        self,
        words: Iterable[str] | WordList,
        matrix: np.ndarray | CompactRows,
        *,
        counts: Sequence[int] | np.ndarray | None = None,
        compose: Compose | None = None,
        word_form: Form | None = None,
    ) -> None:
        self.word_list = words if isinstance(words, WordList) else WordList(words)
        self.compact = matrix if isinstance(matrix, CompactRows) else None
        if self.compact is None:
            self.matrix = np.asarray(matrix, dtype=np.float32)
        self._shape: tuple[int, ...] = self.matrix.shape if self.compact is None else self.compact.shape
        self.counts: np.ndarray | None = None if counts is None else as_counts(counts)
        self.compose = compose
        self.word_form = word_form
        if len(self._shape) != 2 or self._shape[1] < 1 or len(self) != self._shape[0]:
            expected = f"a row for each of {len(self)} words and at least 1 column"
            raise SettingError(f"matrix must be (words, dim), with {expected}, got {self._shape}")
        if self.counts is not None and self.counts.shape != (len(self),):
            raise SettingError(f"counts must have one number for each of {len(self)} words, got {self.counts.shape}")

    @cached_property
    def matrix(self) -> np.ndarray:
        """The vectors, float32 (words, dim); a small model's vectors are decoded all at once, on first use."""
        assert self.compact is not None
        return self.compact.matrix()

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """The vectors of words by their numbers, int64: float32 (numbers, dim)."""
        return self.matrix[numbers] if self.compact is None else self.compact.take(numbers)

    @property
    def words(self) -> list[str]:
        """All words, the most frequent first."""
        return self.word_list.words

    @property
    def dim(self) -> int:
        """Components per vector."""
        return int(self._shape[1])

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
        """The row of a word as it is written, or else in another form (see `find_form`); None if there is none."""
        return self.find_form(word)[0]

    def find_form(self, word: object, *, lower: bool | None = None) -> tuple[int | None, str]:
        """The row of a word, or None, and the name of the form in which it is found.

        All lookups try the word as it is written, then its form in the training text, which saved models record (on
        lower-cased text "King" finds the row of "king"), then the forms NFC, NFD and NFKC, with other apostrophes, and
        all of these in lower case. Names of documents are found as they are written only.

        Arguments:
            word: the word.
            lower: whether lower case is tried; by default unless vectors are composed, in which case "King" is.
        """
        name = self.as_word(word)
        row = self.word_list.find(name)
        if row is None and name is not None and self.item_name == Vectors.item_name:
            lower = self.compose is None if lower is None else lower
            for form, (spelling,) in spellings([name], self.word_form, lower=lower):
                if spelling != name and (row := self.word_list.find(spelling)) is not None:
                    return row, form
        return row, AS_WRITTEN

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
            message = f"no vector for {word!r} among {len(self)} {self.item_name}"
            raise UnknownWordError(message, lambda: self._hint(word))
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
        words = check_list("key", key, "words")
        return np.array([self._vector(word) for word in words], dtype=np.float32).reshape(-1, self.dim)

    def _vector(self, word: Any) -> np.ndarray:
        name = self.as_word(word)
        if self.compose is not None and name is not None and name not in self:
            row: np.ndarray = self.compose_words([name])[0]
            if not row.any():
                raise UnknownWordError(f"no vector for {name!r} among {len(self)} words, and none can be composed")
        else:
            number = self.index(word)
            row = self.matrix[number] if self.compact is None else self.rows(np.array([number]))[0]
        # It may be a view of the table, and writing to it would change the vectors.
        row.flags.writeable = False
        return row

    def compose_words(self, words: Sequence[str]) -> np.ndarray:
        """Composed vectors (words, dim) float32 for any words; zeros for words without known parts.

        Raises:
            SettingError: these vectors cannot be composed, or the composed rows are not finite.
        """
        if self.compose is None:
            raise SettingError("cannot compose vectors for other words: only words of the vocabulary have one")
        rows = np.asarray(self.compose(words), dtype=np.float32).reshape(len(words), self.dim)
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
        # One sum tells whether any number is NaN or infinite; only then is its word searched for.
        if not np.isfinite(rows.sum()):
            self.check_finite()
        return rows

    @cached_property
    def frequencies(self) -> Vocabulary | None:
        """The words and their counts, the most frequent first; None if the counts are unknown."""
        if self.counts is None:
            return None
        # Files of other programs may be in any order, but a Vocabulary begins with the most frequent word.
        if np.any(np.diff(self.counts) > 0):
            return Vocabulary.from_counts(self.words, self.counts.tolist())
        vocabulary = Vocabulary(self.words, self.counts)
        vocabulary.word_list = self.word_list
        return vocabulary

    @cached_property
    def frequencies_by_rank(self) -> Vocabulary:
        """The words with frequencies by Zipf's law, for words in order of frequency whose counts are unknown."""
        vocabulary = Vocabulary(self.words, (1e9 / (np.arange(len(self)) + ZIPF_OFFSET)).astype(np.int64))
        vocabulary.word_list = self.word_list
        return vocabulary

    @cached_property
    def text_weights(self) -> dict[tuple[Any, ...], np.ndarray]:
        """The weights of the words, (words,), by each rule by which texts have been embedded; see `TextEmbedder`."""
        return {}

    @cached_property
    def unknown_rows(self) -> list[str] | None:
        """Names of the rows for unknown words of vectors trained with `unknown_rows`, or `<unk>`; None without any.

        Raises:
            SettingError: some of several rows are missing.
        """
        return find_unknown_rows(self.words)

    def learned_unknown(self, words: Sequence[str]) -> np.ndarray:
        """The vectors learned for unknown words, (words, dim): a hash of a word, in its form in the text, selects one.

        Raises:
            SettingError: there are none.
        """
        if self.unknown_rows is None:
            raise SettingError(
                f"these vectors have no row for unknown words; train them with the setting {S.unknown_rows}"
            )
        form, rows = self.word_form or str, self.unknown_rows
        names = [rows[row_number(form(word), len(rows))] for word in words]
        return self.rows(np.array([self.index(name) for name in names], np.int64))

    @cached_property
    def is_lower(self) -> bool:
        """Whether all words are in lower case, so that those of texts are composed in lower case."""
        return is_lower_case(self.words)

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
            SettingError: a word occurs twice or is not a string, or a vector holds NaN or infinity.
            FormatError: as `from_arrow`, for columns.
        """
        if WORD in frame.columns and VECTOR in frame.columns:
            columns = [name for name in (WORD, VECTOR, COUNT, SCALE) if name in frame.columns]
            with format_errors("the table"):
                table = pa.Table.from_pandas(frame[columns], preserve_index=False)
            return cls.from_arrow(table)
        return cls(frame.index.tolist(), frame.to_numpy(dtype=np.float32)).check_finite()

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
            check_value("words", words, int, {"ge": 1})
            rows: slice | list[int] = slice(int(words))
            subset_words = self.words[: int(words)]
        else:
            listed = [words] if isinstance(words, str) else check_list("words", words, "words", ordered=False)
            rows = list(dict.fromkeys(map(self.index, listed)))
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
        self, words: Sequence[str], matrix: np.ndarray, *, counts: Sequence[int] | None = None
    ) -> "Vectors":
        """New Vectors with more words at the end; the original is unchanged, and words that it has keep their vectors.

        Arguments:
            matrix: (words, dim), a row for each of `words`.
            counts: occurrences of the new words; without them the result has no counts.

        Raises:
            SettingError: a word is listed twice, or a vector holds NaN or infinity.
            ValueError: shapes do not match.
        """
        addition = type(self)(words, matrix, counts=counts).check_finite()
        # By spelling alone: "King" is new where there is only "king".
        is_new = np.array([self.word_list.find(word) is None for word in addition.words], dtype=bool)
        rows = np.concatenate([self.matrix, addition.matrix[is_new]])
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
        file_format.write(self, path, format=format, force=force, counts=counts, **options)

    @refuse_unknown
    def most_similar(
        self,
        positive: search.Query,
        negative: search.Query = (),
        *,
        top: Positive = 10,
        restrict: Positive | None = None,
        exclude: Collection[str] = (),
        index: Index | str | os.PathLike[str] | None = None,
        method: SearchMethod = "cosine",
        others: "HasVectors | Vectors | None" = None,
    ) -> search.Neighbours:
        """The words nearest to a weighted sum of unit vectors, each with its cosine, nearest first.

        Query words are never among the results. Ties go to the more frequent word.

        Arguments:
            positive: a word, an array (dim,), or a list of either. A pair such as ("king", 0.5) weights one. The
                vectors of words are normalised, arrays are not (as in gensim).
            negative: the same, subtracted.
            top: number of results.
            restrict: search only the N most frequent words. In Python None searches all.
            exclude: further words to leave out of the results.
            index: an index of these vectors, the path of one, or a kind with its settings to build now, such as
                "lsh:bits=512". None compares with every word. Saved indexes of FAISS are loaded with `load_index`.
            method: how results are scored: cosine, or csls, which lowers the scores of hubs: words that are near to
                many others.
            others: with csls, the vectors that queries come from, if they come from another space mapped onto this one
                (see `align`): then their words decide which words are hubs.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `method` is unknown, `top` or `restrict` is below 1, the query is empty, an array has the
                wrong length, or the index belongs to other vectors.
        """
        row, excluded_rows = search.sum_terms(self, positive, negative)
        excluded_rows += [self.index(word) for word in search.word_list(self, exclude) if word in self]
        return search.nearest(self, [(row, excluded_rows)], top, restrict, index, method, others)[0]

    @refuse_unknown
    def most_similar_many(
        self,
        queries: Iterable[search.Query],
        *,
        top: int = 10,
        restrict: int | None = None,
        index: Index | str | os.PathLike[str] | None = None,
        method: SearchMethod = "cosine",
        others: "HasVectors | Vectors | None" = None,
    ) -> list[search.Neighbours]:
        """`most_similar` for each query, searched as one batch."""
        check_search(top, restrict)
        sums = [search.sum_terms(self, query, ()) for query in check_list("queries", queries, "queries")]
        return search.nearest(self, sums, top, restrict, index, method, others) if sums else []

    @refuse_unknown
    def analogy(
        self,
        a: str,
        b: str,
        c: str,
        *,
        method: Literal["3cosadd", "3cosmul"] = "3cosadd",
        top: int = 10,
        restrict: int | None = None,
    ) -> search.Neighbours:
        """The words that are to c as b is to a, best first; a, b and c are not among them.

        3cosadd scores by cos(x, b - a + c) of unit vectors (Mikolov et al., 2013); 3cosmul multiplies and
        divides cosines shifted to [0, 1] (Levy and Goldberg, 2014).

        Arguments:
            method: add or multiply cosines.
            top, restrict: as in `most_similar`.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `method` is unknown, or `top` or `restrict` is below 1.
        """
        check_value("method", method, Literal["3cosadd", "3cosmul"], {})
        if method == "3cosadd":
            return self.most_similar([b, c], [a], top=top, restrict=restrict)
        excluded_rows = [self.index(word) for word in (a, b, c) if word in self]
        ids, scores = search_multiplicative(
            self.unit_rows, self[[a, b, c]], top, restrict=restrict, exclude=excluded_rows
        )
        return search.label_rows(self, ids, scores)

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words, -1 to 1; 0 where a vector is zero."""
        return cosine.cosine(self._vector(a), self._vector(b))

    @refuse_unknown
    def n_similarity(self, words_a: Sequence[str], words_b: Sequence[str]) -> float:
        """The cosine of the means of two lists of words, whose vectors are not normalised first (as in gensim).

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: a list is empty.
        """
        a, b = (self.get_mean_vector(words, normalize=False) for words in (words_a, words_b))
        return cosine.cosine(a, b)

    @refuse_unknown
    def get_mean_vector(self, words: Sequence[str], *, normalize: bool = True) -> np.ndarray:
        """The mean vector (dim,) float32 of words.

        Arguments:
            normalize: bring each vector to length one first.

        Raises:
            UnknownWordError: a word has no vector (gensim leaves such words out).
            SettingError: there are no words.
        """
        return np.asarray(search.word_rows(self, words, normalize=normalize).mean(axis=0), dtype=np.float32)

    def doesnt_match(self, words: Sequence[str]) -> str:
        """The word furthest, by cosine, from the mean of the unit vectors of all; the first of several that tie.

        Raises:
            UnknownWordError: a word has no vector (gensim leaves such words out).
            SettingError: there are no words.
        """
        words = search.word_list(self, words)
        rows = search.word_rows(self, words, normalize=True)
        return str(words[int((rows * cosine.normalize(rows.mean(axis=0))).sum(axis=1).argmin())])

    def distances(self, word: str | np.ndarray, others: Sequence[str] | None = None) -> np.ndarray:
        """1 - cosine of a word, or an array (dim,), to each of `others` or to all words in order; (others,) float64.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: an array has the wrong length.
        """
        query = search.query_row(self, word)
        if others is None:
            cosines = pair_cosines(self.unit_rows, np.arange(len(self)), cosine.normalize(query))
        else:
            rows = cosine.normalize(self[search.word_list(self, others, ordered=True)])
            cosines = np.clip((rows * cosine.normalize(query)).sum(axis=1), -1, 1)
        return np.asarray(1 - cosines)

    def closer_than(self, a: str, b: str) -> list[str]:
        """The words nearer to a than b is, in order of frequency, without a itself.

        Raises:
            UnknownWordError: a word has no vector.
        """
        return [self.words[row] for row in np.flatnonzero(self._is_closer(a, b)).tolist()]

    def _is_closer(self, a: str, b: str) -> np.ndarray:
        """Whether each word is nearer to a than b is, (words,); not a itself."""
        from embeddings.indexes.exact import products  # imports numba

        row, other, query = self.index(a), self.index(b), cosine.normalize(self[a])
        # float32 decides all but the close calls, and float64 those, so that equal rows rank alike on every machine.
        rough = products(self.unit_rows, query.astype(np.float32)[None])[0]
        margin = product_error(self.unit_rows)
        closer = rough > rough[other] + margin
        close_calls = np.flatnonzero(np.abs(rough - rough[other]) <= margin)
        cosines = pair_cosines(self.unit_rows, np.append(close_calls, other), query)
        closer[close_calls] = cosines[:-1] > cosines[-1]
        closer[row] = False
        return np.asarray(closer)

    def rank(self, a: str, b: str) -> int:
        """The rank of b among the neighbours of a: 1 for the nearest; equally near words share the best rank.

        Raises:
            UnknownWordError: a word has no vector.
        """
        return int(self._is_closer(a, b).sum()) + 1


def as_vectors(source: Any) -> Vectors:
    """`source` if it is Vectors, or the vectors of a model."""
    vectors = getattr(source, "vectors", source)
    if not isinstance(vectors, Vectors):
        raise SettingError(f"expected Vectors or a Model, such as embeddings.load returns, got {source!r:.80}")
    return vectors
