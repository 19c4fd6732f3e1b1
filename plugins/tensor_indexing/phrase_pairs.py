"""Phrases as training examples: the type, and the rows of the two words and of the phrase."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError

if TYPE_CHECKING:
    from embeddings.corpora.phrases import Phrase, PhraseList, Triple
    from embeddings.corpora.phrases.pos_types import Lexicon
    from embeddings.plugins.tensor_indexing.composition_settings import CompositionSettings

TRAIN, DEV, TEST = range(3)  # parts of the examples
ANY = "any"  # the type of all phrases together, and of phrases without a type
PhraseSource = Union["PhraseList", "Iterable[Triple | Phrase | Sequence[str]]", str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Examples:
    """Phrases whose words and token all have vectors.

    Arguments:
        types: names of types, sorted; examples refer to them by index.
        rows: (examples, 4) int32: type, then the rows of first word, second word and phrase.
        left_out: number of phrases left out: a word or the token has no vector, or another phrase has the same words.
        pos_tags: the part of speech of each word of the vocabulary, (words,) int8, as `pos_types.tag_codes` numbers
            it, from which other phrases get types; None for phrases without types.
    """

    types: list[str]
    rows: np.ndarray
    left_out: int = 0
    pos_tags: np.ndarray | None = None

    def of_type(self, type: str) -> np.ndarray:
        """A mask of the examples of a type, (examples,) bool; `ANY` selects all examples."""
        if type == ANY:
            return np.ones(len(self.rows), bool)
        return np.asarray(self.rows[:, 0] == (self.types.index(type) if type in self.types else -1))


def find_examples(
    words: Vocabulary,
    settings: "CompositionSettings",
    *,
    phrases: PhraseSource | None = None,
    lexicon: str | None = None,
    joiner: str,
    case: str | None = None,
) -> Examples:
    """The phrases to learn from: `phrases`, `settings.phrase_list`, or else all words that join two other words.

    Types come from a list, else from the lexicon of the settings or from `lexicon`. With `case` "lower" the phrases of
    a list are lower-cased like the words.
    """
    from embeddings.corpora.phrases.phrase_list import PhraseList, read_phrases
    from embeddings.corpora.phrases.pos_types import Triple, english_lexicon, read_lexicon, tag_codes, triples
    from embeddings.corpora.tokenizers import lower_case

    if phrases is not None and settings.phrase_list is not None:
        raise SettingError(f"phrases and {S.phrase_list} both name the phrases to learn from: leave one out")
    source: Any = settings.phrase_list if phrases is None else phrases
    if isinstance(source, str | os.PathLike):
        source = read_phrases(source, joiner=joiner)
    elif source is not None and not isinstance(source, PhraseList):
        source = list(source)
    tags: Lexicon = {}
    if settings.typed:
        path = settings.lexicon or lexicon
        tags = english_lexicon() if path is None else read_lexicon(path)
    if isinstance(source, list) and all(isinstance(one, Triple) for one in source):
        examples = to_examples(words, source, typed=settings.typed)
    else:
        source = PhraseList(source) if isinstance(source, list) else source
        source = source.map_words(lower_case) if source is not None and case == "lower" else source
        typed_phrases = triples(words, lexicon=tags, phrases=source, joiner=joiner)
        missing = 0 if source is None else len(source) - len(typed_phrases)
        examples = to_examples(words, typed_phrases, typed=settings.typed, missing=missing)
    return replace(examples, pos_tags=tag_codes(words.words, tags) if settings.typed else None)


def to_examples(words: Vocabulary, phrases: "Iterable[Triple]", *, typed: bool = True, missing: int = 0) -> Examples:
    """The phrases whose words and token are all in the vocabulary, each once, ordered by type and the phrase's row.

    Phrases of the type "other" become `ANY`; all phrases do if not `typed`. Of two tokens for the same words, such as
    play_role and play_a_role, the more frequent is used. `missing` adds to the number left out.
    """
    from embeddings.corpora.phrases.pos_types import OTHER

    by_words: dict[tuple[str, str, str], Triple] = {}
    left_out = missing
    for phrase in phrases:
        if not (phrase.first in words and phrase.second in words and phrase.token in words):
            left_out += 1
            continue
        type = phrase.type if typed and phrase.type != OTHER else ANY
        other = by_words.setdefault((type, phrase.first, phrase.second), phrase)
        if other.token != phrase.token:
            left_out += 1
            if phrase.count > other.count:
                by_words[type, phrase.first, phrase.second] = phrase
    types = sorted({type for type, _, _ in by_words})
    rows = [
        (types.index(type), words.index(first), words.index(second), words.index(phrase.token))
        for (type, first, second), phrase in by_words.items()
    ]
    table = np.array(sorted(rows, key=lambda row: (row[0], row[3], row[1])), np.int32).reshape(-1, 4)
    return Examples(types, table, left_out)


def split(phrases: np.ndarray, held_out: float, seed: int) -> np.ndarray:
    """The part of each example (examples,) by the row of its phrase; dev and test get a share `held_out` each."""
    # By phrase: examples of several types with one token must be in one part, or its vector would leak.
    tokens, position = np.unique(phrases, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(tokens))
    each = round(len(tokens) * held_out)
    parts = np.full(len(tokens), TRAIN, np.int32)
    parts[order[:each]] = DEV
    parts[order[each : 2 * each]] = TEST
    return np.asarray(parts[position])
