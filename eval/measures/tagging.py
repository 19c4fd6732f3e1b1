"""Part-of-speech tagging with frozen vectors: logistic regression on the window of vectors around each word.

A window concatenates the vectors of a word and its neighbours, each with two flags: the word has no vector; the
position is outside of the sentence. Where either is set the vector is zero. Vectors are first whitened over the words
of the training text, so that no linear transformation of them changes the outcome. The classifier sees nothing else:
no spelling, no case, no other tags.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import SettingError
from embeddings.eval.datasets.tagged_text import TaggedText, TaggingSet
from embeddings.eval.measures.majority_scores import macro_f1, majority_scores
from embeddings.eval.measures.window_classifier import NOT_CONVERGED, Windows, train_classifier, whiten
from embeddings.eval.measures.word_matching import look_up
from embeddings.eval.statistics.item_scores import BinaryScores, ItemScores, Measurement
from embeddings.eval.statistics.results import Key
from embeddings.vectors.vectors import Vectors

WINDOW = 2
MAX_WINDOW = 50
NO_TAG = -1
WITH_VECTOR, WITHOUT_VECTOR = "words with a vector", "words without a vector"
PROTOCOL = (
    "logistic regression (L2 penalty, C = 1) on the vectors of the word and of {window} words to either side, whitened "
    "over the training words; a word is looked up as written, then in lower case, and has zeros and a flag if there is "
    "no vector; the value is over all words, with or without a vector; of classes that tie the first by name; "
    "macro-F1: the mean over tags; interval of the accuracy: bootstrap over sentences"
)


def check_window(window: int) -> int:
    """The window, if it is in range."""
    if not 0 <= window <= MAX_WINDOW:
        raise SettingError(f"window must be in [0, {MAX_WINDOW}], got {window}")
    return window


def score_tagging(vectors: Vectors, test: TaggingSet, *, name: str, window: int = WINDOW) -> list[ItemScores]:
    """Which words of the test text are tagged correctly: by tag, with and without a vector, and all (section None).

    Macro-F1 over tags, and both scores of the most frequent tag of the training text, stand before the last one.
    """
    check_window(window)
    table = WordTable.of(vectors, test)
    train_tags = sorted(set(test.train.tags))
    tags = train_tags + sorted(set(test.test.tags) - set(train_tags))
    code = {tag: number for number, tag in enumerate(tags)}
    train_codes, test_codes = (np.array([code[tag] for tag in text.tags]) for text in (test.train, test.test))
    covered = table.has_vector[table.rows(test.test)]
    parts = {"training text": table.rows(test.train), "test text": table.rows(test.test)}
    absent = [part for part, rows in parts.items() if not table.has_vector[rows].any()]
    reason = f"no word of the {absent[0]} has a vector" if absent else None
    guess, note = np.full(len(test_codes), NO_TAG), None
    if reason is None:
        classifier = train_classifier(table.windows(test.train, window), train_codes, len(train_tags))
        guess = classifier.predict(table.windows(test.test, window))
        note = None if classifier.has_converged else NOT_CONVERGED
    whole = BinaryScores(
        vectors=name, key=Key(test.name, "accuracy", method=f"window {window}"), correct=guess == test_codes,
        covered=covered, members=np.ones(len(test_codes), dtype=bool), over_all=True, clusters=test.test.sentence_of,
        protocol=PROTOCOL.format(window=window), reason=reason, note=note,
    )  # fmt: skip
    by_tag = whole.by_class(tags, test_codes)[:-1]
    by_coverage = [whole.section(WITH_VECTOR, covered), whole.section(WITHOUT_VECTOR, ~covered)]
    macro = Measurement(
        vectors=name, key=Key(test.name, "macro-f1", method=f"window {window}"), covered=int(covered.sum()),
        value=None if reason else macro_f1(test_codes, guess), total=len(covered), protocol=whole.protocol,
        reason=reason, note=note,
    )  # fmt: skip
    most_frequent = np.full(len(test_codes), np.bincount(train_codes).argmax())
    majority = majority_scores(name, test.name, test_codes, most_frequent)
    return [*by_tag, *(part for part in by_coverage if part.members.any()), *majority, macro, whole]


@dataclass(frozen=True)
class WordTable:
    """The distinct words of a set: the row of each, their vectors `matrix` (words, dim), and `has_vector` (words,)."""

    row_of: dict[str, int]
    matrix: np.ndarray
    has_vector: NDArray[np.bool_]

    @classmethod
    def of(cls, vectors: Vectors, test: TaggingSet) -> "WordTable":
        """The words of both texts, whitened over the training text."""
        row_of = {word: row for row, word in enumerate(dict.fromkeys(test.train.words + test.test.words))}
        matrix, has_vector = look_up(vectors, row_of)
        rows = [row_of[word] for word in test.train.words]
        counts = np.bincount(rows, minlength=len(row_of)) * has_vector
        return cls(row_of, whiten(matrix, counts) * has_vector[:, None].astype(np.float32), has_vector)

    def rows(self, text: TaggedText) -> NDArray[np.int64]:
        """The row of each word, (words,)."""
        return np.array([self.row_of[word] for word in text.words], dtype=np.int64)

    def windows(self, text: TaggedText, window: int) -> Windows:
        """The window of each word; the last row of the table stands for positions outside of the sentence."""
        outside = len(self.matrix)
        flags = np.zeros((outside + 1, 2), dtype=np.float32)
        flags[:outside, 0], flags[outside, 1] = ~self.has_vector, 1
        table = np.hstack([np.vstack([self.matrix, np.zeros_like(self.matrix[:1])]), flags])
        sentence = np.pad(text.sentence_of, window, constant_values=-1)
        rows = np.pad(self.rows(text), window, constant_values=outside)
        positions = np.arange(len(text.words))[:, None] + np.arange(2 * window + 1)
        is_inside = sentence[positions] == text.sentence_of[:, None]
        return Windows(table, np.where(is_inside, rows[positions], outside))
