"""Words by category: files of them, and one made of the Google analogies."""

import os
from dataclasses import dataclass
from pathlib import Path

from embeddings.errors import FormatError
from embeddings.eval.analogy_questions import read_questions
from embeddings.eval.datasets import GOOGLE_ANALOGIES, label, lines, locate

GOOGLE = "google-categories"
# Sections of the Google analogies, and of what category the two words of each of their pairs are.
OF_PAIRS = {
    "capital-world": ("capital", "country"),
    "currency": ("country", "currency"),
    "city-in-state": ("city", "state"),
    "family": ("family", "family"),
    "gram6-nationality-adjective": ("country", "nationality"),
}


@dataclass(frozen=True)
class Categories:
    """Words, and the category of each; a word that has several stands once for each of them."""

    name: str
    words: list[str]
    categories: list[str]


def read_categories(name: str | os.PathLike[str]) -> Categories:
    """A set by name ("google-categories"), or a file of lines "word TAB category"; a comma or spaces will do.

    A line that stands twice counts once.

    Raises:
        FormatError: no such set, a line without a word and a category (its number is said), or fewer than
            two categories.
    """
    if str(name) == GOOGLE and not Path(name).exists():
        return of_google()
    path = locate(name)
    found: dict[tuple[str, str], None] = {}
    for number, line in lines(path):
        separator = next((mark for mark in "\t," if mark in line), None)
        fields = [field.strip() for field in line.split(separator)]
        if len(fields) != 2 or not all(fields):
            raise FormatError(f"{path}, line {number}: a word and its category are needed, not {line.strip()!r:.80}")
        found[fields[0], fields[1]] = None
    if len({category for _, category in found}) < 2:
        raise FormatError(f"{path} holds fewer than two categories")
    return Categories(label(name), [word for word, _ in found], [category for _, category in found])


def of_google() -> Categories:
    """The capitals, countries, currencies, cities, states, nationalities and relatives of the Google analogies.

    A word of two categories, such as Georgia, is left out.
    """
    test = read_questions(GOOGLE_ANALOGIES)
    found: dict[str, set[str]] = {}
    for (a, b, _), section in zip(test.questions, test.section_of, strict=True):
        for word, category in zip((a, b), OF_PAIRS.get(test.sections[section], ()), strict=False):
            found.setdefault(word, set()).add(category)
    single = {word: categories.pop() for word, categories in sorted(found.items()) if len(categories) == 1}
    return Categories(GOOGLE, list(single), list(single.values()))
