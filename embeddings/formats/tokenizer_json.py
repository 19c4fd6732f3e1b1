r"""The rules of words of a model as a tokenizer.json of the library tokenizers.

The normalizer of the file does what training did: it replaces all that is not part of a word by line ends, and inserts
one where another word begins; then it changes the words, which line ends separate, as `WordRules.normalize_words` does.
The text is then split at line ends. Regular expressions are those of Oniguruma, in which "(?<=...)" may contain
alternatives of different lengths, but no repetition.

Each step reads the whole text, which takes longer than what it changes. Oniguruma skips most of a text where an
expression begins with one of few characters that are alternatives, and tries each character where it begins with a
class of characters or looks behind.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import combining, is_normalized, normalize

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import word_break, word_cleaning
from embeddings.corpora.scanner_tables import char_classes
from embeddings.corpora.tokenizers import CharClassTokenizer, WordTokenizer, is_lower_case, lower_case
from embeddings.corpora.word_break import (
    APOSTROPHE,
    DOUBLE_QUOTE,
    EMOJI,
    EXTEND,
    HEBREW,
    HYPHEN,
    IDEOGRAPH,
    JOINER,
    KATAKANA,
    LETTER,
    MID_BOTH,
    MID_LETTER,
    MID_NUMBER,
    NUMBER,
    QUOTE,
    REGIONAL,
    SINGLE,
)
from embeddings.corpora.word_rules import WordForm, WordRules
from embeddings.support.imports import import_extra
from embeddings.support.logs import log

UNKNOWN = "[UNK]"
MAX_MARKS = 3  # after a character, which are passed over to find it
LINES = "\n"
MAX_MARK = 0x20000  # above the code points of all marks
ABOVE = 230  # the combining class of marks above a letter, such as a dot
BLANKS = " +"  # the white space that compatibility forms contain
Step = str | tuple[str, str]  # the name of a normalizer, or a regular expression and its replacement


def import_tokenizers() -> Any:
    """Import the library."""
    return import_extra("tokenizers", "tokenizers", "a folder with a tokenizer.json")


def write_tokenizer(words: list[str], path: Path, form: Any = None) -> str:
    """Write a tokenizer whose ids are the rows of `words`, then a token for unknown words; returns that token.

    A warning names rules that the file cannot express.

    Arguments:
        words: in the order of their rows.
        path: the file.
        form: the `WordForm` of a model; without it, texts are split by the tokenizer `words`, and changed by the
            default rules that leave all words as they are.
    """
    tokenizers = import_tokenizers()
    existing, unknown, number = set(words), UNKNOWN, 0
    while unknown in existing:
        number += 1
        unknown = f"[UNK{number}]"
    ids = {word: i for i, word in enumerate([*words, unknown])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token=unknown))
    is_known = isinstance(form, WordForm)
    rules, joiner = (form.rules, form.joiner) if is_known else (guess_rules(words), "_")
    for rule, example in inexpressible(rules, joiner, words) if is_known else []:
        log.warning(
            "a tokenizer.json cannot express %s: texts with words such as %r have other vectors than in `embed`",
            rule,
            example,
        )
    if joiner is None or not any(joiner in word for word in words):
        joiner = ""
    steps = list(separating_steps(rules, joiner)), list(changing_steps(rules, words))
    if is_spaced := keeps_spaces(rules):
        steps = ending_at_spaces(steps[0]), ending_at_spaces(steps[1])
    separating, changing = (list(map(normalizer, part)) for part in steps)
    if not is_known:
        special = "\n".join(word for word in words if not word.isascii() or "'" in word)
        changing = [one for one in changing if one.normalize_str(special) == special]
    tokenizer.normalizer = tokenizers.normalizers.Sequence([*separating, *changing])
    splits = tokenizers.pre_tokenizers
    tokenizer.pre_tokenizer = splits.WhitespaceSplit() if is_spaced else splits.CharDelimiterSplit(LINES)
    tokenizer.add_special_tokens([unknown])
    path.write_text(tokenizer.to_str(), encoding="utf-8")
    return unknown


def normalizer(step: Step) -> Any:
    """The normalizer of a step."""
    tokenizers = import_tokenizers()
    if isinstance(step, str):
        return getattr(tokenizers.normalizers, step)()
    pattern, replacement = step
    is_character = len(pattern) == 1
    return tokenizers.normalizers.Replace(pattern if is_character else tokenizers.Regex(pattern), replacement)


def keeps_spaces(rules: WordRules) -> bool:
    """Whether spaces separate words like line ends: words have none, and get none from compatibility forms."""
    return not isinstance(rules.tokenizer, CharClassTokenizer) and not rules.fold and rules.normalize != "nfkc"


def ending_at_spaces(steps: Iterable[Step]) -> list[Step]:
    """Steps for a text in which spaces end words too."""
    return [step if isinstance(step, str) else (step[0].replace("[^\n", "[^\n "), step[1]) for step in steps]


def guess_rules(words: list[str]) -> WordRules:
    """Rules that leave words as they are, for vectors of which it is not known how their text was read."""
    text = "\n".join(words)
    return WordRules(
        "words", "lower" if is_lower_case(words) else "keep", "nfc" if is_normalized("NFC", text) else "none"
    )


def inexpressible(rules: WordRules, joiner: str | None, words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the rules that a tokenizer.json cannot express, each with a word to which it may apply."""
    if not rules.is_built_in and words:
        yield f"the tokenizer {rules.settings['tokenizer']}", words[0]
    phrases = (word for word in words if joiner and joiner in word.strip(joiner))
    if phrase := next(phrases, None):
        yield "phrases", phrase
    names = (word for word in words if rules.emoji == "as-words" and "_" in word)
    if name := next(names, None):
        yield "names of emoji", name


