"""A simple rule for the borders of sentences, for pairs of neighbouring sentences."""

import re

CLOSING = "\"'\u201d\u2019\u00bb)\\]\u300d\u300f\uff09"  # quotes and brackets, escaped for a set of characters
OPENING = "\"'\u201c\u2018\u00ab([\u300c\u300e\uff08"
WIDE_STOPS = "\u3002\uff01\uff1f"  # of Chinese and Japanese, which have no space after them
END = re.compile(rf"[.!?…]+[{CLOSING}]*\s+|[{WIDE_STOPS}]+[{CLOSING}]*\s*")
ABBREVIATIONS = frozenset((
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "no", "vol",
    "gen", "col", "capt", "lt", "rev", "gov", "ca",
))  # fmt: skip


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph.

    A sentence ends at `.`, `!`, `?` or `…` before white space, or at one of the wide marks of Chinese and Japanese;
    closing quotes and brackets belong to it. It does not end before a lower-case letter, nor at the full stop after a
    single letter or after one of a few English abbreviations such as `Dr.`

    >>> split_sentences('Dr. J. Smith came. "Who?" she asked. 他来了。她走了。')
    ['Dr. J. Smith came.', '"Who?" she asked.', '他来了。', '她走了。']
    """
    sentences, start = [], 0
    for match in END.finditer(text):
        if is_border(text, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def is_border(text: str, match: re.Match[str]) -> bool:
    """Whether a sentence ends at what `END` matched."""
    following = text[match.end() : match.end() + 4].lstrip(OPENING)[:1]
    if following.islower():
        return False
    if not match[0].startswith(".") or match[0].startswith(".."):
        return True
    word = text[max(0, match.start() - 12) : match.start()].split()[-1:]
    name = word[0].lstrip(OPENING).lower() if word else ""
    return name not in ABBREVIATIONS and not (len(name) == 1 and name.isalpha())
