"""The words of a corpus with their counts, sorted by frequency, and probabilities derived from them."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError, EmbeddingsError, FormatError, OutputError, S, SettingError
from embeddings.settings import Positive
from embeddings.support import arrow
from embeddings.support.files import atomic_write, check_file
from embeddings.support.foreign_files import check_no_stream, format_errors
from embeddings.support.local_paths import local_path
from embeddings.support.text_lines import read_text_lines
from embeddings.support.word_list import MAX_SUM, WordList, as_counts, sum_counts

TOTAL = b"total"
VocabularyRule = Callable[[str, int], bool | None]  # of a word and its count

LINE = re.compile(r"(.*[^ \t])[ \t]+([0-9]{1,18})")
EXTENSIONS = (".arrow", ".txt")
ARROW_MAGIC = b"ARROW1"
IN_MODEL = "vocabulary.arrow"  # the file in the folder of a saved model


def frequency_order(words: Any, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of words (words,) by falling count; words of equal counts are in the order of UTF-8 bytes."""
    table = arrow.pa.table({"word": words, "count": arrow.to_arrow(counts)})
    rows = arrow.pc.sort_indices(table, [("count", "descending"), ("word", "ascending")])
    return arrow.to_numpy(rows).astype(np.int64)


class UnknownWordError(EmbeddingsError, KeyError):
    """A word is not in the vocabulary.

    Arguments:
        message: one line.
        hint: returns the end of the message. It is called when the message is shown: a search for similar spellings
            goes through all words, and most of these errors are caught.
    """

    def __init__(self, message: str = "", hint: Callable[[], str] = str) -> None:
        super().__init__(message)
        self.hint = hint

    def message_with(self, shown: Callable[[str, str | None], str]) -> str:
        """The message with its hint; see `EmbeddingsError`."""
        self.marked_message, self.hint = self.marked_message + self.hint(), str
        return super().message_with(shown)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.marked_message + self.hint(),)


