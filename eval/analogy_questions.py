"""Analogy questions: Google's format, that of MSR, and that of BATS."""

import os
import re
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.datasets import label, lines, locate

METHODS = ("3cosadd", "3cosmul", "pairdirection")  # by which they are answered
SYNTACTIC = "gram"
ANSWERS = ".answers"
MOST = 2_000_000  # questions of a set; of BATS, a square of what the file holds


@dataclass
class Questions:
    """Questions "a is to b as c is to what", the right answers to each, and the section it belongs to.

    Arguments:
        sections: their names; `section_of` holds a place in them for each question.
        kinds: what each section is of, such as "semantic"; None for no kind.
    """

    name: str
    sections: list[str] = field(default_factory=list)
    kinds: list[str | None] = field(default_factory=list)
    questions: list[tuple[str, str, str]] = field(default_factory=list)
    answers: list[tuple[str, ...]] = field(default_factory=list)
    section_of: list[int] = field(default_factory=list)

    def begin(self, section: str, kind: str | None) -> None:
        """Questions that are added from now on belong to this section; one that was there before is taken up again."""
        if (section, kind) in zip(self.sections, self.kinds, strict=True):
            self.current = self.sections.index(section)
            return
        self.current = len(self.sections)
        self.sections.append(section)
        self.kinds.append(kind)

    def add(self, three: tuple[str, str, str], answers: tuple[str, ...]) -> None:
        """Add a question to the section that was begun last."""
        self.questions.append(three)
        self.answers.append(answers)
        self.section_of.append(self.current)

    def pairs(self) -> np.ndarray:
        """The numbers of the two pairs that each question is made of, (questions, 2); case does not count."""
        number: dict[tuple[str, str], int] = {}
        found = np.empty((len(self.questions), 2), np.int64)
        for place, ((a, b, c), answers) in enumerate(zip(self.questions, self.answers, strict=True)):
            for side, pair in enumerate(((a.upper(), b.upper()), (c.upper(), answers[0].upper()))):
                found[place, side] = number.setdefault(pair, len(number))
        return found


def read_questions(name: str | os.PathLike[str]) -> Questions:
    """An analogy set, in one of three forms told by the number of words in its first line.

    Four words (Google's): a, b, c and the answer; lines ": section" part them. Three (MSR's): a, b and c; the section
    and the answer stand in the same line of a file beside, whose name ends in ".answers" instead. Two (BATS's): a word
    and its partners, "word TAB one/other": each two lines make a question, to which all partners are right answers, but
    it is asked with the first. A folder of such files, as that of BATS, is a set with a section for each.

    Raises:
        FormatError: no such set, no questions, a line with another number of words (its number is said), or more than
            two million questions.
    """
    folder = Path(name)
    if folder.is_dir():
        found = Questions(folder.name)
        for path in sorted(path for path in folder.rglob("*.txt") if not path.name.startswith(".")):
            kind = None if path.parent == folder else re.sub(r"^\d+[ _]*", "", path.parent.name).replace("_", " ")
            read_partners(path, found, kind)
    else:
        path = locate(name)
        found = Questions(label(name))
        first = next((len(line.split()) for _, line in lines(path) if not line.startswith(":")), 0)
        {3: read_msr, 2: read_partners}.get(first, read_google)(path, found)
    if not found.questions:
        raise FormatError(f"{name} holds no analogy questions")
    return found


def read_google(path: Path, found: Questions) -> None:
    """Lines of four words, in sections of two kinds; or without any sections."""
    sectioned = any(line.startswith(":") for _, line in lines(path))
    if not sectioned:
        found.begin(found.name, None)
    for number, line in lines(path):
        words = line.split()
        if line.startswith(":"):
            section = line[1:].strip()
            found.begin(section, "syntactic" if section.startswith(SYNTACTIC) else "semantic")
        elif len(words) != 4:
            raise FormatError(f"{path}, line {number}: four words are needed, not {line.strip()!r:.80}")
        elif not found.sections:
            raise FormatError(f"{path}, line {number}: a question before the first ': section' line")
        else:
            found.add((words[0], words[1], words[2]), (words[3],))


def read_msr(path: Path, found: Questions) -> None:
    """Lines of three words, with sections and answers in a file beside."""
    beside = path.with_suffix(ANSWERS)
    if beside == path or not beside.is_file():
        raise FormatError(f"{path} has lines of three words, and the answers are not beside it in {beside.name}")
    questions, answers = list(lines(path)), list(lines(beside))
    if len(questions) != len(answers):
        raise FormatError(f"{path} has {len(questions)} questions, but {beside} has {len(answers)} answers")
    for (number, line), (place, told) in zip(questions, answers, strict=True):
        words, answer = line.split(), told.split()
        if len(words) != 3:
            raise FormatError(f"{path}, line {number}: three words are needed, not {line.strip()!r:.80}")
        if len(answer) != 2:
            raise FormatError(f"{beside}, line {place}: a section and an answer are needed, not {told.strip()!r:.80}")
        found.begin(answer[0], None)
        found.add((words[0], words[1], words[2]), (answer[1],))


def read_partners(path: Path, found: Questions, kind: str | None = None) -> None:
    """Lines of a word and its partners; each ordered two of them make a question."""
    pairs = []
    for number, line in lines(path):
        words = line.split("\t") if "\t" in line else line.split()
        partners = tuple(filter(None, (word.strip() for word in words[-1].split("/"))))
        if len(words) != 2 or not words[0].strip() or not partners:
            raise FormatError(f"{path}, line {number}: a word and its partners are needed, not {line.strip()!r:.80}")
        pairs.append((words[0].strip(), partners))
    count = len(found.questions) + len(pairs) * (len(pairs) - 1)
    if count > MOST:
        raise FormatError(f"{path} makes {count:,} questions of each two lines; {MOST:,} are allowed")
    if len(pairs) > 1:
        found.begin(path.stem, kind)
    for (a, partners), (c, answers) in permutations(pairs, 2):
        found.add((a, partners[0], c), answers)
