"""The tokenizer `words` against the word boundaries of the library regex and of ICU, in languages of thirty scripts."""

import importlib
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from naive_words import is_start, tailored

from embeddings.corpora.tokenizers import words

ROOT = Path(__file__).parents[2]
SENTENCES = [ROOT / "tools/human_rights.tsv", ROOT / "tests/data/unicode/human_rights.tsv"]
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Viet}]"
KOREAN_NUMBERS = r"\p{N}\p{Hangul}|\p{Hangul}\p{N}"
MARK_BEFORE_PERIOD = "\\p{M}[.'\u2018\u2019]\\p{L}"


def by_regex():
    """The parts of a text between the word boundaries of regex."""
    borders = pytest.importorskip("regex").compile(r"(?V1w)\b")
    return lambda text: [part for part in borders.split(text) if part]


def by_icu():
    """The parts of a text between the word boundaries of ICU, without rules of a language."""
    icu = pytest.importorskip("icu", reason="requires PyICU")
    borders = icu.BreakIterator.createWordInstance(icu.Locale.getRoot())

    def split(text):
        text = icu.UnicodeString(text)
        borders.setText(text)
        ends = [0, *borders]
        return [str(text[start:end]) for start, end in pairwise(ends)]

    return split


def names():
    """The names of places, languages, scripts, currencies, months and days in each language of CLDR."""
    babel = pytest.importorskip("babel")
    for code in importlib.import_module("babel.localedata").locale_identifiers():
        locale = babel.Locale.parse(code)
        for table in (locale.territories, locale.languages, locale.scripts, locale.currencies):
            yield from map(str, table.values())
        for table in (locale.months, locale.days):
            yield from (str(name) for forms in table.values() for one in forms.values() for name in one.values())


def sentences():
    """Article 1 of the Universal Declaration of Human Rights: pairs of language and text."""
    return [row.split("\t") for path in SENTENCES for row in path.read_text("utf-8").splitlines()]


def tokens_of(parts):
    """The parts that have a letter, a number or an emoji, from the first of these on."""
    starts = ((next((i for i, c in enumerate(part) if is_start(tailored(c))), None), part) for part in parts)
    return [part[start:] for start, part in starts if start is not None]


def own_tokens(text):
    return [text[start:end] for start, end in words.spans(text)]


def deviation(text, split):
    """The documented exception by which tokens differ, or how the library differs from the annex; None if equal."""
    regex = pytest.importorskip("regex")
    own, other = own_tokens(text), tokens_of(split(text))
    if own == other:
        return None
    if regex.search("[_\u202f]", text) and own == tokens_of(split(regex.sub("[_\u202f]", " ", text))):
        return "connectors and narrow spaces"
    if regex.search(UNSPACED, text) and "".join(own) == "".join(other).replace(".", ""):
        return "scripts without spaces"
    if ":" in text and [token.replace(":", "·") for token in own] == tokens_of(split(text.replace(":", "·"))):
        return "colons in ICU"
    if regex.search(KOREAN_NUMBERS, text) and "".join(own) == "".join(other):
        return "numbers before Hangul in ICU"
    if regex.search(MARK_BEFORE_PERIOD, text) and own == tokens_without_marks(text, split):
        return "marks before periods and apostrophes in regex"
    return "other"


def tokens_without_marks(text, split):
    """Tokens of a text whose borders were found without its combining marks."""
    tokens, rest = [], text
    for part in split("".join(character for character in text if not is_mark(character))):
        end = count = 0
        while end < len(rest) and (count < len(part) or is_mark(rest[end])):
            count += not is_mark(rest[end])
            end += 1
        tokens.append(rest[:end])
        rest = rest[end:]
    return tokens_of(tokens)


def is_mark(character):
    return unicodedata.category(character)[0] == "M"


def scripts_of(text):
    return frozenset(unicodedata.name(character, " ").split()[0] for character in text if character.isalpha()) - {
        "MODIFIER"
    }


@pytest.mark.parametrize("library", [by_regex, by_icu])
def test_sentences(library):
    split = library()
    deviations = {language: deviation(text, split) for language, text in sentences()}
    assert len(deviations) >= 30
    unspaced = {language for language, found in deviations.items() if found == "scripts without spaces"}
    assert unspaced <= {"Chinese", "Japanese", "Thai"}
    assert {language for language, found in deviations.items() if found is not None} == unspaced


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "deviations"),
    [
        (by_regex, {"marks before periods and apostrophes in regex"}),
        (by_icu, {"colons in ICU", "numbers before Hangul in ICU"}),
    ],
)
def test_names_in_all_languages(library, deviations):
    split = library()
    texts = sorted(set(names()))
    by_text = {text: deviation(text, split) for text in texts}
    found = Counter(by_text.values())
    allowed = {None, "connectors and narrow spaces", "scripts without spaces", *deviations}
    assert set(found) <= allowed, [text for text in texts if by_text[text] not in allowed][:20]
    assert found[None] > 0.9 * len(texts)
    scripts = Counter(script for text in texts for script in scripts_of(text))
    assert len([script for script, number in scripts.items() if number >= 10]) >= 30
