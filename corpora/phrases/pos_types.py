"""Types of phrases by parts of speech: adjective-noun, noun-noun, verb-object, or other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.phrases.lexicon import Lexicon, english_lexicon, tag_of
from embeddings.corpora.phrases.phrase import JOINER, Phrase, check_joiner
from embeddings.errors import SettingError

TAGS = ("ADJ", "DET", "NOUN", "VERB")
TYPES = {"adjective-noun": ("ADJ", "NOUN"), "noun-noun": ("NOUN", "NOUN"), "verb-object": ("VERB", "NOUN")}
OTHER = "other"
INNER_TAGS = {"verb-object": "DET"}  # the tag that words between the two may have, as in "play a role"


@dataclass(frozen=True, slots=True)
class Triple:
    """A phrase whose token and two outer words all have vectors. count: occurrences of its token."""

    type: str
    first: str
    second: str
    token: str
    count: int


def check_types(types: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list; raises SettingError if one is unknown."""
    names = tuple(dict.fromkeys(name.strip() for name in types.split(",")))
    for name in names:
        if name not in (*TYPES, OTHER):
            raise SettingError(f"types must be among {', '.join((*TYPES, OTHER))}, got {name!r}")
    return names


def phrase_type(words: Sequence[str], lexicon: Lexicon) -> str:
    """Return the type of a phrase by the tags of its words; "other" if it has none of `TYPES`."""
    outer = tag_of(words[0], lexicon), tag_of(words[-1], lexicon)
    names = (name for name, tags in TYPES.items() if tags == outer and allows_inner(name, words[1:-1], lexicon))
    return next(names, OTHER)


def allows_inner(name: str, inner: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether a phrase of this type may have these words between its two outer words."""
    return all((tag_of(word, lexicon) or OTHER) == INNER_TAGS.get(name) for word in inner)


def tag_codes(words: Sequence[str], lexicon: Lexicon) -> NDArray[np.int8]:
    """Return the index of the tag of each word in `TAGS`, -1 for other tags or none (words,)."""
    codes = {tag: code for code, tag in enumerate(TAGS)}
    return np.array([codes.get(tag_of(word, lexicon) or "", -1) for word in words], np.int8)


def triples(
    model: Any,
    *,
    lexicon: Lexicon | None = None,
    phrases: Iterable[Phrase] | None = None,
    joiner: str = JOINER,
) -> list[Triple]:
    """Return the phrases whose outer words are in the vocabulary too, with their types, most frequent first.

    Arguments:
        model: a model, vectors with counts, or a vocabulary.
        lexicon: the tag of each word; by default that of English.
        phrases: consider only these, with their own types. By default, every token of two words joined by the joiner
            is a phrase; a longer one must have a type, such as "play a role".
        joiner: the string between the words of a phrase.

    Raises:
        SettingError: the joiner contains a letter, digit or white space; or the vectors have no counts.
    """
    vectors = getattr(model, "vectors", model)
    if vectors.counts is None:
        raise SettingError("phrases can only be found in vectors with counts")
    counts = dict(zip(vectors.words, vectors.counts.tolist(), strict=True))
    tags = english_lexicon() if lexicon is None else lexicon
    check_joiner(joiner)
    if phrases is None:
        split = {token: tuple(token.split(joiner)) for token in counts if joiner in token}
        types_by_token = {token: (words, phrase_type(words, tags)) for token, words in split.items() if all(words)}
        candidates = {token: pair for token, pair in types_by_token.items() if len(pair[0]) == 2 or pair[1] != OTHER}
    else:
        by_token = {joiner.join(phrase.words): phrase for phrase in phrases}
        candidates = {token: (it.words, it.type or phrase_type(it.words, tags)) for token, it in by_token.items()}
    result = [
        Triple(type_name, words[0], words[-1], token, counts[token])
        for token, (words, type_name) in candidates.items()
        if token in counts and words[0] in counts and words[-1] in counts
    ]
    return sorted(result, key=lambda triple: (-triple.count, triple.token))
