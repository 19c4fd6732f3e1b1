"""Word analogies: is d the answer to "a is to b as c is to what"?

3CosAdd takes the word nearest to b - a + c (Mikolov et al., 2013), 3CosMul the word with the largest
cos(x, b) cos(x, c) / cos(x, a), cosines shifted to 0..1 (Levy and Goldberg, 2014).

The 19,544 questions of the Google set are made of some 550 pairs of words, so they are far from independent. The
bootstrap therefore resamples pairs: a question counts as often as its first pair is drawn times how often its second
is.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations, zip_longest
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.statistics.confidence_intervals import Interval, bootstrap_weights, divide_or_nan, wilson
from embeddings.eval.statistics.results import BinaryScores, Comparison, Key, Resampled, bootstrap_test
from embeddings.eval.tasks.evaluation_kind import METHODS, AnalogyMethod, Halved, Kind, Subject, several
from embeddings.eval.test_sets import ALL, check_found, line_error, locate, read_lines, rows_of_half, set_name
from embeddings.settings import Positive
from embeddings.support.imports import import_library

SYNTACTIC = "gram"  # prefix of Google's syntactic sections
ANSWERS = ".answers"
MAX_QUESTIONS = 2_000_000  # of a set; a BATS file has a question for every ordered pair of its lines


@dataclass
class Questions:
    """Questions "a is to b as c is to what", the correct answers to each, and its section.

    Arguments:
        sections: names of sections; `section_of` holds an index into it for each question.
        kinds: the kind of each section, such as "semantic"; None for no kind.
    """

    name: str
    sections: list[str] = field(default_factory=list)
    kinds: list[str | None] = field(default_factory=list)
    questions: list[tuple[str, str, str]] = field(default_factory=list)
    answers: list[tuple[str, ...]] = field(default_factory=list)
    section_of: list[int] = field(default_factory=list)
    half: str = ALL

    def select(self, half: str) -> "Questions":
        """The questions of a half, by their three words and first answer; see `embeddings.eval.test_sets`."""
        items = ((*question, answers[0]) for question, answers in zip(self.questions, self.answers, strict=True))
        part = Questions(self.name, half=half)
        for row in rows_of_half(items, half, self.name):
            section = self.section_of[row]
            part.begin_section(self.sections[section], self.kinds[section])
            part.add(self.questions[row], self.answers[row])
        return part

    def begin_section(self, section: str, kind: str | None) -> None:
        """Add the questions that follow to this section, which may exist already."""
        if (section, kind) not in zip(self.sections, self.kinds, strict=True):
            self.sections.append(section)
            self.kinds.append(kind)
        self.current = list(zip(self.sections, self.kinds, strict=True)).index((section, kind))

    def add(self, question: tuple[str, str, str], answers: tuple[str, ...]) -> None:
        """Add a question to the current section."""
        self.questions.append(question)
        self.answers.append(answers)
        self.section_of.append(self.current)

    def pairs(self) -> np.ndarray:
        """The numbers of the two word pairs that make each question, (questions, 2), without regard to case."""
        numbers: dict[tuple[str, str], int] = {}
        pairs = np.empty((len(self.questions), 2), np.int64)
        for row, ((a, b, c), answers) in enumerate(zip(self.questions, self.answers, strict=True)):
            for side, pair in enumerate(((a.upper(), b.upper()), (c.upper(), answers[0].upper()))):
                pairs[row, side] = numbers.setdefault(pair, len(numbers))
        return pairs


def read_questions(name: str | os.PathLike[str]) -> Questions:
    """An analogy set by name or path, in one of three formats, which the number of words in the first line decides.

    Four words (Google): a, b, c and the answer; a line ": section" begins a section. Three words (MSR): a, b and c; the
    same line of a second file, whose ending is ".answers", holds the section and the answer. Two words (BATS): a word
    and its partners, "word TAB one/other"; every ordered pair of lines is a question, asked with the first partner and
    answered by any. A folder of BATS files is a set with one section per file.
    """
    folder = Path(name)
    if folder.is_dir():
        test = Questions(folder.name)
        for path in sorted(path for path in folder.rglob("*.txt") if not path.name.startswith(".")):
            kind = None if path.parent == folder else re.sub(r"^\d+[ _]*", "", path.parent.name).replace("_", " ")
            read_bats(path, test, kind)
    else:
        path = locate(name)
        test = Questions(set_name(name))
        words = next((len(line.split()) for _, line in read_lines(path) if not line.startswith(":")), 0)
        {3: read_msr, 2: read_bats}.get(words, read_google)(path, test)
    check_found(test.questions, name, "analogy questions")
    return test


def read_google(path: Path, test: Questions) -> None:
    """Add lines of four words, in semantic and syntactic sections or in none."""
    for number, line in read_lines(path):
        words = line.split()
        if line.startswith(":"):
            section = line[1:].strip()
            test.begin_section(section, "syntactic" if section.startswith(SYNTACTIC) else "semantic")
            continue
        if len(words) != 4:
            raise line_error(path, number, "four words", line)
        if not test.sections:
            test.begin_section(test.name, None)
        test.add((words[0], words[1], words[2]), (words[3],))


def read_msr(path: Path, test: Questions) -> None:
    """Add lines of three words, with sections and answers in a second file."""
    lines = zip_longest(read_lines(path), read_lines(path.with_suffix(ANSWERS)), fillvalue=(0, ""))
    for (number, line), (other_number, answer_line) in lines:
        words, answer = line.split(), answer_line.split()
        if (len(words), len(answer)) != (3, 2):
            expected = f"three words, and a section and an answer in {path.stem}{ANSWERS}"
            raise line_error(path, number or other_number, expected, f"{line.strip()} and {answer_line.strip()}")
        test.begin_section(answer[0], None)
        test.add((words[0], words[1], words[2]), (answer[1],))


def read_bats(path: Path, test: Questions, kind: str | None = None) -> None:
    """Add a question for each ordered pair of lines, which hold a word and its partners."""
    pairs = []
    for number, line in read_lines(path):
        words = line.split("\t") if "\t" in line else line.split()
        partners = tuple(filter(None, (word.strip() for word in words[-1].split("/"))))
        if len(words) != 2 or not words[0].strip() or not partners:
            raise line_error(path, number, "a word and its partners", line)
        pairs.append((words[0].strip(), partners))
    # checked before they are made: their number is the square of that of lines
    count = len(test.questions) + len(pairs) * (len(pairs) - 1)
    if count > MAX_QUESTIONS:
        raise FormatError(f"{path} holds {count:,} questions (pairs of lines); at most {MAX_QUESTIONS:,} are allowed")
    if len(pairs) > 1:
        test.begin_section(path.stem, kind)
    for (a, partners), (c, answers) in permutations(pairs, 2):
        test.add((a, partners[0], c), answers)


WORD_PAIRS = "paired bootstrap over word pairs"


@dataclass(frozen=True, kw_only=True)
class AnalogyScores(BinaryScores):
    """Questions that are answered correctly or not; `pairs` (questions, 2) numbers the two word pairs of each."""

    pairs: np.ndarray
    test: str = WORD_PAIRS

    def interval(self, counted: np.ndarray) -> Interval:
        """The bootstrap over pairs; where all or none are correct, Wilson's, as if there were one question per pair."""
        correct, pairs = self.correct[counted], self.pairs[counted]
        # resamples of equal values are all equal, which would give an interval without width
        if correct.all() or not correct.any():
            independent = min(len(correct), len(np.unique(pairs)))
            return wilson(independent if correct.all() else 0, independent)
        return bootstrap_test(*resampled_means(correct, pairs))[0]

    def resampled_on(self, items: np.ndarray) -> Resampled:
        """The share of correct questions, and in each resample of the word pairs."""
        correct = self.correct[items]
        return Resampled(float(correct.mean()), *resampled_means(correct, self.pairs[items]))

    def compare_on(self, both: np.ndarray, other: BinaryScores) -> Comparison:
        """A paired test on some of the questions."""
        correct, others = self.correct[both].astype(np.float64), other.correct[both]
        interval, p = bootstrap_test(*resampled_means(correct - others, self.pairs[both]))
        values = correct.mean(), others.mean()
        return self.comparison(other, values, interval, items=len(correct), p=p, test=self.test)


