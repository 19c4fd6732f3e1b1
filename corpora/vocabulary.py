"""The words of a corpus with their counts, in frequency order, and what training draws from the counts."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError, EmbeddingsError, FormatError, SettingError
from embeddings.support.arrow_arrays import array, joined, numbers, strings
from embeddings.support.files import replacing
from embeddings.support.word_list import Words

TOTAL = b"total"


class UnknownWordError(EmbeddingsError, KeyError):
    """A word that a vocabulary does not hold."""


class Vocabulary:
    """Words, most frequent first; equal counts by word, in code point order.

    >>> import embeddings as em
    >>> vocabulary = em.Vocabulary.from_counts({"cat": 2, "the": 5, "a": 2})
    >>> list(vocabulary), vocabulary.index("cat"), vocabulary.total
    (['the', 'a', 'cat'], 2, 9)

    words: distinct strings, or a pyarrow string array of them, which becomes a list only when `words` is
    asked for. counts: occurrences of each. total: tokens of the corpus, out of the vocabulary ones included;
    the sum of the counts if not given.

    Raises:
        SettingError: lengths differ, counts are negative or rise, or the total is less than their sum.
    """

    def __init__(self, words: Any, counts: Any, *, total: int | None = None) -> None:
        self.counts: NDArray[np.int64] = np.asarray(counts, np.int64)
        self.column: Any = words if hasattr(words, "to_pylist") else list(words)
        self.tokens = int(self.counts.sum())
        self.total = self.tokens if total is None else int(total)
        if self.counts.shape != (len(self.column),):
            raise SettingError(f"{len(self.column)} words have {self.counts.size} counts")
        if np.any(self.counts < 0) or np.any(np.diff(self.counts) > 0):
            raise SettingError("counts must not be negative and must not rise from word to word")
        if self.total < self.tokens:
            raise SettingError(f"a total of {self.total} is less than the sum of the counts, {self.tokens}")

    @classmethod
    def from_counts(
        cls,
        words: Mapping[str, int] | Iterable[str],
        counts: Iterable[int] | None = None,
        *,
        total: int | None = None,
    ) -> "Vocabulary":
        """A vocabulary from words in any order: a mapping to counts, or words and their counts.

        Raises:
            SettingError: as the class, or a word occurs twice.
        """
        pairs = list(words.items() if isinstance(words, Mapping) else zip(words, counts or (), strict=True))
        pairs.sort(key=lambda pair: (-pair[1], pair[0]))
        made = cls([word for word, _ in pairs], [count for _, count in pairs], total=total)
        if len(made.ids) < len(made):
            raise SettingError("a word occurs twice")
        return made

    @cached_property
    def names(self) -> Words:
        """The words as vectors of them take them, so that lists and dictionaries of them are made once."""
        return Words(self.column, distinct=True)

    @property
    def words(self) -> Sequence[str]:
        """The words, most frequent first."""
        return self.names.listed

    @property
    def ids(self) -> dict[str, int]:
        """The place of each word."""
        return self.names.rows

    def __len__(self) -> int:
        return len(self.column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return self.names.find(word) is not None

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} words, {self.tokens} of {self.total} tokens>"

    def index(self, word: str) -> int:
        """The place of a word, 0 for the most frequent.

        Raises:
            UnknownWordError: it is not in the vocabulary (a KeyError too).
        """
        row = self.names.find(word)
        if row is None:
            raise UnknownWordError(f"{word!r} is not among the {len(self)} words of the vocabulary")
        return row

    def merge(self, other: "Vocabulary") -> "Vocabulary":
        """The words of both, counts and totals added."""
        import pyarrow

        parts = [pyarrow.table({"word": strings(v.column), "count": array(v.counts)}) for v in (self, other)]
        table = pyarrow.concat_tables(parts).group_by("word").aggregate([("count", "sum")])
        table = table.sort_by([("count_sum", "descending"), ("word", "ascending")])
        words, counts = joined(table.column("word")), numbers(joined(table.column("count_sum")))
        return Vocabulary(words, counts, total=self.total + other.total)

    def select(self, *, min_count: int = 1, max_vocab: int | None = None) -> "Vocabulary":
        """The words that occur `min_count` times or more, at most the first `max_vocab`: a prefix of this.

        Raises:
            CorpusError: nothing is left; the message has the highest count.
            SettingError: `max_vocab` is less than 1.
        """
        if max_vocab is not None and max_vocab < 1:
            raise SettingError(f"max-vocab must be at least 1, not {max_vocab}")
        if not len(self):
            raise CorpusError("the vocabulary is empty")
        size = int(np.searchsorted(-self.counts, -min_count, side="right"))
        if not size:
            top = f"{self.column[:1][0]!s}"
            raise CorpusError(
                f"no word occurs {min_count} times: the most frequent is {top!r} with {self.counts[0]}; "
                "lower --min-count"
            )
        size = size if max_vocab is None else min(size, max_vocab)
        return Vocabulary(self.column[:size], self.counts[:size], total=self.total)

    def keep_probabilities(self, sample: float) -> NDArray[np.float32]:
        """The chance of each word to outlive sub-sampling (V,): min(1, sqrt(t/f) + t/f); ones for t = 0.

        t is `sample`, f the word's share of the tokens in the vocabulary. This is the rule of the word2vec
        program, which keeps a little more than equation 5 of Mikolov et al. (2013b).

        Raises:
            SettingError: `sample` is negative or no number.
        """
        if not sample >= 0:
            raise SettingError(f"sample must be 0 or more, not {sample}")
        if sample == 0:
            return np.ones(len(self), np.float32)
        ratio = sample * self.tokens / np.maximum(self.counts, 1)
        return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)

    def noise_weights(self, exponent: float) -> NDArray[np.float64]:
        """The chance of each word to be drawn as noise (V,): count ** exponent over the sum of these.

        Raises:
            SettingError: the weights are not finite.
        """
        weights = self.counts.astype(np.float64) ** exponent
        total = weights.sum()
        if not (np.isfinite(total) and total > 0):
            raise SettingError(f"noise exponent {exponent} gives no usable weights")
        shares: NDArray[np.float64] = weights / total
        return shares

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write an Arrow IPC file: columns word and count, the total in the schema's metadata.

        Raises:
            OutputError: the file exists and `force` is not given, or cannot be written.
        """
        import pyarrow

        table = pyarrow.table({"word": strings(self.column), "count": array(self.counts)})
        table = table.replace_schema_metadata({TOTAL: str(self.total)})
        with replacing(path, force=force) as fresh, fresh.open("wb") as sink:
            writer = pyarrow.ipc.new_file(sink, table.schema)
            writer.write_table(table)
            writer.close()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """The vocabulary of a file that `save` wrote.

        Raises:
            FormatError: the file is missing, broken or not a vocabulary.
        """
        import pyarrow

        try:
            with pyarrow.OSFile(str(path), "rb") as source:
                table = pyarrow.ipc.open_file(source).read_all()
            table.validate(full=True)
        except (OSError, pyarrow.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise FormatError(f"{path} is not a readable vocabulary file: {reason}") from error
        try:
            return cls(*columns(table), total=total_of(table))
        except (SettingError, ValueError) as error:
            raise FormatError(f"{Path(path)} is not a vocabulary file: {error}") from error


def ranked(words: Any, counts: NDArray[np.int64]) -> tuple[Vocabulary, NDArray[np.int32]]:
    """Words in any order, a pyarrow array, as a vocabulary; and the place in it of each (words,)."""
    import pyarrow
    import pyarrow.compute

    table = pyarrow.table({"word": words, "count": array(counts)})
    order = pyarrow.compute.sort_indices(table, [("count", "descending"), ("word", "ascending")])
    table = table.take(order)
    rank = np.empty(len(words), np.int32)
    rank[numbers(order)] = np.arange(len(words), dtype=np.int32)
    return Vocabulary(joined(table.column("word")), numbers(joined(table.column("count")))), rank


def columns(table: Any) -> tuple[Any, NDArray[np.int64]]:
    """The words, as one array, and the counts of a vocabulary's table.

    Raises:
        ValueError: columns are missing, of other types, hold nulls, or a word occurs twice.
    """
    import pyarrow
    import pyarrow.compute

    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    if types.get("word") not in ("string", "large_string") or types.get("count") != "int64":
        raise ValueError(f"it needs the columns word (string) and count (int64), and has {types}")
    words, counts = (joined(table.column(name)) for name in ("word", "count"))
    if words.null_count or counts.null_count:
        raise ValueError("a word or count is missing")
    if pyarrow.compute.count_distinct(words).as_py() != len(words):
        raise ValueError("a word occurs twice")
    return words, numbers(counts)


def total_of(table: Any) -> int:
    """The total in the metadata of a vocabulary's table.

    Raises:
        ValueError: it is missing or no number.
    """
    found = (table.schema.metadata or {}).get(TOTAL)
    if found is None:
        raise ValueError("its metadata has no total")
    return int(found)
