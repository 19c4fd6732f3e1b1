"""Types of phrases by parts of speech: adjective-noun, noun-noun, verb-object, or other."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.phrases.phrase import JOINER, Phrase, check_joiner
from embeddings.corpora.tokenizers import lower_case
from embeddings.errors import FormatError, S, SettingError
from embeddings.support.text_lines import read_text_lines

ENGLISH = Path(__file__).parent / "english-tags.tsv"
UNIVERSAL_TAGS = frozenset(
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
PENN_TAGS = {  # of the Penn Treebank, with their universal equivalents
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    "DT": "DET",
}

Lexicon = dict[str, str]
TAGS = ("ADJ", "DET", "NOUN", "VERB")
TYPES = {"adjective-noun": ("ADJ", "NOUN"), "noun-noun": ("NOUN", "NOUN"), "verb-object": ("VERB", "NOUN")}
OTHER = "other"
INNER_TAGS = {"verb-object": "DET"}  # the tag that inner words may have, as in "play a role"


@cache
def english_lexicon() -> Lexicon:
    """Return the bundled lexicon: lower-case English words, learned from UD English EWT."""
    return read_lexicon(ENGLISH)


def read_lexicon(path: str | os.PathLike[str]) -> Lexicon:
    """Read a file of lines `word TAB tag`, with universal or Penn Treebank tags.

    The tag of a word is also used for the word in lower case, unless that has its own.
    """
    path = Path(path)
    tags: Lexicon = {}
    for number, line in enumerate(read_text_lines(path, "lexicon"), 1):
        if line.strip():
            word, _, tag = (part.strip() for part in line.partition("\t"))
            tag = PENN_TAGS.get(tag, tag)
            if not word or tag not in UNIVERSAL_TAGS:
                raise FormatError(
                    f"{path}, line {number}: expected a word, a tab and a tag such as NOUN, got {line!r:.80}"
                )
            tags[word] = tag
    return {lower_case(word): tag for word, tag in tags.items()} | tags


def tag_of(word: str, lexicon: Lexicon) -> str | None:
    """Return the tag of a word, or else of the word in lower case; None for an unknown word."""
    return lexicon.get(word) or lexicon.get(lower_case(word))


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
            raise SettingError(f"{S.types} must be among {', '.join((*TYPES, OTHER))}, got {name!r}")
    return names


def phrase_type(words: Sequence[str], lexicon: Lexicon) -> str:
    """Return the type of a phrase by the tags of its words; "other" if no type of `TYPES` fits."""
    outer = tag_of(words[0], lexicon), tag_of(words[-1], lexicon)
    inner = {tag_of(word, lexicon) or OTHER for word in words[1:-1]}
    names = (name for name, tags in TYPES.items() if tags == outer and inner <= {INNER_TAGS.get(name)})
    return next(names, OTHER)


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
    """Return the phrases of a vocabulary that contains their outer words too, with types, most frequent first.

    Arguments:
        model: a model, vectors with counts, or a vocabulary.
        lexicon: the tag of each word; by default the English lexicon.
        phrases: the only phrases to consider, with their own types. By default, every token of two words joined by the
            joiner is a phrase; a longer one must have a type, such as "play a role".
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