def resampled_means(gains: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, int]:
    """The mean of `gains` (questions,) in each resample of their `pairs`, and the number of different pairs.

    The mean is NaN where no question is drawn.
    """
    csr_array = import_library("scipy.sparse").csr_array

    distinct, number = np.unique(pairs, return_inverse=True)
    count, places = len(distinct), tuple(number.reshape(-1, 2).T)
    numerator, denominator = (
        csr_array((values, places), shape=(count, count)) for values in (gains.astype(np.float64), np.ones(len(gains)))
    )
    sums = [[((table @ w.T) * w.T).sum(axis=0) for table in (numerator, denominator)] for w in bootstrap_weights(count)]
    return divide_or_nan(*np.concatenate(sums, axis=1)), count


PROTOCOL = (
    "case is ignored, and of words that differ in case alone the most frequent is used; a question is left out if one "
    "of its three words or all of its correct answers lack a vector; a, b, c and their case variants are never "
    "answers; of several correct answers any one counts; a tie goes to the more frequent word; a question that occurs "
    "twice counts twice; interval: bootstrap over the word pairs that questions are made of (where all or none are "
    "correct Wilson's, with one item per pair)"
)
NOT_COVERED = "no question has vectors for all four words"


def score_analogy(subject: Subject, test: Questions) -> list[AnalogyScores]:
    """Which questions are answered correctly, for each method and restriction: by section, by kind, and all.

    Like gensim's `evaluate_word_analogies`, except that gensim considers only five candidates: if all five are case
    variants of a, b and c, gensim counts a miss, but this function takes the next candidate.
    """
    from embeddings.eval.tasks.analogy_search import score_questions  # imports numba

    folding, n_words, methods = subject.folding, len(subject.vectors), subject.settings.method
    rows = folding.find(word for question in test.questions for word in question).reshape(-1, 3)
    counts = np.array([len(answers) for answers in test.answers])
    # questions have different numbers of answers: a table filled with -1, which is no row, compares them at once
    answers = np.full((len(counts), counts.max()), -1)  # rows of the correct answers to each question
    answers[np.arange(counts.max()) < counts[:, None]] = folding.find(chain.from_iterable(test.answers))
    pairs = test.pairs()
    limits: dict[int, int | None] = {}  # number of remaining words -> restriction; drops duplicates
    for one in subject.settings.restrict:
        limits.setdefault(n_words if one is None else min(one, n_words), one)
    covered = []
    for end in limits:  # which questions have their three words and an answer among the first words
        has_words, has_answer = ((part >= 0) & (part < end) for part in (rows, answers))
        covered.append(np.asarray(has_words.all(axis=1) & has_answer.any(axis=1)))
    is_asked = np.logical_or.reduce(covered)
    correct = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    correct[:, :, is_asked] = score_questions(
        subject.vectors.unit_rows, rows[is_asked], answers[is_asked], folding, list(limits), methods
    )
    scores: list[AnalogyScores] = []
    for method, by_limit in zip(methods, correct, strict=True):
        for limit, with_vectors, hits in zip(limits.values(), covered, by_limit, strict=True):
            key = Key(test.name, "accuracy", restrict=limit, method=method, half=test.half)
            whole = AnalogyScores(
                vectors=subject.name,
                key=key,
                covered=with_vectors,
                correct=hits & with_vectors,
                members=np.ones(len(rows), dtype=bool),
                pairs=pairs,
                protocol=PROTOCOL,
                absent=NOT_COVERED,
            )
            scores += [whole.section(label, members, is_detail=detail) for label, members, detail in sections(test)]
    return scores


def sections(test: Questions) -> Iterator[tuple[str | None, np.ndarray, bool]]:
    """Each section, each kind and the whole: its name, its questions (questions,) bool, and whether it is a detail."""
    section_of = np.array(test.section_of)
    if len(test.sections) > 1 or test.kinds != [None]:
        yield from ((section, section_of == number, True) for number, section in enumerate(test.sections))
    for kind in dict.fromkeys(test.kinds):
        if kind is not None:
            yield kind, np.array([one == kind for one in test.kinds])[section_of], False
    yield None, np.ones(len(section_of), dtype=bool), False


@dataclass(frozen=True, kw_only=True)
class AnalogySettings(Halved):
    """How analogies are answered; see `embeddings.evaluate`."""

    method: Sequence[str] = several(METHODS[:1], AnalogyMethod)
    restrict: Sequence[int | None] = several((None, 30000), Positive | None, {"all": None})


KIND = Kind(
    name="analogy",
    metavar="NAME|FILE...",
    read=lambda test, settings: read_questions(test),
    score=score_analogy,
    settings=AnalogySettings,
    options={"method": "METHOD...", "restrict": "N|all...", "half": "HALF"},
)
