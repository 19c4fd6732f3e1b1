"""Words by category: files of them, and a set made from the Google analogies."""

import os
from dataclasses import dataclass
from pathlib import Path

from embeddings.errors import FormatError
from embeddings.eval.datasets.analogy_questions import read_questions
from embeddings.eval.datasets.dataset_files import (
    GOOGLE_ANALOGIES,
    GOOGLE_CATEGORIES,
    line_error,
    locate,
    read_lines,
    set_name,
)

# Sections of the Google analogies, and the categories of the two words of their pairs.
GOOGLE_SECTIONS = {
    "capital-world": ("capital", "country"),
    "currency": ("country", "currency"),
    "city-in-state": ("city", "state"),
    "family": ("family", "family"),
    "gram6-nationality-adjective": ("country", "nationality"),
}


@dataclass(frozen=True)
class WordCategories:
    """Words and the category of each; a word with several categories is listed once for each."""

    name: str
    words: list[str]
    categories: list[str]


def read_word_categories(name: str | os.PathLike[str]) -> WordCategories:
    """A set by name ("google-categories"), or a file of lines "word TAB category"; commas and spaces also separate.

    A line that occurs twice counts once.
    """
    if str(name) == GOOGLE_CATEGORIES and not Path(name).exists():
        return google_categories()
    path = locate(name)
    entries: dict[tuple[str, str], None] = {}
    for number, line in read_lines(path):
        separator = next((mark for mark in "\t," if mark in line), None)
        fields = [field.strip() for field in line.split(separator)]
        if len(fields) != 2 or not all(fields):
            raise line_error(path, number, "a word and its category", line)
        entries[fields[0], fields[1]] = None
    if len({category for _, category in entries}) < 2:
        raise FormatError(f"{path} contains fewer than two categories")
    return WordCategories(set_name(name), [word for word, _ in entries], [category for _, category in entries])


def google_categories() -> WordCategories:
    """Categories of the Google analogies, such as capitals, without words of two categories, such as Georgia."""
    test = read_questions(GOOGLE_ANALOGIES)
    categories_of: dict[str, set[str]] = {}
    for (a, b, _), section in zip(test.questions, test.section_of, strict=True):
        for word, category in zip((a, b), GOOGLE_SECTIONS.get(test.sections[section], ()), strict=False):
            categories_of.setdefault(word, set()).add(category)
    single = {word: names.pop() for word, names in sorted(categories_of.items()) if len(names) == 1}
    return WordCategories(GOOGLE_CATEGORIES, list(single), list(single.values()))
