"""Word boundaries after Unicode Standard Annex #29, as a state machine for the scanner.

Borders are those of the default rules, except that

- runs of letters without a word break class (ideographs, Hiragana, Thai, Lao, Khmer, Burmese) stay together: finding
  the words in them requires a segmenter;
- connectors such as underscores separate words: texts mark emphasis with them, and they join the words of phrases;
- U+202F NARROW NO-BREAK SPACE is a space, so that no word contains one;
- an emoji after a letter and a zero width joiner is a token of its own.

Only what contains a letter, a number or an emoji is a token.
"""

from functools import cache
from pathlib import Path
from re import finditer
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

# classes of code points
(
    OUTSIDE,  # punctuation and symbols
    SPACE,  # white space
    LETTER,
    HEBREW,
    NUMBER,
    KATAKANA,
    IDEOGRAPH,  # letters of scripts without spaces
    SINGLE,  # numbers such as fractions and superscripts, each a token
    MID_LETTER,  # as the colon
    MID_NUMBER,  # as the comma
    MID_BOTH,  # as the full stop
    QUOTE,  # '
    APOSTROPHE,  # as U+2019, otherwise like MID_BOTH
    DOUBLE_QUOTE,
    EXTEND,  # marks and format characters, part of what precedes them
    JOINER,  # U+200D, the same; joins emoji
    EMOJI,
    REGIONAL,  # two make a flag
    HYPHEN,
) = range(19)
CLASS_BITS = 5
N_CLASSES = 1 << CLASS_BITS

# states: what the current token ends with
(
    NOTHING,
    LETTERS,
    HEBREWS,
    NUMBERS,
    KATAKANAS,
    IDEOGRAPHS,
    CLOSED,  # only marks can follow
    AFTER_EMOJI,
    AFTER_JOINED_EMOJI,
    HALF_FLAG,
    HEBREW_QUOTE,
) = range(11)
HELD = 16  # from here on, the end of the token is kept only if what follows continues it
AFTER_MID_LETTER, AFTER_MID_NUMBER, AFTER_DOUBLE_QUOTE, AFTER_HYPHEN = range(HELD, HELD + 4)
N_STATES = 32
STATE_MASK = N_STATES - 1

# actions, added to the next state: append the code point to the token; the same, but hold it; finish the token and
# start one with the code point; finish the token and skip the code point
APPEND, HOLD, FINISH, SKIP = range(0, 4 * N_STATES, N_STATES)

BY_PROPERTY = {
    "ALetter": LETTER,
    "Hebrew_Letter": HEBREW,
    "Numeric": NUMBER,
    "Katakana": KATAKANA,
    "MidLetter": MID_LETTER,
    "MidNum": MID_NUMBER,
    "MidNumLet": MID_BOTH,
    "Single_Quote": QUOTE,
    "Double_Quote": DOUBLE_QUOTE,
    "Extend": EXTEND,
    "Format": EXTEND,
    "ZWJ": JOINER,
    "Regional_Indicator": REGIONAL,
}
BY_CATEGORY = {"L": IDEOGRAPH, "N": SINGLE, "M": EXTEND}  # of code points without a property
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn"
CATEGORY_CLASSES = {name: BY_CATEGORY.get(name[0], OUTSIDE) for name in CATEGORIES.split()}
PLANES = ((0, 0x40000), (0xE0000, 0xF0000))  # the others have only private and unassigned code points
LIMITS = (0x80, 0x10000, 0x110000)  # ASCII, the Basic Multilingual Plane, all; each table is built on first use
FIRST_SYMBOL = 0x2600  # symbols below it, such as (c), are emoji only if they are displayed so by default
APOSTROPHES = (0x2018, 0x2019, 0xFF07)
HYPHENS = (0x2D, 0x2010, 0x2011)


def table_limit(data: bytes) -> int:
    """Return the size of tables that cover the code points in `data`, which is valid UTF-8."""
    highest = 0 if data.isascii() else int(np.frombuffer(data, np.uint8).max())
    return LIMITS[0] if highest < 0x80 else LIMITS[1] if highest < 0xF0 else LIMITS[2]


@cache
def properties() -> dict[str, str]:
    """Return the ranges of code points with each property, in hexadecimal."""
    _, *lines = Path(__file__).with_name("word-break.tsv").read_text("ascii").splitlines()
    return dict(line.split("\t") for line in lines)


def ranges(name: str) -> list[tuple[int, int]]:
    """Return the ranges (first, last) of code points with a property."""
    pairs = (text.partition("-") for text in properties()[name].split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]


def emoji_ranges() -> list[tuple[int, int]]:
    """Return the ranges of emoji; digits, letters and symbols that are usually displayed as text are not included."""
    pictographs = [(max(first, FIRST_SYMBOL), last) for first, last in ranges("Extended_Pictographic")]
    return [(first, last) for first, last in pictographs + ranges("Emoji_Presentation") if first <= last]


