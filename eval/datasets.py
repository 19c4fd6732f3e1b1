"""Test sets, by name or from files: word pairs with ratings, and analogy questions in sections."""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite
from pathlib import Path

from embeddings.errors import FormatError

SHIPPED = {"wordsim353": "wordsim353.txt", "google-analogies": "questions-words.txt"}
FROM_GENSIM = {"simlex999": "simlex999.txt"}
SYNTACTIC = "gram"


@dataclass(frozen=True)
class Pairs:
    """Word pairs and how alike people find them. Pairs that stand twice are kept twice."""

    name: str
    pairs: list[tuple[str, str]]
    ratings: list[float]


@dataclass(frozen=True)
class Questions:
    """Questions "a is to b as c is to d", each with the section it belongs to (a place in `sections`)."""

    name: str
    sections: list[str]
    questions: list[tuple[str, str, str, str]]
    section_of: list[int]


def names() -> dict[str, str]:
    """The test sets known by name, and which kind each is: "similarity" or "analogy"."""
    return {"wordsim353": "similarity", "simlex999": "similarity", "google-analogies": "analogy"}


def locate(name: str | os.PathLike[str]) -> Path:
    """The file of a test set: a path, or else one of `names()`. A file wins over a set of the same name.

    Raises:
        FormatError: there is neither a file nor a set of this name.
    """
    path = Path(name)
    if path.is_file():
        return path
    if str(name) in SHIPPED:
        return Path(str(files("embeddings.eval").joinpath("data", SHIPPED[str(name)])))
    if str(name) in FROM_GENSIM:
        from gensim.test.utils import datapath

        return Path(datapath(FROM_GENSIM[str(name)]))
    if path.is_dir():
        raise FormatError(f"{name} is a folder, not a test set")
    raise FormatError(f"no test set {str(name)!r}: no such file, nor one of {', '.join(sorted(names()))}")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers; comments (#) and empty lines are passed over.

    Raises:
        FormatError: the file cannot be read or is not UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise FormatError(f"{path}, line {number}: not UTF-8") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip("\r\n")


def read_pairs(name: str | os.PathLike[str]) -> Pairs:
    """A similarity set: lines of two words and a rating, between tabs, commas or white space.

    The first line that is no comment settles which, and may be a heading (its third field is no number).

    Raises:
        FormatError: no such set, or a line without two words and a finite rating; its number is said.
    """
    path = locate(name)
    pairs: list[tuple[str, str]] = []
    ratings: list[float] = []
    separator, first = None, True
    for number, line in lines(path):
        if first:
            separator = next((mark for mark in "\t," if mark in line), None)
        fields = [field.strip() for field in split(line, separator)]
        if len(fields) != 3 or not (fields[0] and fields[1]):
            raise FormatError(f"{path}, line {number}: two words and a rating are needed, not {line.strip()!r:.80}")
        rating = as_number(fields[2])
        if rating is not None:
            pairs.append((fields[0], fields[1]))
            ratings.append(rating)
        elif not first:
            raise FormatError(f"{path}, line {number}: the rating {fields[2]!r} is not a number")
        first = False
    if not pairs:
        raise FormatError(f"{path} holds no word pairs")
    return Pairs(label(name), pairs, ratings)


def split(line: str, separator: str | None) -> list[str]:
    """The fields of a line; quotes count where commas separate."""
    return next(csv.reader([line])) if separator == "," else line.split(separator)


def as_number(field: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(field)
    except ValueError:
        return None
    return value if isfinite(value) else None


def read_questions(name: str | os.PathLike[str]) -> Questions:
    """An analogy set in Google's format: ": section" lines, and lines of four words between white space.

    Raises:
        FormatError: no such set, a line of other than four words, or a question before the first section; the
            number of the line is said.
    """
    path = locate(name)
    found = Questions(label(name), [], [], [])
    for number, line in lines(path):
        words = line.split()
        if line.startswith(":"):
            found.sections.append(line[1:].strip())
        elif len(words) != 4:
            raise FormatError(f"{path}, line {number}: four words are needed, not {line.strip()!r:.80}")
        elif not found.sections:
            raise FormatError(f"{path}, line {number}: a question before the first ': section' line")
        else:
            found.questions.append((words[0], words[1], words[2], words[3]))
            found.section_of.append(len(found.sections) - 1)
    if not found.questions:
        raise FormatError(f"{path} holds no analogy questions")
    return found


def label(name: str | os.PathLike[str]) -> str:
    """What results call a set: its name, or that of its file without the ending."""
    return str(name) if str(name) in names() else Path(name).stem