def char_set(points: NDArray[np.int64]) -> str:
    """Code points as ranges of a character class; without surrogates, which no text has."""
    points = points[(points < 0xD800) | (points >= 0xE000)]
    runs = np.split(points, np.flatnonzero(np.diff(points) > 1) + 1) if len(points) else []
    return "".join(
        f"\\x{{{run[0]:x}}}-\\x{{{run[-1]:x}}}" if run[0] < 0x80 else f"{chr(run[0])}-{chr(run[-1])}" for run in runs
    )


@cache
def code_points(*classes: int) -> NDArray[np.int64]:
    """The code points of classes of `word_break`."""
    return np.flatnonzero(np.isin(word_break.word_classes(word_break.LIMITS[-1]), classes))


def separating_steps(rules: WordRules, joiner: str) -> Iterator[Step]:
    """Yield the steps that separate words by line ends.

    joiner: the character between the words of phrases; empty if no word has it.
    """
    tokenizer = rules.tokenizer
    joining = char_set(np.array([*map(ord, joiner)], np.int64))
    if isinstance(tokenizer, CharClassTokenizer):
        classes = char_classes(tokenizer, word_break.LIMITS[-1])
        kept, first = (np.flatnonzero(np.isin(classes, kinds)) for kinds in ((LETTER, SINGLE), (SINGLE,)))
        joining = "" if set(map(ord, joiner)) <= set(kept.tolist()) else joining
        yield f"[^{char_set(kept)}{joining}]+", LINES
        if len(first):
            yield f"(?<=[^\n])(?=[{char_set(first)}])", LINES
    else:
        splitter = tokenizer if isinstance(tokenizer, WordTokenizer) else WordTokenizer()
        yield from word_break_steps(splitter, joining, " " * keeps_spaces(rules))
    if joining:
        yield f"(?<![^\n])[{joining}]+|[{joining}]+(?![^\n])", LINES


