"""Part-of-speech tagging with frozen vectors: logistic regression on the window of vectors around each word.

A window concatenates the vectors of a word and its neighbours, each with two flags: the word has no vector; the
position is outside of the sentence. Where either is set the vector is zero. Vectors are first whitened over the words
of the training text, so that no linear transformation of them changes the outcome. The classifier sees nothing else:
no spelling, no case, no other tags.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError
from embeddings.eval.statistics.results import BinaryScores, ItemScores, Key, Measurement
from embeddings.eval.tasks import linear_classifier
from embeddings.eval.tasks.evaluation_kind import Kind, KindSettings, Subject
from embeddings.eval.test_sets import SHIPPED_TAGGING, check_found, line_error, read_lines, shipped_file
from embeddings.eval.word_matching import look_up
from embeddings.settings import Range
from embeddings.vectors.vectors import Vectors

FIELDS = 10  # of a line of CoNLL-U
FORM, UPOS = 1, 3
ID = re.compile(r"\d+([-.]\d+)?")  # of a word, a multiword token, or an empty node


@dataclass(frozen=True)
class TaggedText:
    """Words and their tags; `ends` (sentences,) holds the index after each sentence's last word."""

    words: list[str]
    tags: list[str]
    ends: np.ndarray

    @property
    def sentence_of(self) -> np.ndarray:
        """The sentence of each word, (words,) int64."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))


@dataclass(frozen=True)
class TaggingSet:
    """A text to train a tagger on and a text to test it on."""

    name: str
    train: TaggedText
    test: TaggedText


def read_tagging_set(name: str | os.PathLike[str]) -> TaggingSet:
    """A tagging set by name ("ud-ewt"), as two files "TRAIN,TEST", or as the folder of a UD treebank."""
    folder, parts, title = Path(name), str(name).split(","), None
    if folder.is_dir():
        files = [path for part in ("train", "test") for path in folder.iterdir() if f"-{part}.conllu" in path.name]
    elif str(name) in SHIPPED_TAGGING:
        files, title = list(map(shipped_file, SHIPPED_TAGGING[str(name)])), str(name)
    else:
        files = [Path(part) for part in parts if part]
    if len(files) != 2:
        choices = f"{', '.join(sorted(SHIPPED_TAGGING))}, TRAIN,TEST, or a folder with *-train.conllu and *-test.conllu"
        raise FormatError(f"unknown tagging set {str(name)!r}: give {choices}")
    train, test = files
    return TaggingSet(title or test.name.split(".")[0], read_tagged(train), read_tagged(test))


def read_tagged(path: Path) -> TaggedText:
    """The sentences of a file, compressed or not; empty lines separate sentences.

    Of CoNLL-U the words with integer ids are read, with their universal tags: a contraction counts as the words it
    stands for, and empty nodes are skipped. In the two-column format a line is a word, a tab and its tag.
    """
    words: list[str] = []
    tags: list[str] = []
    ends = [0]
    for word, tag in [*iter_words(path), ("", "")]:
        if word:
            words.append(word)
            tags.append(tag)
        elif len(words) > ends[-1]:
            ends.append(len(words))
    check_found(words, path, "tagged words")
    return TaggedText(words, tags, np.array(ends[1:]))


def iter_words(path: Path) -> Iterator[tuple[str, str]]:
    """Each word with its tag, and two empty strings at the end of a sentence."""
    lines = list(read_lines(path, keep_all=True))
    columns = FIELDS if any(line.count("\t") == FIELDS - 1 for _, line in lines) else 2
    for number, line in lines:
        fields = line.split("\t")
        if not line.strip():
            yield "", ""
        elif line.startswith("#") and (columns == FIELDS or len(fields) == 1):
            continue
        elif len(fields) != columns or (columns == FIELDS and not ID.fullmatch(fields[0])):
            raise line_error(
                path, number, "ten columns of CoNLL-U, the first a word id, or a word, a tab and its tag", line
            )
        elif columns == 2 or fields[0].isdecimal():
            word, tag = fields if columns == 2 else (fields[FORM], fields[UPOS])
            if not word.strip() or tag.strip() in ("", "_"):
                raise line_error(path, number, "a word and its tag", line)
            yield word, tag.strip()


WITH_VECTOR, WITHOUT_VECTOR = "words with a vector", "words without a vector"
PROTOCOL = (
    "logistic regression (L2 penalty, C = 1) on the vectors of the word and of {window} words to either side, whitened "
    "over the training words; a word is looked up as written, then in lower case, and has zeros and a flag if there is "
    "no vector; the value is over all words, with or without a vector; ties are broken by class name; "
    "macro-F1: the mean over tags; interval of the accuracy: bootstrap over sentences"
)


def score_tagging(subject: Subject, test: TaggingSet) -> list[ItemScores]:
    """Which words of the test text are tagged correctly: by tag, with and without a vector, and all (section None).

    The order: accuracy by tag, by coverage, the two scores of the majority baseline, macro-F1, accuracy (last).
    """
    name, window = subject.name, subject.settings.window
    table = WordTable.of(subject.vectors, test)
    train_tags = sorted(set(test.train.tags))
    tags = train_tags + sorted(set(test.test.tags) - set(train_tags))
    code = {tag: number for number, tag in enumerate(tags)}
    train_codes, test_codes = (np.array([code[tag] for tag in text.tags]) for text in (test.train, test.test))
    covered = table.has_vector[table.rows(test.test)]
    parts = {"training text": table.rows(test.train), "test text": table.rows(test.test)}
    absent = [part for part, rows in parts.items() if not table.has_vector[rows].any()]
    reason = f"no word of the {absent[0]} has a vector" if absent else None
    guess, note = np.full(len(test_codes), linear_classifier.NO_LABEL), None
    if reason is None:
        classifier = linear_classifier.train_classifier(table.windows(test.train, window), train_codes, len(train_tags))
        guess = classifier.predict(table.windows(test.test, window))
        note = None if classifier.has_converged else linear_classifier.NOT_CONVERGED
    whole = BinaryScores(
        vectors=name, key=Key(test.name, "accuracy", method=f"window {window}"), correct=guess == test_codes,
        covered=covered, members=np.ones(len(test_codes), dtype=bool), over_all=True, clusters=test.test.sentence_of,
        protocol=PROTOCOL.format(window=window), reason=reason, note=note,
    )  # fmt: skip
    by_tag = whole.by_class(tags, test_codes)[:-1]
    by_coverage = [whole.section(WITH_VECTOR, covered), whole.section(WITHOUT_VECTOR, ~covered)]
    macro = Measurement(
        vectors=name, key=Key(test.name, "macro-f1", method=f"window {window}"), covered=int(covered.sum()),
        value=None if reason else linear_classifier.macro_f1(test_codes, guess), total=len(covered),
        protocol=whole.protocol, reason=reason, note=note,
    )  # fmt: skip
    most_frequent = np.full(len(test_codes), np.bincount(train_codes).argmax())
    majority = linear_classifier.majority_scores(name, test.name, test_codes, most_frequent)
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
        return cls(
            row_of, linear_classifier.whiten(matrix, counts) * has_vector[:, None].astype(np.float32), has_vector
        )

    def rows(self, text: TaggedText) -> NDArray[np.int64]:
        """The row of each word, (words,)."""
        return np.array([self.row_of[word] for word in text.words], dtype=np.int64)

    def windows(self, text: TaggedText, window: int) -> linear_classifier.Windows:
        """The window of each word; the last row of the table stands for positions outside of the sentence."""
        outside = len(self.matrix)
        flags = np.zeros((outside + 1, 2), dtype=np.float32)
        flags[:outside, 0], flags[outside, 1] = ~self.has_vector, 1
        table = np.hstack([np.vstack([self.matrix, np.zeros_like(self.matrix[:1])]), flags])
        sentence = np.pad(text.sentence_of, window, constant_values=-1)
        rows = np.pad(self.rows(text), window, constant_values=outside)
        # padding shifts positions by `window`, so that a window begins at the number of its word
        positions = np.arange(len(text.words))[:, None] + np.arange(2 * window + 1)
        is_inside = sentence[positions] == text.sentence_of[:, None]
        return linear_classifier.Windows(table, np.where(is_inside, rows[positions], outside))


@dataclass(frozen=True, kw_only=True)
class TaggingSettings(KindSettings):
    """The words that the classifier sees; see `embeddings.evaluate`."""

    window: Annotated[int, Range(ge=0, le=50)] = 2


KIND = Kind(
    name="tagging",
    metavar="NAME|FOLDER|TRAIN,TEST...",
    read=lambda test, settings: read_tagging_set(test),
    score=score_tagging,
    settings=TaggingSettings,
    options={"window": "N"},
)
