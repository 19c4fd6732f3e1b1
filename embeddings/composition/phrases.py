"""Phrases as examples to learn from: their types, and the rows of their words and of their own vectors."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embeddings.vocabulary import Vocabulary

if TYPE_CHECKING:
    from embeddings.composition.settings import CompositionSettings
    from embeddings.corpora.phrases import PhraseList, Triple

ANY = "any"  # the type of all phrases together, and of those that are of none


@dataclass(frozen=True)
class Examples:
    """Phrases whose words and token all have vectors.

    Arguments:
        types: their names, sorted; a place in it is a type's number.
        rows: (examples, 4) int32: number of the type, then the rows of first word, second word and phrase.
        left_out: how many more there were: with a word or token that has no vector, or of the same words.
    """

    types: list[str]
    rows: np.ndarray
    left_out: int = 0

    def of(self, type: str) -> np.ndarray:
        """Which examples are of a type, (examples,) bool; `ANY` is all of them."""
        if type == ANY:
            return np.ones(len(self.rows), bool)
        found: np.ndarray = self.rows[:, 0] == (self.types.index(type) if type in self.types else -1)
        return found


def find(
    words: Vocabulary,
    settings: "CompositionSettings",
    *,
    given: "PhraseList | Iterable[Triple] | None" = None,
    lexicon: str | None = None,
    joiner: str,
) -> Examples:
    """The phrases to learn from: given ones; those of the settings' list; or else all words that join two others.

    Arguments:
        given: a list, whose types count; or phrases that have everything already.
        lexicon: where the types of others come from, if the settings name none.

    Raises:
        FormatError: a file cannot be read.
        SettingError: a joiner that cannot be one.
    """
    from embeddings.corpora.phrases import PhraseList, read, triples
    from embeddings.corpora.phrases import lexicon as lexicons

    if settings.phrase_list is not None and given is None:
        given = read(settings.phrase_list, joiner=joiner)
    if given is not None and not isinstance(given, PhraseList):
        return examples(words, given, typed=settings.typed)
    source = settings.lexicon or lexicon
    tags = {} if not settings.typed else lexicons.read(source) if source else lexicons.english()
    found = triples(words, lexicon=tags, phrases=given, joiner=joiner)
    missing = 0 if given is None else len(given) - len(found)
    return examples(words, found, typed=settings.typed, missing=missing)


def examples(words: Vocabulary, phrases: "Iterable[Triple]", *, typed: bool = True, missing: int = 0) -> Examples:
    """The phrases whose words and token are all among `words`, each once, by type and the phrase's row.

    Those of the type "other" become `ANY`, and if not `typed` all do. Where two tokens stand for the same words, such
    as play_role and play_a_role, the one with the larger count is taken. `missing` more are counted as left out.
    """
    from embeddings.corpora.phrases.typed import OTHER

    found: dict[tuple[str, str, str], Triple] = {}
    left_out = missing
    for phrase in phrases:
        if not (phrase.first in words and phrase.second in words and phrase.token in words):
            left_out += 1
            continue
        type = phrase.type if typed and phrase.type != OTHER else ANY
        other = found.setdefault((type, phrase.first, phrase.second), phrase)
        if other.token != phrase.token:
            left_out += 1
            if phrase.count > other.count:
                found[type, phrase.first, phrase.second] = phrase
    types = sorted({type for type, _, _ in found})
    rows = [
        (types.index(type), words.index(first), words.index(second), words.index(phrase.token))
        for (type, first, second), phrase in found.items()
    ]
    made = np.array(sorted(rows, key=lambda row: (row[0], row[3], row[1])), np.int32).reshape(-1, 4)
    return Examples(types, made, left_out)