def word_break_steps(tokenizer: WordTokenizer, joining: str, spaces: str) -> Iterator[Step]:
    """Yield the steps that separate the words of `WordTokenizer`, as the moves of `word_break` do.

    Arguments:
        joining: the character between the words of phrases, or nothing.
        spaces: a space if it stays in the text, or nothing.
    """
    emoji = (EMOJI, REGIONAL) * (tokenizer.emoji != "drop")
    quotes = (QUOTE, APOSTROPHE) * (tokenizer.apostrophes == "join")
    hyphens = (HYPHEN,) * (tokenizer.hyphens == "join")
    double = (DOUBLE_QUOTE,) * len(quotes[:1])
    word = (LETTER, HEBREW, NUMBER)
    starting = (*word, KATAKANA, IDEOGRAPH, SINGLE, *emoji)
    inner = (MID_LETTER, MID_NUMBER, MID_BOTH, *quotes, *double, *hyphens)
    kept = char_set(code_points(*starting, *inner, EXTEND, JOINER)) + joining
    marks = f"[{char_set(code_points(EXTEND, JOINER))}]"

    def after(before: str, end: str = "") -> str:
        """The place after a character of a class, marks, and `end`."""
        return "(?<=" + "|".join(before + marks * count + end for count in range(MAX_MARKS + 1)) + ")"

    def stays(middle: tuple[int, ...], sides: tuple[int, ...]) -> str:
        """Where a character in the middle stays, as both its sides are of these classes."""
        one, side = f"[{char_set(code_points(*middle))}]", f"[{char_set(code_points(*sides))}]"
        return f"{after(side, one)}{marks}*{side}"

    letters = (LETTER, HEBREW)
    contexts = [stays((MID_LETTER, MID_BOTH, *quotes), letters), stays((MID_NUMBER, MID_BOTH, *quotes), (NUMBER,))]
    contexts += [stays(double, (HEBREW,))] * len(double) + [stays(hyphens, word)] * len(hyphens)
    if quotes:  # also at the end of a word
        contexts.append(after(f"[{char_set(code_points(HEBREW))}]", "'"))
    separators = f"(?:[^{kept}{spaces}]+|[{char_set(code_points(*inner))}](?!{'|'.join(contexts)}))"
    # one step for all that separates words, as none of the conditions depends on what another has replaced
    first = [f"{separators}{marks}*", f"(?:\\A| ){marks}+", *first_places(word, starting, marks, joining, after)]
    yield "|".join(first), LINES
    if REGIONAL in starting:  # two letters are a flag
        flags = code_points(REGIONAL)
        one, another = "|".join(map(chr, flags.tolist())), f"[{char_set(flags)}]"
        yield f"(?:{one}){marks}*{another}{marks}*\\K(?={another})", LINES


def first_places(word: tuple[int, ...], starting: tuple[int, ...], marks: str, joining: str, after: Any) -> list[str]:
    """The places between two words that nothing separates."""
    others = char_set(code_points(*(kind for kind in starting if kind not in word)))
    places = [f"(?<=[^\n{joining}])(?=[{char_set(code_points(SINGLE))}])"]
    for kind in (KATAKANA, IDEOGRAPH, REGIONAL):
        same = char_set(code_points(kind))
        if kind in starting:
            places.append(f"(?=[{same}])" + after(f"[^\n{joining}{same}{marks[1:-1]}]"))
    if EMOJI in starting:
        emoji = char_set(code_points(EMOJI))
        places.append(f"(?<=[^\n\u200d{joining}])(?=[{emoji}])")
        places.append(f"(?=[{emoji}])" + after(f"[^\n{emoji}{marks[1:-1]}]", "\u200d"))
    # most characters fail the first condition of both
    before_word = f"(?<=[{others}{marks[1:-1]}])(?=[{char_set(code_points(*word))}])" + after(f"[{others}]")
    return [before_word, f"(?=[{others}])(?:{'|'.join(places)})"]


def changing_steps(rules: WordRules, words: list[str]) -> Iterator[Step]:
    """Yield the steps that change words as `WordRules.normalize_words` does."""
    available = set(normalize("NFD", "".join(words)))
    forms = [] if rules.normalize == "none" else [rules.normalize.upper()]
    lower = list(lower_case_steps(rules, available))
    yield from lower
    if isinstance(rules.tokenizer, WordTokenizer):
        yield from cleaning_steps(rules.tokenizer)
    if lower and forms == ["NFC"] and (rules.case, rules.fold, rules.language) == ("lower", "", None):
        yield from composing_steps(available)
        return
    yield from forms
    for kind in filter(None, rules.fold.split(",")):
        yield from folding_steps(kind, available)
    if lower:
        yield from lower if rules.fold or rules.normalize == "nfkc" else []
        if rules.case == "fold":
            yield from replacements(full_case_folding(), available)
        if forms:
            yield from [(word_cleaning.DOTTED.pattern, "i")] if "i" in available else []
            yield from [(word_cleaning.LITHUANIAN_DOT.pattern, "")] if rules.language == "lt" else []
            yield from forms
            yield from final_sigma_steps(available) if rules.case == "lower" else []
    if rules.language == "el":
        yield from folding_steps("tonos", available)
    elif not lower and rules.fold:
        yield from forms
    if (rules.fold or rules.normalize == "nfkc") and rules.is_built_in and rules.tokenizer(" ") == []:
        yield f"(?<![^\n]){BLANKS}|{BLANKS}(?![^\n])", ""
        yield BLANKS, "_"


