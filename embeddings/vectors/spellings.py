"""The spellings under which words are looked up, one after the other, until one is found."""

import re
from collections.abc import Callable, Iterator, Sequence
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
    words: Sequence[str], word_form: Callable[[str], str] | None = None, *, lower: bool = True
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the spellings of words, form by form; a spelling may occur more than once.

    Arguments:
        words: as they are written; several words must be without line ends.
        word_form: maps a word to its form in the training text, which comes second.
        lower: also yield the words in lower case, last.
    """
    yield AS_WRITTEN, words
    if word_form is not None:
        yield OF_MODEL, [*map(word_form, words)]
    text = "\n".join(words)
    for form, changed in normal_forms(text):
        yield form, changed.split("\n") if len(words) > 1 else [changed]
    lowered = lower_case(text)
    if lower and lowered != text:
        others = spellings(lowered.split("\n") if len(words) > 1 else [lowered], word_form, lower=False)
        yield from ((LOWER_CASE, changed) for _, changed in others)


def normal_forms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the normal forms of words, which line ends separate, and their forms with other apostrophes."""
    if not text.isascii():
        yield "NFC", normalized("NFC", text)
        yield "NFD", normalized("NFD", text)
        yield "NFKC", normalized("NFKC", text)
        pattern, letters = precomposed()
        yield PRECOMPOSED, pattern.sub(lambda match: letters[match[0]], normalized("NFC", text))
    if APOSTROPHES.search(text):
        for mark in "'\u2019":
            changed = APOSTROPHES.sub(mark, text)
            yield APOSTROPHE, changed
            yield APOSTROPHE, normalized("NFC", changed)


@cache
def precomposed() -> tuple[re.Pattern[str], dict[str, str]]:
    """Letters of Indic scripts, Tibetan and Hebrew that NFC decomposes, by their parts, and a pattern of the parts."""
    letters = map(chr, [*range(0x900, 0x1000), *range(0xFB1D, 0xFB50)])
    by_parts = {parts: letter for letter in letters if len(parts := normalize("NFC", letter)) > 1}
    return re.compile("|".join(map(re.escape, by_parts))), by_parts
