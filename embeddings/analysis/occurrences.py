"""Where words occur in an encoded corpus, and which words are near them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import SettingError
from embeddings.support.arrow import pc, to_numpy
from embeddings.support.suggestions import close_matches

Unit = Literal["document", "line"]
CHUNK = 1 << 24  # tokens that are searched at a time: 64 MB
MAX_WINDOW = MAX_WIDTH = 10_000  # words, characters
MAX_NEIGHBOURS = 1 << 22  # of occurrences that are gathered at a time


@dataclass(frozen=True)
class Occurrences:
    """The occurrences of a word, or of several consecutive words, in an encoded corpus.

    words: the words as the corpus has them, or patterns of words. positions: (occurrences,) int64, of the first word in
    `EncodedCorpus.ids`, in rising order.
    """

    encoded: EncodedCorpus
    words: tuple[str, ...]
    positions: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def of(cls, encoded: EncodedCorpus, text: str) -> "Occurrences":
        """Find a word, or consecutive words of one sentence, as typed; * in a word stands for any characters.

        Raises:
            UnknownWordError: a word does not occur in the corpus; the message suggests similar spellings.
            SettingError: the text has only patterns that match every word.
        """
        words = terms_of(encoded, text)
        positions = positions_of(encoded.ids, [ids_of(encoded, word) for word in words], len(encoded.vocabulary))
        size = len(words)
        if size > 1:
            positions = positions[sentence_of(encoded, positions) == sentence_of(encoded, positions + size - 1)]
        return cls(encoded, words, positions)

    @property
    def sentences(self) -> NDArray[np.int64]:
        """The number of the sentence of each occurrence, from 0."""
        return sentence_of(self.encoded, self.positions)

    def near(self, other: "Occurrences", window: int) -> "Occurrences":
        """The occurrences with an occurrence of `other` that begins within `window` words, in the same sentence.

        The occurrence itself does not count, so that a word can be near the same word.
        """
        starts, ends = self.bounds(window)
        found = np.searchsorted(other.positions, ends) - np.searchsorted(other.positions, starts)
        # what the window counts within the occurrence itself, such as the same word, is subtracted again
        inside = np.searchsorted(other.positions, self.positions + len(self.words))
        found -= inside - np.searchsorted(other.positions, self.positions)
        return Occurrences(self.encoded, self.words, self.positions[found > 0])

    def bounds(self, window: int, unit: Unit = "line") -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first position of the window around each occurrence and the one after its last, within units of text."""
        units, borders = self.sentences, np.asarray(self.encoded.sentences)
        if unit == "document":
            units, borders = document_of(self.encoded, units), borders[self.encoded.documents]
        starts = np.maximum(self.positions - window, borders[units])
        ends = np.minimum(self.positions + len(self.words) + window, borders[units + 1])
        return starts, ends

    def count_contexts(self, window: int) -> NDArray[np.int64]:
        """How often each word of the corpus is within `window` words of an occurrence, int64 (types,)."""
        counts = np.zeros(len(self.encoded.vocabulary), np.int64)
        starts, ends = self.bounds(window)
        size = len(self.words)
        offsets = np.concatenate([np.arange(-window, 0), np.arange(size, size + window)])
        step = max(1, MAX_NEIGHBOURS // (2 * window))
        for begin in range(0, len(self), step):
            part = slice(begin, begin + step)
            positions = self.positions[part, None] + offsets
            is_inside = (positions >= starts[part, None]) & (positions < ends[part, None])
            ids = self.encoded.ids[positions[is_inside]]
            counts += np.bincount(ids[ids < len(counts)], minlength=len(counts))
        return counts


def word_form(encoded: EncodedCorpus) -> WordForm:
    """The conversion of typed words to the form that they have in a corpus."""
    return WordForm.recorded({**encoded.meta["settings"], "phrases": encoded.meta.get("phrases")}) or WordForm()


def words_of(encoded: EncodedCorpus, text: str) -> tuple[str, ...]:
    """The words of a text, as typed, in the form that they have in a corpus: one word or phrase, or several words.

    Raises UnknownWordError if a word does not occur in the corpus.
    """
    vocabulary, form = encoded.vocabulary, word_form(encoded)
    for word in (text, form(text)):
        if word in vocabulary:
            return (word,)
    words = tuple(form.words(text))
    for word in words:
        if word not in vocabulary:
            close = close_matches(word, vocabulary.word_list)
            hint = f"; did you mean {', '.join(close)}?" if close else ""
            raise UnknownWordError(f"{word!r} does not occur in the corpus{hint}")
    return words


def terms_of(encoded: EncodedCorpus, text: str) -> tuple[str, ...]:
    """The words and patterns of a text, as typed, in the form that they have in a corpus."""
    if "*" not in text or text in encoded.vocabulary:
        return words_of(encoded, text)
    terms: list[str] = []
    rules = word_form(encoded).rules
    for part in text.split():
        pattern = "*".join(letters and rules.normalize_one(letters) for letters in part.split("*"))
        terms += [pattern] if "*" in part else words_of(encoded, part)
    if not any(term.strip("*") for term in terms):
        raise SettingError(f"{text!r} matches every word: write some letters of the word, as in 'embed*'")
    return tuple(terms)


def ids_of(encoded: EncodedCorpus, term: str) -> NDArray[np.int64]:
    """The ids of the words that a word or pattern means, (words,); a lone * also means unknown words."""
    vocabulary = encoded.vocabulary
    if term in vocabulary:
        return np.array([vocabulary.ids[term]], np.int64)
    if not term.strip("*"):
        return np.arange(len(vocabulary) + 1)
    pattern = "(?s)^" + ".*".join(map(re.escape, term.split("*"))) + "$"
    matches = pc.match_substring_regex(vocabulary.column, pattern)
    ids = to_numpy(pc.indices_nonzero(matches)).astype(np.int64)
    if not len(ids):
        raise UnknownWordError(f"no word of the corpus matches {term!r}")
    return ids


def positions_of(ids: NDArray[np.int32], terms: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """The positions (occurrences,) at which consecutive ids match consecutive terms, each a set of ids.

    Arguments:
        size: the number of words of the vocabulary, the id of words outside it.
    """
    tables = [np.isin(np.arange(size + 1), term) if len(term) > 1 else None for term in terms]
    parts = [np.zeros(0, np.int64)]
    for begin in range(0, len(ids) - len(terms) + 1, CHUNK):
        count = min(CHUNK, len(ids) - len(terms) + 1 - begin)
        is_match = np.ones(count, np.bool_)
        for offset, (term, table) in enumerate(zip(terms, tables, strict=True)):
            part = ids[begin + offset : begin + offset + count]
            is_match &= part == term[0] if table is None else table[part]
        parts.append(np.flatnonzero(is_match) + begin)
    return np.concatenate(parts)


def document_of(encoded: EncodedCorpus, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the document (sentences,) that each sentence is in."""
    return np.asarray(np.searchsorted(encoded.documents, sentences, side="right") - 1)


def sentence_of(encoded: EncodedCorpus, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the sentence (positions,) that each position is in; empty sentences have none."""
    return np.asarray(np.searchsorted(encoded.sentences, positions, side="right") - 1)
