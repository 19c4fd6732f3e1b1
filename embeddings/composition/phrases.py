"""Phrases of two words, with a type and the token that stands for each in a vocabulary: from a list, or found there."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from embeddings.composition.settings import JOINER
from embeddings.errors import FormatError, SettingError
from embeddings.vectors import Vectors
from embeddings.vocabulary import Vocabulary

ANY = "any"  # the type of all phrases together, and of those that have none


class Triple(NamedTuple):
    """The type of a phrase, such as "adjective-noun", its two words, the token they are together, its occurrences."""

    type: str
    first: str
    second: str
    token: str
    count: int  # type: ignore[assignment]


@dataclass(frozen=True)
class Examples:
    """Phrases whose words and token all have vectors.

    Arguments:
        types: their names, sorted; a place in it is a type's number.
        rows: (examples, 4) int32: number of the type, then the rows of first word, second word and phrase.
        left_out: how many phrases of each type had a word or token without a vector.
    """

    types: list[str]
    rows: np.ndarray
    left_out: Counter[str]

    def of(self, type: str) -> np.ndarray:
        """Which examples are of a type, (examples,) bool; `ANY` is all of them."""
        if type == ANY:
            return np.ones(len(self.rows), bool)
        found: np.ndarray = self.rows[:, 0] == (self.types.index(type) if type in self.types else -1)
        return found


def read_phrases(path: str | os.PathLike[str], joiner: str = JOINER) -> list[Triple]:
    """The phrases of a text file, one a line: [type] first second [token [count]], between tabs or spaces.

    Without a type it is `ANY`, without a token the words with the joiner between them. Lines that begin with # are
    passed over.

    Raises:
        FormatError: the file cannot be read, holds none, or a line is none; its number is said.
    """
    from embeddings.formats.shared import decode
    from embeddings.formats.sources import plain

    with plain(Path(path)) as stream:
        lines = decode([line.rstrip(b"\r\n") for line in stream], "strict", f"{path}, line", 1)
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            found.append(parse(line.split(), joiner, f"{path}, line {number}"))
    if not found:
        raise FormatError(f"{path} holds no phrases")
    return found


def parse(fields: list[str], joiner: str, place: str) -> Triple:
    """The phrase of a line.

    Raises:
        FormatError: it has fewer than two words or too many, or a count that is no number.
    """
    if not 2 <= len(fields) <= 5:
        shown = " ".join(fields)
        raise FormatError(f"{place}: a phrase is [type] first second [token [count]], not {shown!r:.80}")
    type, first, second, *rest = fields if len(fields) > 2 else [ANY, *fields]
    token, count = [*rest, *[joiner.join((first, second)), "0"][len(rest) :]]
    if not (count.isascii() and count.isdecimal() and len(count) < 19):
        raise FormatError(f"{place}: the count {count!r:.40} is not a whole number")
    return Triple(type, first, second, token, int(count))


def find_phrases(words: Vocabulary, joiner: str = JOINER) -> list[Triple]:
    """The words that are two others of them with the joiner between, in their order; of several ways the last cut."""
    found = []
    for word, count in zip(words.words, words.counts.tolist(), strict=True):
        cut = word.rfind(joiner, 1)
        while cut > 0:
            first, second = word[:cut], word[cut + len(joiner) :]
            if first in words and second in words:
                found.append(Triple(ANY, first, second, word, count))
                break
            cut = word.rfind(joiner, 1, cut + len(joiner) - 1)
    return found


def examples(words: Vectors | Vocabulary, phrases: Iterable[Triple]) -> Examples:
    """The phrases whose words and token are all among `words`, each once, by type and the phrase's row.

    Raises:
        SettingError: one phrase is said to have two tokens.
    """
    left_out: Counter[str] = Counter()
    tokens: dict[tuple[str, str, str], str] = {}
    for type, first, second, token, _ in phrases:
        other = tokens.setdefault((type, first, second), token)
        if other != token:
            raise SettingError(f"the phrase '{first} {second}' has two tokens: {other!r} and {token!r}")
    types = sorted({type for type, _, _ in tokens})
    rows = []
    for (type, first, second), token in tokens.items():
        if first in words and second in words and token in words:
            rows.append((types.index(type), words.index(first), words.index(second), words.index(token)))
        else:
            left_out[type] += 1
    made = np.array(sorted(rows, key=lambda row: (row[0], row[3], row[1])), np.int32).reshape(-1, 4)
    return Examples(types, made, left_out)
