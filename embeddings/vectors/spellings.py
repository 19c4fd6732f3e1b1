"""The spellings under which a word is looked up, one after the other, until one is found."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from unicodedata import normalize

from embeddings.corpora.tokenizers import lower_case
from embeddings.corpora.word_cleaning import normalized

AS_WRITTEN, OF_MODEL, LOWER_CASE = "as written", "form of the model", "lower case"
PRECOMPOSED, APOSTROPHE = "precomposed", "other apostrophe"
# names of the forms, in the order in which they are tried
FORMS = (AS_WRITTEN, OF_MODEL, "NFC", "NFD", "NFKC", PRECOMPOSED, APOSTROPHE, LOWER_CASE)
APOSTROPHES = re.compile("['\u2019\u02bc\u2018\uff07]")


def spellings(
    word: str, word_form: Callable[[str], str] | None = None, *, lower: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield the spellings of a word, each with the name of its form; a spelling may occur more than once.

    Arguments:
        word: as it is written.
        word_form: maps a word to its form in the training text, which comes second.
        lower: also yield the word in lower case, last.
    """
    yield AS_WRITTEN, word
    if word_form is not None:
        yield OF_MODEL, word_form(word)
    yield from normal_forms(word)
    lowered = lower_case(word)
    if lower and lowered != word:
        others = spellings(lowered, word_form, lower=False)
        yield from ((LOWER_CASE, spelling) for _, spelling in others)


def normal_forms(word: str) -> Iterator[tuple[str, str]]:
    """Yield the normal forms of a word, and its forms with other apostrophes."""
    if not word.isascii():
        yield "NFC", normalized("NFC", word)
        yield "NFD", normalized("NFD", word)
        yield "NFKC", normalized("NFKC", word)
        pattern, letters = precomposed()
        yield PRECOMPOSED, pattern.sub(lambda match: letters[match[0]], normalized("NFC", word))
    if APOSTROPHES.search(word):
        for mark in "'\u2019":
            changed = APOSTROPHES.sub(mark, word)
            yield APOSTROPHE, changed
            yield APOSTROPHE, normalized("NFC", changed)


@cache
def precomposed() -> tuple[re.Pattern[str], dict[str, str]]:
    """Letters of Indic scripts, Tibetan and Hebrew that NFC decomposes, by their parts, and a pattern of the parts."""
    letters = map(chr, [*range(0x900, 0x1000), *range(0xFB1D, 0xFB50)])
    by_parts = {parts: letter for letter in letters if len(parts := normalize("NFC", letter)) > 1}
    return re.compile("|".join(map(re.escape, by_parts))), by_parts