@cache
def word_classes(limit: int) -> NDArray[np.uint8]:
    """Return the class of each code point below `limit`."""
    classes = np.zeros(limit, np.uint8)  # OUTSIDE
    spaces: list[int] = []
    for begin, end in PLANES:
        text = "".join(map(chr, range(begin, min(end, limit))))
        classes[begin : begin + len(text)] = np.fromiter(map(CATEGORY_CLASSES.get, map(category, text)), np.uint8)
        spaces += [begin + match.start() for match in finditer(r"\s", text)]
    for first, last in emoji_ranges():
        classes[first : last + 1] = EMOJI
    for name, number in BY_PROPERTY.items():
        for first, last in ranges(name):
            classes[first : last + 1] = number
    for points, number in ((APOSTROPHES, APOSTROPHE), (HYPHENS, HYPHEN)):
        classes[[point for point in points if point < limit]] = number
    letters = np.flatnonzero(classes == LETTER)  # marks of Armenian and others that stand between or above letters
    classes[[point for point in letters.tolist() if category(chr(point)) in ("Po", "Sk", "Pd")]] = EXTEND
    classes[spaces] = SPACE
    return classes


def word_moves(*, hyphens: bool, apostrophes: bool, emoji: bool) -> NDArray[np.uint8]:
    """Return the move for each state and class (N_STATES * N_CLASSES,).

    hyphens, apostrophes: whether they join letters. emoji: whether emoji are tokens.
    """
    starts = {LETTER: LETTERS, HEBREW: HEBREWS, NUMBER: NUMBERS, KATAKANA: KATAKANAS, IDEOGRAPH: IDEOGRAPHS}
    letters, words = {c: starts[c] for c in (LETTER, HEBREW)}, {c: starts[c] for c in (LETTER, HEBREW, NUMBER)}
    starts |= {SINGLE: CLOSED} | ({EMOJI: AFTER_EMOJI, REGIONAL: HALF_FLAG} if emoji else {})
    moves = np.full((N_STATES, N_CLASSES), SKIP | NOTHING, np.uint8)
    for state in range(N_STATES):
        for kind, next_state in starts.items():
            moves[state, kind] = FINISH | next_state
        if state != NOTHING:
            moves[state, [EXTEND, JOINER]] = APPEND | state

    def join(states: tuple[int, ...], following: dict[int, int], action: int = APPEND) -> None:
        for state in states:
            for kind, next_state in following.items():
                moves[state, kind] = action | next_state

    join((LETTERS, HEBREWS, NUMBERS), words)
    join((KATAKANAS,), {KATAKANA: KATAKANAS})
    join((IDEOGRAPHS,), {IDEOGRAPH: IDEOGRAPHS})
    join((HALF_FLAG,), {REGIONAL: CLOSED} if emoji else {})
    join((AFTER_EMOJI, AFTER_JOINED_EMOJI), {JOINER: AFTER_JOINED_EMOJI, EXTEND: AFTER_EMOJI})
    join((AFTER_JOINED_EMOJI,), {EMOJI: AFTER_EMOJI})
    quotes = [QUOTE, APOSTROPHE] if apostrophes else []
    join((LETTERS, HEBREWS), dict.fromkeys([MID_LETTER, MID_BOTH, *quotes], AFTER_MID_LETTER), HOLD)
    join((NUMBERS,), dict.fromkeys([MID_NUMBER, MID_BOTH, *quotes], AFTER_MID_NUMBER), HOLD)
    join((AFTER_MID_LETTER, HEBREW_QUOTE), letters)
    join((AFTER_MID_NUMBER,), {NUMBER: NUMBERS})
    if apostrophes:
        join((HEBREWS,), {QUOTE: HEBREW_QUOTE})
        join((HEBREWS,), {DOUBLE_QUOTE: AFTER_DOUBLE_QUOTE}, HOLD)
        join((AFTER_DOUBLE_QUOTE,), {HEBREW: HEBREWS})
    if hyphens:
        join((LETTERS, HEBREWS, NUMBERS), {HYPHEN: AFTER_HYPHEN}, HOLD)
        join((AFTER_HYPHEN,), words)
    return moves.ravel()


def char_class_moves() -> NDArray[np.uint8]:
    """Return the moves for tokens that are runs of LETTER, in which SINGLE begins a new token."""
    moves = np.full((N_STATES, N_CLASSES), SKIP | NOTHING, np.uint8)
    moves[[NOTHING, LETTERS], SINGLE] = FINISH | LETTERS
    moves[NOTHING, LETTER] = FINISH | LETTERS
    moves[LETTERS, LETTER] = APPEND | LETTERS
    return moves.ravel()
