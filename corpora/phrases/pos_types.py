"""What kind of phrase two words make: adjective-noun, noun-noun, verb-object, or another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.phrases.lexicon import Lexicon, english, tag_of
from embeddings.corpora.phrases.phrase_list import JOINER, PhraseList, check_joiner
from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.corpora.vocabulary import Vocabulary
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors

TAGS = ("ADJ", "DET", "NOUN", "VERB")
TYPES = {"adjective-noun": ("ADJ", "NOUN"), "noun-noun": ("NOUN", "NOUN"), "verb-object": ("VERB", "NOUN")}
OTHER = "other"
BETWEEN = {"verb-object": "DET"}  # the tag of what may stand between the two words, as in "play a role"


@dataclass(frozen=True, slots=True)
class Triple:
    """A phrase that has a vector beside those of its two words. count: occurrences of its token."""

    type: str
    first: str
    second: str
    token: str
    count: int


def check_types(types: str) -> tuple[str, ...]:
    """The names in a list with commas.

    Raises:
        SettingError: there is none, or one is not known.
    """
    names = tuple(dict.fromkeys(name.strip() for name in types.split(",")))
    for name in names:
        if name not in (*TYPES, OTHER):
            raise SettingError(f"types must be among {', '.join((*TYPES, OTHER))}, not {name!r}")
    return names


def type_of(words: Sequence[str], lexicon: Lexicon) -> str:
    """The type of a phrase of these words by their tags; "other" if it is none of `TYPES`."""
    ends = tag_of(words[0], lexicon), tag_of(words[-1], lexicon)
    found = (name for name, tags in TYPES.items() if tags == ends and may_hold(name, words[1:-1], lexicon))
    return next(found, OTHER)


def may_hold(name: str, inner: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether a phrase of this type may have these words between its two."""
    return all((tag_of(word, lexicon) or OTHER) == BETWEEN.get(name) for word in inner)


def tag_codes(words: Sequence[str], lexicon: Lexicon) -> NDArray[np.int8]:
    """For each word the place of its tag among `TAGS`, -1 for another or none (words,)."""
    codes = {tag: code for code, tag in enumerate(TAGS)}
    return np.array([codes.get(tag_of(word, lexicon) or "", -1) for word in words], np.int8)


def triples(
    model: Union["Model", "Vectors", "Vocabulary"],
    *,
    lexicon: Lexicon | None = None,
    phrases: PhraseList | None = None,
    joiner: str = JOINER,
) -> list[Triple]:
    """The phrases of a model, or a vocabulary, whose words are there too, with their types, the most frequent first.

    A phrase is a token of two words with the joiner between, or of more that have a type, such as "play a role"; or, if
    `phrases` are given, one of these, with the type that is listed, if there is one. Its words are its first and last.
    lexicon: a tag of each word; that of English if not given.

    Raises:
        SettingError: the joiner holds a letter, digit or white space; or the vectors have no counts.
    """
    from embeddings.models.model import Model

    vectors = model.vectors if isinstance(model, Model) else model
    if vectors.counts is None:
        raise SettingError("these vectors have no counts, and phrases cannot be told by them")
    known = dict(zip(vectors.words, vectors.counts.tolist(), strict=True))
    tags = english() if lexicon is None else lexicon
    check_joiner(joiner)
    if phrases is None:
        split = {token: tuple(token.split(joiner)) for token in known if joiner in token}
        told = {token: (words, type_of(words, tags)) for token, words in split.items() if all(words)}
        listed = {token: both for token, both in told.items() if len(both[0]) == 2 or both[1] != OTHER}
    else:
        words_of = {joiner.join(phrase.words): phrase for phrase in phrases}
        listed = {token: (it.words, it.type or type_of(it.words, tags)) for token, it in words_of.items()}
    found = [
        Triple(kind, words[0], words[-1], token, known[token])
        for token, (words, kind) in listed.items()
        if token in known and words[0] in known and words[-1] in known
    ]
    return sorted(found, key=lambda triple: (-triple.count, triple.token))
