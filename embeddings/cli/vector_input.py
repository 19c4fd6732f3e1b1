"""Vectors that commands read."""

from collections.abc import Iterable
from glob import glob
from unicodedata import category, normalize

from embeddings.cli.command_help import shared
from embeddings.cli.options import from_signature
from embeddings.cli.output import note
from embeddings.models.model_group import ModelGroup, is_group
from embeddings.support.local_paths import may_exist
from embeddings.vectors.vectors import Vectors

SEARCH = shared("search", dict, *from_signature(Vectors.most_similar, top=None, restrict="N"))  # of printed neighbours
SELECTORS = "\ufe0e\ufe0f"  # whether an emoji is displayed as text


def parse_runs(text: str) -> tuple[str, list[str]]:
    """The name and the paths of one of VECTORS: a path, a group of models, or NAME=PATH,PATH, where * is any text.

    Several paths are runs of one setting.

    Raises:
        SettingError: a group has no finished run.
    """
    name, equals, paths = text.partition("=")
    if not equals or may_exist(text):
        return text, group_paths(text)
    matches = [match for one in paths.split(",") for match in sorted(glob(one)) or [one]]
    return name, [path for match in matches for path in group_paths(match)]


def group_paths(path: str) -> list[str]:
    """The paths of the finished models of a group, or a path that is not a group."""
    return list(map(str, ModelGroup.load(path).paths)) if is_group(path) else [path]


def visible(word: str) -> str:
    """Return a word without invisible characters, its accents composed: what a terminal displays of it."""
    return normalize("NFC", "".join(char for char in word if category(char) != "Cf" and char not in SELECTORS))


def report_lookups(vectors: Vectors, words: Iterable[str]) -> None:
    """Report which words were looked up in another spelling, and which have a composed vector."""
    rows = {word: vectors.find(word) for word in words}
    forms = {word: vectors.words[row] for word, row in rows.items() if row is not None}
    if others := [f"{form!r} for {word!r}" for word, form in forms.items() if visible(form) != visible(word)]:
        note(f"used the spelling of the model's text: {', '.join(others)}")
    unknown = [word for word, row in rows.items() if row is None]
    if vectors.compose is not None and unknown:
        named = [f"{word} (known: {word.lower()!r})" if word.lower() in vectors else word for word in unknown]
        note(f"composed vectors for words not in the vocabulary: {', '.join(named)}")