def composing_steps(available: set[str]) -> Iterator[Step]:
    """Yield the steps of the default rules from the first NFC on, with only one NFC, which takes long.

    The dot is removed before it instead of after it, unless NFC will move a mark between the letter and the dot.
    """
    if "i" in available:
        classes = np.array([combining(chr(point)) for point in range(MAX_MARK)])
        moved, others = (char_set(np.flatnonzero(one)) for one in ((classes > 0) & (classes < ABOVE), classes >= ABOVE))
        yield f"(?:i|\u0131)\u0307(?![{others}]*[{moved}])", "i"
    yield "NFC"
    yield from final_sigma_steps(available)


def final_sigma_steps(available: set[str]) -> Iterator[Step]:
    """Yield the step that writes a sigma at the end of a word, if a word has such a sigma."""
    if "\u03c2" in available:
        yield word_cleaning.FINAL_SIGMA.pattern, "\u03c2"


def lower_case_steps(rules: WordRules, available: set[str]) -> Iterator[Step]:
    """Yield the steps of `WordRules.lower`."""
    if rules.lower is not None:
        for char in "\u0130I":
            if (lowered := rules.lower(char)) != lower_case(char) and (lowered in available):
                yield char, lowered
        yield "Lowercase"


def cleaning_steps(tokenizer: WordTokenizer) -> Iterator[Step]:
    """Yield the steps of `word_cleaning.clean`, but for names of emoji."""
    viramas = char_set(np.array([point for point in range(MAX_MARK) if combining(chr(point)) == word_cleaning.VIRAMA]))
    yield word_cleaning.invisible().pattern, ""
    joiners = "[\u200c\u200d]*"
    idle = f"(?<![\u0590-\U0010ffff].){joiners}|(?<![\u200c\u200d{viramas}].){joiners}(?![^\n])"
    yield f"(?:\u200c|\u200d)(?:{idle})", ""
    yield in_turn(word_cleaning.INNER_APOSTROPHE.pattern), "'"
    if tokenizer.hyphens == "join":
        yield in_turn(word_cleaning.INNER_HYPHEN.pattern), "-"


def in_turn(pattern: str) -> str:
    """A pattern of `word_cleaning` that begins with a class of few characters, with these as alternatives."""
    characters, rest = pattern.removeprefix("[").split("]", 1)
    alternatives = "|".join(re.findall(r"\\u....|.", characters))
    return f"(?:{alternatives}){rest}(?!\\p{{M}})"  # a mark is in \w here, but not in Python


def folding_steps(kind: str, available: set[str]) -> Iterator[Step]:
    """Yield the steps of `word_cleaning.fold`."""
    if kind in word_cleaning.DECOMPOSED:
        yield from ("NFD", (word_cleaning.DECOMPOSED[kind].pattern, ""), "NFC")
    elif kind == "diacritics":
        yield word_cleaning.ARABIC_AND_HEBREW_MARKS.pattern, ""
    elif kind == "tatweel":  # but not all of a word
        yield "\u0640+(?=[^\n\u0640])|(?<=[^\n\u0640])\u0640+", ""
    else:
        table = word_cleaning.folding_table(kind)
        yield from replacements({chr(point): text for point, text in table.items()}, available)


def replacements(table: dict[str, str], available: set[str]) -> Iterator[Step]:
    """Yield the replacements of characters whose results occur in words."""
    yield from ((char, text) for char, text in table.items() if available & set(normalize("NFD", text)))


@cache
def full_case_folding() -> dict[str, str]:
    """What full case folding makes of characters in lower case."""
    characters = map(chr, range(0x20000))
    return {char: char.casefold() for char in characters if char.casefold() != char and lower_case(char) == char}
