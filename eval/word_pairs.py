"""Word pairs with ratings, in any of the layouts in which similarity sets are published."""

import csv
import os
import re
from dataclasses import dataclass
from math import isfinite

from embeddings.errors import FormatError
from embeddings.eval.datasets import label, lines, locate

# Headings of the column of ratings in published sets, without case, spaces and signs.
RATINGS = {
    *("rating", "score", "similarity", "relatedness", "simlex999", "simlex", "humanmean", "human", "mean", "average"),
    *("avg", "gold", "goldscore", "goldstandard", "averagescore", "averagerating", "meanscore", "meanrating"),
    *("humanscore", "humanrating", "similarityscore", "relatednessscore", "meanhumanscore", "meanrelatedness"),
}
FIRST = re.compile(r"(word|term)[ _-]?(1|a|one|i)?$|w1$", re.IGNORECASE)
SECOND = re.compile(r"(word|term)[ _-]?(2|b|two|ii)$|w2$", re.IGNORECASE)


@dataclass(frozen=True)
class Pairs:
    """Word pairs and how alike people find them. Pairs that stand twice are kept twice."""

    name: str
    pairs: list[tuple[str, str]]
    ratings: list[float]


def read_pairs(name: str | os.PathLike[str]) -> Pairs:
    """A similarity set: lines of two words and a rating, in any of the layouts in which such sets are published.

    Tabs, commas, semicolons or white space stand between fields; the first line that is no comment settles which.
    A heading names the column of ratings (`RATINGS`), and those of the words (word1, word2 and the like) unless they
    are the first two. Without one the rating is the first number after the two words, so that single ratings of many
    people, or a relation, may follow the mean, and a part of speech stand before it.

    Raises:
        FormatError: no such set, no telling which column holds the rating, or a line without two words and a finite
            rating; its number is said.
    """
    path = locate(name)
    pairs: list[tuple[str, str]] = []
    ratings: list[float] = []
    layout: Columns | None = None
    for number, line in lines(path):
        if layout is None:
            layout = columns(line, f"{path}, line {number}")
            if layout.heading:
                continue
        fields = split(line, layout.separator, f"{path}, line {number}")
        if not layout.fits(fields):
            raise FormatError(f"{path}, line {number}: two words and a rating are needed, not {line.strip()!r:.80}")
        rating = as_number(fields[layout.rating])
        if rating is None:
            raise FormatError(f"{path}, line {number}: the rating {fields[layout.rating]!r} is not a number")
        pairs.append((fields[layout.words[0]], fields[layout.words[1]]))
        ratings.append(rating)
    if not pairs:
        raise FormatError(f"{path} holds no word pairs")
    return Pairs(label(name), pairs, ratings)


@dataclass(frozen=True)
class Columns:
    """What stands between fields (None: white space), which are rating and words, and whether there is a heading."""

    separator: str | None
    rating: int
    words: tuple[int, int] = (0, 1)
    heading: bool = False

    def fits(self, fields: list[str]) -> bool:
        """Whether a line has two words and reaches to its rating; between spaces nothing else may stand."""
        whole = len(fields) > max(self.rating, *self.words) and all(fields[word] for word in self.words)
        return whole and (self.separator is not None or self.heading or len(fields) == 3)


def columns(line: str, place: str) -> Columns:
    """The layout that the first line shows.

    Raises:
        FormatError: it has fewer than three fields, or it cannot be told which are the words and the rating.
    """
    separator = next((mark for mark in "\t,;" if mark in line), None)
    fields = split(line, separator, place)
    told = f"{place}: two words and a rating are needed, not {line.strip()!r:.80}"
    if len(fields) < 3:
        raise FormatError(told)
    words = word_columns(fields, place)
    others = [column for column in range(len(fields)) if column not in words]
    named = [column for column in others if bare(fields[column]) in RATINGS]
    numbers = [column for column in others if column > 1 and as_number(fields[column]) is not None]
    if len(named) == 1:
        return Columns(separator, named[0], words, heading=True)
    if numbers and not named and not FIRST.match(fields[words[0]]):
        return Columns(separator, numbers[0])
    if len(fields) == 3 and not numbers:
        return Columns(separator, others[0], words, heading=True)
    if separator is None and not named:
        raise FormatError(told)
    known = ", ".join(fields[2:])
    raise FormatError(f"{place}: which column is the rating? Call one of them 'rating'; they are {known:.200}")


def word_columns(fields: list[str], place: str) -> tuple[int, int]:
    """Which fields are the words, as a heading says; the first two without one.

    Raises:
        FormatError: the first field is a row's number, or has no heading, and no heading names the words.
    """
    first, second = ([at for at, field in enumerate(fields) if one.match(field)] for one in (FIRST, SECOND))
    if len(first) == len(second) == 1:
        return first[0], second[0]
    if not fields[0] or (as_number(fields[0]) is not None and as_number(fields[2]) is None):
        raise FormatError(
            f"{place}: the first column is no word, but {fields[0]!r:.40}: call those of the words 'word1' and 'word2'"
        )
    return 0, 1


def bare(heading: str) -> str:
    """A heading without case, spaces and signs."""
    return "".join(mark for mark in heading.lower() if mark.isalnum())


def split(line: str, separator: str | None, place: str) -> list[str]:
    """The fields of a line, without spaces around them; quotes count where commas or semicolons separate.

    Raises:
        FormatError: a field is too long, or a carriage return stands in the line.
    """
    quoted = separator is not None and separator in ",;"
    try:
        fields = next(csv.reader([line], delimiter=str(separator))) if quoted else line.split(separator)
    except csv.Error as error:
        raise FormatError(f"{place}: {error}") from None
    return [field.strip() for field in fields]


def as_number(field: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(field)
    except ValueError:
        return None
    return value if isfinite(value) else None
