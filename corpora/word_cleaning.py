"""Normalisation of words: invisible characters, case, foldings and Unicode forms.

All functions take a text of words that are separated by line ends, so that a vocabulary is treated at once; no result
depends on more than one word.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import Literal
from unicodedata import category, combining, name, normalize

from embeddings.corpora.word_break import emoji_ranges, ranges

Form = Literal["NFC", "NFD", "NFKC"]
MAX_MARKS = 30  # after one letter, as in the stream-safe format of UAX #15; ordering more takes quadratic time
VIRAMA = 9  # combining class
LAST_UNJOINED = "\u058f"  # Latin, Greek, Cyrillic and Armenian, in which a joiner between letters changes nothing
JOINERS = re.compile("[\u200c\u200d]+")
ARMENIAN_TONES = (0x55B, 0x55C, 0x55E)  # stand within words
TAGS = range(0xE0020, 0xE0080)  # parts of flag emoji
GREEK = "\u0370-\u03ff\u1f00-\u1fff"
FINAL_SIGMA = re.compile(f"(?<=[{GREEK}\u0300-\u036f])\u03c3(?![^\n])")  # a sigma at the end of a word
DOTTED = re.compile("[i\u0131]\u0307")
LITHUANIAN_DOT = re.compile("(?<=[jį])\u0307(?=[\u0300\u0301\u0303])")
DECOMPOSED = {  # marks that foldings remove after decomposition
    "tonos": re.compile(f"(?<=[{GREEK}\u0308])\u0301"),
    "accents": re.compile("(?<=[A-Za-z\u0250-\u02af\u0370-\u03ff])[\u0300-\u036f]+|(?<=[аеиоуыэюяѐѝ])[\u0300\u0301]"),
}
ARABIC_AND_HEBREW_MARKS = re.compile(
    "[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\ufb1e]"
)
REPLACEMENTS = {
    "tatweel": {0x640: ""},
    "long-s": {0x17F: "s", 0x1E9B: "\u1e61"},
    # forms of alef to alef, the carriers of hamza waw and yeh to these, teh marbuta to heh, and alef maqsura to yeh
    "arabic-letters": {
        **dict.fromkeys((0x622, 0x623, 0x625, 0x671, 0x672, 0x673, 0x675), "\u0627"),
        **{0x624: "\u0648", 0x676: "\u0648", 0x626: "\u064a", 0x678: "\u064a", 0x629: "\u0647", 0x649: "\u064a"},
    },
}
BLANKS = re.compile(r"[^\S\n]+")
INNER_APOSTROPHE = re.compile(r"[\u2018\u2019\u02bc\uff07](?<=\S.)(?=\w)")  # also after a mark
INNER_HYPHEN = re.compile(r"[\u2010\u2011](?<=\S.)(?=\w)")


def character_class(points: Iterable[int]) -> str:
    """Return a regular expression that matches one of `points`, none of them ASCII; ranges are searched faster."""
    ranges: list[list[int]] = []
    for point in sorted(points):
        if ranges and point <= ranges[-1][1] + 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]"


@cache
def invisible() -> re.Pattern[str]:
    """A regular expression for format characters (except flag tags), variation selectors and Armenian tone marks."""
    formats = [point for first, last in ranges("Format") for point in range(first, last + 1) if point not in TAGS]
    selectors = [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x180E), 0x180F, 0x34F]
    return re.compile(character_class([*formats, *selectors, *ARMENIAN_TONES]) + "+")


def drop_idle_joiners(match: re.Match[str]) -> str:
    """Drop joiners without effect: after letters to LAST_UNJOINED, and at the end of a word except after a virama."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    if before <= LAST_UNJOINED or (after in ("", "\n") and combining(before) != VIRAMA):
        return ""
    return match[0]


@cache
def emoji_words() -> re.Pattern[str]:
    """A regular expression for words that are emoji."""
    first = "".join(f"{chr(start)}-{chr(end)}" for start, end in [*emoji_ranges(), *ranges("Regional_Indicator")])
    return re.compile(f"^[{first}][^\n]*", re.MULTILINE)


def clean(text: str, *, names_emoji: bool = False) -> str:
    """Remove invisible characters, write apostrophes as "'" and hyphens as "-"; names_emoji: name emoji."""
    text = JOINERS.sub(drop_idle_joiners, invisible().sub("", text))
    text = INNER_HYPHEN.sub("-", INNER_APOSTROPHE.sub("'", text))
    return emoji_words().sub(emoji_name, text) if names_emoji else text


def emoji_name(match: re.Match[str]) -> str:
    """Return the name of an emoji sequence, such as red_heart or flag_fr."""
    points = [point for point in match[0] if category(point)[0] not in "MC"]
    if points and all(name(point, "").startswith("REGIONAL INDICATOR") for point in points):
        return "flag_" + "".join(name(point)[-1] for point in points).lower()
    names = [re.sub(r"\W+", "_", name(point, "").lower()) for point in points]
    return "_".join(filter(None, names)) or match[0]


def normalized(form: Form, text: str) -> str:
    """Return text in a normalisation form; words with more than MAX_MARKS marks on one letter are not changed."""
    if not many_marks().search(text):
        return normalize(form, text)
    words = text.split("\n")
    for row, word in enumerate(words):
        runs = groupby(word, lambda character: combining(character) > 0)
        if not any(is_mark and len(list(run)) > MAX_MARKS for is_mark, run in runs):
            words[row] = normalize(form, word)
    return "\n".join(words)


@cache
def many_marks() -> re.Pattern[str]:
    """A regular expression for more than MAX_MARKS marks or characters above the Basic Multilingual Plane in a row."""
    points = [point for point, kind in enumerate(map(combining, map(chr, range(0x10000)))) if kind]
    marks = character_class(points).removesuffix("]") + "\U00010000-\U0001ffff]"
    return re.compile(f"{marks}{marks}{{{MAX_MARKS}}}")  # searches faster than one repeated set


def remove_dots(text: str, language: str | None) -> str:
    """Remove the combining dot above i; in Lithuanian also above j and į with an accent."""
    text = DOTTED.sub("i", text) if "\u0307" in text else text
    return LITHUANIAN_DOT.sub("", text) if language == "lt" else text


@cache
def folding_table(kind: str) -> dict[int, str]:
    """Return the characters that a folding replaces."""
    if kind in REPLACEMENTS:
        return REPLACEMENTS[kind]
    blocks = {
        "width": [(0xFF01, 0xFFE6), (0x3000, 0x3000)],
        "ligatures": [(0xFB00, 0xFB17), (0xFB50, 0xFDC7), (0xFDF0, 0xFDFB), (0xFE70, 0xFEFC)],
    }
    points = (point for first, last in blocks[kind] for point in range(first, last + 1))
    table = {point: normalize("NFKC", chr(point)) for point in points}
    return {point: text for point, text in table.items() if text != chr(point)}


def fold(text: str, kind: str) -> str:
    """Apply a folding: one of `FOLDINGS`, or "tonos", the accent of Greek words, which capitals do not have."""
    if kind in DECOMPOSED:
        return normalized("NFC", DECOMPOSED[kind].sub("", normalized("NFD", text)))
    if kind == "diacritics":
        return ARABIC_AND_HEBREW_MARKS.sub("", text)
    return text.translate(folding_table(kind))


def join_blanks(text: str) -> str:
    """Replace white space within words, which compatibility forms of some characters contain, by underscores."""
    if not BLANKS.search(text):
        return text
    return "\n".join(BLANKS.sub("_", word.strip()) for word in text.split("\n"))
