"""Analogy questions in the formats of Google, MSR and BATS."""

import os
import re
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.test_sets import ALL, line_error, locate, read_lines, rows_of_half, set_name

METHODS = ("3cosadd", "3cosmul", "pairdirection")  # of answering questions; see `measures.analogy`
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
        if (section, kind) in zip(self.sections, self.kinds, strict=True):
            self.current = self.sections.index(section)
            return
        self.current = len(self.sections)
        self.sections.append(section)
        self.kinds.append(kind)

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
    if not test.questions:
        raise FormatError(f"{name} contains no analogy questions")
    return test


def read_google(path: Path, test: Questions) -> None:
    """Add lines of four words, in semantic and syntactic sections or in none."""
    if not any(line.startswith(":") for _, line in read_lines(path)):
        test.begin_section(test.name, None)
    for number, line in read_lines(path):
        words = line.split()
        if line.startswith(":"):
            section = line[1:].strip()
            test.begin_section(section, "syntactic" if section.startswith(SYNTACTIC) else "semantic")
        elif len(words) != 4:
            raise line_error(path, number, "four words", line)
        elif not test.sections:
            raise FormatError(f"{path}, line {number}: a question before the first ': section' line")
        else:
            test.add((words[0], words[1], words[2]), (words[3],))


def read_msr(path: Path, test: Questions) -> None:
    """Add lines of three words, with sections and answers in a second file."""
    answers_path = path.with_suffix(ANSWERS)
    if answers_path == path or not answers_path.is_file():
        raise FormatError(f"{path} has lines of three words, but the file of answers {answers_path.name} is missing")
    questions, answers = list(read_lines(path)), list(read_lines(answers_path))
    if len(questions) != len(answers):
        raise FormatError(f"{path} has {len(questions)} questions, but {answers_path} has {len(answers)} answers")
    for (number, line), (answer_number, answer_line) in zip(questions, answers, strict=True):
        words, answer = line.split(), answer_line.split()
        if len(words) != 3:
            raise line_error(path, number, "three words", line)
        if len(answer) != 2:
            raise line_error(answers_path, answer_number, "a section and an answer", answer_line)
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
    count = len(test.questions) + len(pairs) * (len(pairs) - 1)
    if count > MAX_QUESTIONS:
        raise FormatError(f"{path} holds {count:,} questions (pairs of lines); at most {MAX_QUESTIONS:,} are allowed")
    if len(pairs) > 1:
        test.begin_section(path.stem, kind)
    for (a, partners), (c, answers) in permutations(pairs, 2):
        test.add((a, partners[0], c), answers)
