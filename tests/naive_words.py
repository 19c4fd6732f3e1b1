"""Word boundaries by the rules of Unicode Standard Annex #29, and the tokens of `words`, one after the other."""

import unicodedata
from functools import cache

from embeddings.corpora.word_break import properties

LETTERS = ("ALetter", "Hebrew_Letter")
IGNORED = ("Extend", "Format", "ZWJ")
LINE_ENDS = ("CR", "LF", "Newline")
QUOTES = "'\u2018\u2019\uff07"
HYPHENS = "-\u2010\u2011"


@cache
def points(name):
    pairs = [[int(end, 16) for end in text.split("-")] for text in properties()[name].split()]
    return {point for pair in pairs for point in range(pair[0], pair[-1] + 1)}


def has_property(character, name):
    return ord(character) in points(name)


@cache
def official(character):
    """The Word_Break property."""
    names = [name for name in properties() if "Emoji" not in name and "Pict" not in name]
    return next((name for name in names if has_property(character, name)), "Other")


@cache
def tailored(character):
    """The property with the documented exceptions."""
    category = unicodedata.category(character)
    if character.isspace():
        return "Newline"
    name = official(character)
    if name == "ExtendNumLet":
        return "Other"
    if name == "ALetter" and category in ("Po", "Sk", "Pd"):
        return "Extend"
    if name == "Other":
        if has_property(character, "Emoji_Presentation"):
            return "Emoji"
        if has_property(character, "Extended_Pictographic") and ord(character) >= 0x2600:
            return "Emoji"
        return {"L": "Ideograph", "N": "Single", "M": "Extend"}.get(category[0], "Other")
    return name


def is_border(text, i, names, *, official_rules):
    """Whether there is a border before text[i]; 0 < i < len(text)."""
    before, after = names[i - 1], names[i]
    if before == "CR" and after == "LF":
        return False
    if before in LINE_ENDS or after in LINE_ENDS:
        return True
    if before == "ZWJ" and (
        has_property(text[i], "Extended_Pictographic") if official_rules else joins_emoji(names, i)
    ):
        return False
    if before == after == "WSegSpace":
        return False
    if after in IGNORED:
        return False
    kept = kept_places(names)
    left = [k for k in kept if k < i]
    a2, a1 = names[left[-2]] if len(left) > 1 else None, names[left[-1]] if left else None
    right = [k for k in kept if k >= i]
    b1, b2 = after, names[right[1]] if len(right) > 1 else None
    mid_letter, mid_number = ("MidLetter", "MidNumLet", "Single_Quote"), ("MidNum", "MidNumLet", "Single_Quote")
    joined = (
        (a1 in LETTERS and b1 in LETTERS)
        or (a1 in LETTERS and b1 in mid_letter and b2 in LETTERS)
        or (a2 in LETTERS and a1 in mid_letter and b1 in LETTERS)
        or (a1 == "Hebrew_Letter" and b1 == "Single_Quote")
        or (a1 == "Hebrew_Letter" and b1 == "Double_Quote" and b2 == "Hebrew_Letter")
        or (a2 == "Hebrew_Letter" and a1 == "Double_Quote" and b1 == "Hebrew_Letter")
        or (a1 in (*LETTERS, "Numeric") and b1 == "Numeric")
        or (a1 == "Numeric" and b1 in LETTERS)
        or (a2 == "Numeric" and a1 in mid_number and b1 == "Numeric")
        or (a1 == "Numeric" and b1 in mid_number and b2 == "Numeric")
        or (a1 == b1 == "Katakana")
        or (a1 in (*LETTERS, "Numeric", "Katakana", "ExtendNumLet") and b1 == "ExtendNumLet")
        or (a1 == "ExtendNumLet" and b1 in (*LETTERS, "Numeric", "Katakana"))
        or (a1 == b1 == "Ideograph")
    )
    if a1 == b1 == "Regional_Indicator":
        n = 0
        while n < len(left) and names[left[-1 - n]] == "Regional_Indicator":
            n += 1
        joined = n % 2 == 1
    if a1 == "Hyphen" and b1 in (*LETTERS, "Numeric"):
        joined = a2 in (*LETTERS, "Numeric")
    if b1 == "Hyphen" and b2 in (*LETTERS, "Numeric"):
        joined = a1 in (*LETTERS, "Numeric")
    return not joined


def joins_emoji(names, i):
    """Whether emoji, joiner and emoji meet before i."""
    k = i - 2
    while k >= 0 and names[k] in IGNORED:
        k -= 1
    return names[i] == "Emoji" and k >= 0 and names[k] == "Emoji"


def kept_places(names):
    """Where characters stand that rule WB4 does not ignore."""
    return [
        k
        for k, name in enumerate(names)
        if name not in IGNORED or not k or names[k - 1] in LINE_ENDS or is_ignored_start(names, k)
    ]


def is_ignored_start(names, k):
    """Whether only ignored characters stand between k and the start of the line."""
    while k > 0 and names[k - 1] in IGNORED:
        k -= 1
    return k == 0 or names[k - 1] in LINE_ENDS


def segments(text, property_of=official, *, official_rules=True):
    """The parts between borders."""
    names = [property_of(character) for character in text]
    borders = [i for i in range(1, len(text)) if is_border(text, i, names, official_rules=official_rules)]
    return [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)] if text else []


def word_tokens(text, *, emoji=True, hyphens=False, apostrophes=True):
    """The raw tokens of a text."""

    def property_of(character):
        name = tailored(character)
        if not emoji and name in ("Emoji", "Regional_Indicator"):
            return "Other"
        if not apostrophes and (character in QUOTES or name == "Double_Quote"):
            return "Other"
        if hyphens and character in HYPHENS:
            return "Hyphen"
        return name

    tokens = []
    for segment in segments(text, property_of, official_rules=False):
        start = next((i for i, c in enumerate(segment) if is_start(property_of(c))), None)
        if start is not None:
            tokens.append(segment[start:])
    return tokens


def is_start(name):
    """Whether a token can start with it."""
    return name in (*LETTERS, "Numeric", "Katakana", "Ideograph", "Single", "Emoji", "Regional_Indicator")
