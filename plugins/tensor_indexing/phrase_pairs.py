"""Phrases as examples to learn from: their types, and the rows of their words and of their own vectors."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Union

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.corpora.phrases import Phrase, PhraseList, Triple
    from embeddings.corpora.phrases.lexicon import Lexicon
    from embeddings.plugins.tensor_indexing.fit_settings import CompositionSettings

ANY = "any"  # the type of all phrases together, and of those that are of none
Given = Union["PhraseList", "Iterable[Triple | Phrase | Sequence[str]]", str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Examples:
    """Phrases whose words and token all have vectors.

    Arguments:
        types: their names, sorted; a place in it is a type's number.
        rows: (examples, 4) int32: number of the type, then the rows of first word, second word and phrase.
        left_out: how many more there were: with a word or token that has no vector, or of the same words.
        speech: the part of speech of each word of the vocabulary, (words,) int8, as `typed.tag_codes` numbers it, by
            which other pairs have types; None where phrases have none.
    """

    types: list[str]
    rows: np.ndarray
    left_out: int = 0
    speech: np.ndarray | None = None

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
    given: Given | None = None,
    lexicon: str | None = None,
    joiner: str,
    case: str | None = None,
) -> Examples:
    """The phrases to learn from: given ones; those of the settings' list; or else all words that join two others.

    Arguments:
        given: a list, whose types count, or its path; or phrases that have everything already.
        lexicon: where the types of others come from, if the settings name none.
        case: "lower" if the words are, as the phrases of a list then are too.

    Raises:
        FormatError: a file cannot be read.
        SettingError: phrases are given, and the settings have a list too; or a joiner that cannot be one.
    """
    from embeddings.corpora.phrases import PhraseList, triples
    from embeddings.corpora.phrases.pos_types import tag_codes
    from embeddings.corpora.tokenizers import lowered

    if given is not None and settings.phrase_list is not None:
        raise SettingError("phrase_list names the phrases to learn from, and others are given: leave one out")
    listed = phrases_of(settings.phrase_list if given is None else given, joiner)
    tags = lexicon_of(settings, lexicon)
    if isinstance(listed, list):
        found = examples(words, listed, typed=settings.typed)
    else:
        listed = listed.cased(lowered) if isinstance(listed, PhraseList) and case == "lower" else listed
        known = triples(words, lexicon=tags, phrases=listed, joiner=joiner)
        missing = 0 if listed is None else len(listed) - len(known)
        found = examples(words, known, typed=settings.typed, missing=missing)
    return replace(found, speech=tag_codes(words.words, tags) if settings.typed else None)


def phrases_of(given: Given | None, joiner: str) -> "PhraseList | list[Triple] | None":
    """A list of phrases, or phrases that have everything already.

    Raises:
        FormatError, SettingError: as `embeddings.corpora.phrases.read` and `PhraseList`.
    """
    from embeddings.corpora.phrases import PhraseList, Triple, read

    if given is None or isinstance(given, PhraseList):
        return given
    if isinstance(given, str | os.PathLike):
        return read(given, joiner=joiner)
    several = list(given)
    whole = [one for one in several if isinstance(one, Triple)]
    return whole if len(whole) == len(several) else PhraseList(several)  # type: ignore[arg-type]  # refuses a Triple


def lexicon_of(settings: "CompositionSettings", other: str | None = None) -> "Lexicon":
    """The part of speech of each word: by the settings' file, or else by another, or else of English.

    None of any word where phrases have no types.

    Raises:
        FormatError: a file cannot be read.
    """
    from embeddings.corpora.phrases import lexicon as lexicons

    source = settings.lexicon or other
    if not settings.typed:
        return {}
    return lexicons.english() if source is None else lexicons.read(source)


def examples(words: Vocabulary, phrases: "Iterable[Triple]", *, typed: bool = True, missing: int = 0) -> Examples:
    """The phrases whose words and token are all among `words`, each once, by type and the phrase's row.

    Those of the type "other" become `ANY`, and if not `typed` all do. Where two tokens stand for the same words, such
    as play_role and play_a_role, the one with the larger count is taken. `missing` more are counted as left out.
    """
    from embeddings.corpora.phrases.pos_types import OTHER

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