class Vocabulary:
    """Words sorted by descending frequency; words with equal counts are sorted by code points.

    >>> import embeddings as em
    >>> vocabulary = em.corpora.Vocabulary.from_counts({"cat": 2, "the": 5, "a": 2})
    >>> list(vocabulary), vocabulary.index("cat"), vocabulary.total
    (['the', 'a', 'cat'], 2, 9)

    Arguments:
        words: distinct strings, or a pyarrow string array, which is converted to a list only if `words` is accessed.
        counts: the number of occurrences of each word.
        total: the number of tokens of the corpus, including words outside the vocabulary; by default, the sum of the
            counts.

    Raises:
        SettingError: the lengths differ, counts are negative or not descending, the total is less than their sum, or
            a number does not fit an int64.
    """

    def __init__(self, words: Any, counts: Any, *, total: int | None = None) -> None:
        self.counts: NDArray[np.int64] = as_counts(counts)
        self.column: Any = words if hasattr(words, "to_pylist") else list(words)
        self.tokens = sum_counts(self.counts)
        self.total = self.tokens if total is None else int(total)
        if self.counts.shape != (len(self.column),) or (self.counts < 0).any() or (np.diff(self.counts) > 0).any():
            problem = f"descending and not negative, one for each of {len(self.column)} words"
            raise SettingError(f"counts must be {problem}, got {self.counts.size} counts")
        if not self.tokens <= self.total <= MAX_SUM:
            raise SettingError(f"total must be from {self.tokens}, the sum of counts, to {MAX_SUM}, got {self.total}")

    @classmethod
    def from_counts(
        cls,
        words: Mapping[str, int] | Iterable[str],
        counts: Iterable[int] | None = None,
        *,
        total: int | None = None,
    ) -> "Vocabulary":
        """Create a vocabulary from a mapping of words to counts, or from words and counts, in any order.

        Raises:
            SettingError: as the class, or a word occurs twice.
        """
        pairs = list(words.items() if isinstance(words, Mapping) else zip(words, counts or (), strict=True))
        # equal counts by code points: the order must not depend on the order in which words were counted
        pairs.sort(key=lambda pair: (-pair[1], pair[0]))
        vocabulary = cls([word for word, _ in pairs], [count for _, count in pairs], total=total)
        if len(vocabulary.ids) < len(vocabulary):
            raise SettingError("a word occurs twice")
        return vocabulary

    @cached_property
    def word_list(self) -> WordList:
        """The words as a `WordList`, which vectors can share."""
        return WordList(self.column, distinct=True)

    @property
    def words(self) -> Sequence[str]:
        """The words, most frequent first."""
        return self.word_list.words

    @property
    def ids(self) -> dict[str, int]:
        """The row of each word."""
        return self.word_list.rows

    def __len__(self) -> int:
        return len(self.column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return self.word_list.find(word) is not None

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} words, {self.tokens} of {self.total} tokens>"

    def index(self, word: str) -> int:
        """Return the row of a word, 0 for the most frequent.

        Raises:
            UnknownWordError: the word is not in the vocabulary (also a KeyError).
        """
        row = self.word_list.find(word)
        if row is None:
            raise UnknownWordError(f"{word!r} is not among the {len(self)} words of the vocabulary")
        return row

    def merge(self, other: "Vocabulary") -> "Vocabulary":
        """Return the union of two vocabularies, with counts and totals added.

        Raises:
            SettingError: a sum does not fit an int64.
        """
        sum_counts(np.concatenate([self.counts, other.counts]))  # numpy adds without a check for overflow
        columns = [arrow.to_string_array(one.column) for one in (self, other)]
        words, counts, _ = add_up_words(arrow.pa.concat_arrays(columns), np.concatenate([self.counts, other.counts]))
        merged, _ = rank_by_frequency(words, counts)
        return Vocabulary(merged.column, merged.counts, total=self.total + other.total)

    def select(
        self,
        *,
        min_count: Positive = 1,
        max_vocab: Positive | None = None,
        min_documents: int = 1,
        documents: NDArray[np.int64] | None = None,
        rule: VocabularyRule | None = None,
    ) -> "Vocabulary":
        """Return the words with at least `min_count` occurrences, but only the `max_vocab` most frequent ones.

        Arguments:
            min_count: drop words that occur less often.
            max_vocab: keep only the N most frequent words.
            min_documents: the minimum number of documents that contain a word.
            documents: the number of documents that contain each word, (V,).
            rule: a function of a word and its count: True selects the word whatever its counts are, False drops it,
                None leaves the decision to the counts.

        Raises:
            CorpusError: no words are left; the message has the highest count.
            SettingError: the rule returns something else.
        """
        if min_documents > 1 or rule is not None:
            is_selected = word_mask(self, min_count, min_documents, documents, rule)
            words = arrow.to_string_array(self.column).filter(arrow.to_arrow(is_selected))
            selected = Vocabulary(arrow.combine_chunks(words), self.counts[is_selected], total=self.total)
            return selected.select(max_vocab=max_vocab)
        # counts are in falling order, negated they ascend
        size = int(np.searchsorted(-self.counts, -min_count, side="right"))
        if not size:
            most = f"the most frequent is {str(self.column[0])!r} with {self.counts[0]}" if len(self) else "it is empty"
            raise CorpusError(f"no word occurs at least {min_count} times: {most}; lower {S.min_count}")
        size = size if max_vocab is None else min(size, max_vocab)
        return Vocabulary(self.column[:size], self.counts[:size], total=self.total)

    def keep_probabilities(self, subsample: float) -> NDArray[np.float32]:
        """Return the probability (V,) that subsampling keeps each word: min(1, sqrt(t/f) + t/f); ones for t = 0.

        t is `subsample`, f the frequency of the word relative to all tokens in the vocabulary. This is the rule of the
        word2vec program, which keeps slightly more than equation 5 of Mikolov et al. (2013b).
        """
        if subsample == 0:
            return np.ones(len(self), np.float32)
        # words of a given vocabulary may have a count of 0
        ratio = subsample * self.tokens / np.maximum(self.counts, 1)
        return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)

    def noise_weights(self, exponent: float) -> NDArray[np.float64]:
        """Return the probability (V,) of each word as a negative sample: count ** exponent, normalised.

        Raises:
            SettingError: the weights are not finite.
        """
        weights = self.counts.astype(np.float64) ** exponent
        total = weights.sum()
        if not (np.isfinite(total) and total > 0):
            problem = f"draws no negative samples: their weights add up to {total} for {self.tokens} tokens"
            raise SettingError(f"{S.noise_exponent(exponent)} {problem}")
        probabilities: NDArray[np.float64] = weights / total
        return probabilities

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write an Arrow IPC file with the columns word and count, and the total in the schema metadata.

        Raises:
            OutputError: the file exists and `force` is false, or cannot be written.
        """
        table = arrow.pa.table({"word": arrow.to_string_array(self.column), "count": arrow.to_arrow(self.counts)})
        table = table.replace_schema_metadata({TOTAL: str(self.total)})
        with atomic_write(path, force=force) as temporary:
            arrow.write_table(table, temporary)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read a file that `save` wrote.

        Raises:
            FormatError: the file is missing, broken or not a vocabulary.
        """
        check_no_stream(Path(path))
        table = arrow.read_table(Path(path), "vocabulary file")
        try:  # KeyError: a column is missing, or occurs twice
            words, counts = (arrow.combine_chunks(table.column(name)) for name in ("word", "count"))
            if words.null_count or counts.null_count or arrow.pc.count_distinct(words).as_py() != len(words):
                raise ValueError("a word or count is missing, or a word occurs twice")
            counts = arrow.to_numpy(counts.cast(arrow.pa.int64()))
            return cls(arrow.to_string_array(words), counts, total=int(table.schema.metadata[TOTAL]))
        except (ValueError, KeyError, TypeError, arrow.pa.ArrowException) as error:
            raise FormatError(f"{Path(path)} is not a vocabulary file: {' '.join(str(error).split())}") from error


def word_mask(
    vocabulary: Vocabulary,
    min_count: int,
    min_documents: int,
    documents: NDArray[np.int64] | None,
    rule: VocabularyRule | None,
) -> NDArray[np.bool_]:
    """Return a mask of the words that `Vocabulary.select` selects, (V,)."""
    is_selected = vocabulary.counts >= min_count
    if min_documents > 1:
        assert documents is not None, "min_documents requires documents"
        is_selected &= documents >= min_documents
    if rule is not None:
        for row, (word, count) in enumerate(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)):
            verdict = rule(word, count)
            if verdict is not None and not isinstance(verdict, bool | np.bool_):
                raise SettingError(f"vocabulary_rule must return True, False or None, got {verdict!r:.80} for {word!r}")
            is_selected[row] = is_selected[row] if verdict is None else verdict
    if not is_selected.any():
        most = "" if documents is None else f"; no word is in more than {documents.max(initial=0)} documents"
        limits = f"{S.min_count(min_count)}, {S.min_documents(min_documents)}" + " and the rule" * (rule is not None)
        raise CorpusError(f"no word is left by {limits}{most}")
    return np.asarray(is_selected)


def add_up_words(words: Any, counts: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct words of a pyarrow array, the sums of their counts, and the row of each word among them."""
    encoded = words.dictionary_encode()
    # `np.bincount` with weights would add in float64, which is not exact above 2^53
    rows, sums = arrow.to_numpy(encoded.indices).astype(np.int32), np.zeros(len(encoded.dictionary), np.int64)
    np.add.at(sums, rows, counts)
    return encoded.dictionary, sums, rows


def rank_by_frequency(words: Any, counts: NDArray[np.int64]) -> tuple[Vocabulary, NDArray[np.int32]]:
    """Return the vocabulary of words (a pyarrow array, in any order), and the row (words,) of each word in it."""
    order = frequency_order(words, counts)
    # the inverse of the order: the place of each word in it
    rank = np.empty(len(words), np.int32)
    rank[order] = np.arange(len(words), dtype=np.int32)
    return Vocabulary(arrow.combine_chunks(words.take(arrow.to_arrow(order))), counts[order]), rank


def read_vocabulary_file(path: str | os.PathLike[str]) -> Vocabulary:
    """Read the vocabulary of an Arrow file, of a saved model, or of a text file.

    Lines of a text file are `word count`, separated by spaces or a tab, in any order; blank lines are skipped.
    """
    # the content decides, since a text file may have any ending
    source = local_path(path)
    if source.is_dir():
        return Vocabulary.load(source / IN_MODEL)
    with format_errors(f"{source} (vocabulary)"), source.open("rb") as stream:
        head = stream.read(len(ARROW_MAGIC))
    return Vocabulary.load(source) if head == ARROW_MAGIC else read_text(source)


def read_text(path: Path) -> Vocabulary:
    """Read a vocabulary of a text file."""
    counts: dict[str, int] = {}
    for number, line in enumerate(read_text_lines(path, "vocabulary"), 1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line.rstrip(" \t\r"))
        if not match or match[1] in counts:
            expected = f"the word {match[1]!r} once" if match else "a word and its count"
            raise FormatError(f"{path}, line {number}: expected {expected}, got {line!r:.40}")
        counts[match[1]] = int(match[2])
    try:
        return Vocabulary.from_counts(counts)
    except SettingError as error:
        raise FormatError(f"{path} is not a vocabulary file: {error}") from None


def check_vocabulary_path(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if a vocabulary can be written there."""
    if Path(path).suffix.lower() not in EXTENSIONS:
        raise OutputError(f"a vocabulary file must end in {' or '.join(EXTENSIONS)}, got {path}")
    return check_file(path, force=force)


def write_vocabulary_file(vocabulary: Vocabulary, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a vocabulary as Arrow or, if the path ends in .txt, as lines of `word count`, most frequent first."""
    target = check_vocabulary_path(path, force=force)
    if target.suffix.lower() == ".arrow":
        vocabulary.save(target, force=force)
        return
    with atomic_write(target, force=force) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for word, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True):
            if not word or "\n" in word or word != word.strip() or word.startswith("\ufeff"):
                raise SettingError(f"the word {word!r} cannot be written to a text file; write an .arrow file")
            stream.write(f"{word} {count}\n")
