"""The tokenizer `words` against Unicode's official test file, and against the rules applied one after the other."""

import gzip
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode
from naive_words import segments, tailored, word_tokens

from embeddings.corpora.tokenizers import WordTokenizer, words

OFFICIAL = Path(__file__).parents[1] / "data/unicode/WordBreakTest.txt.gz"
CHARACTERS = (
    "aAé1٣אבカ゛中かก²½'’\".,:;·-‐_ \n\r\u00a0\u202f\u00ad\u200b\u200c\u200d\u2060\ufeff\u0301\u0308\ufe0f\u093f\u0345"
    "❤👩😀🏽🇦🇧©™՛\u02c2\u3164\U000e0067"
)
TEXT = st.text(st.one_of(st.sampled_from(CHARACTERS), st.characters(exclude_categories=["Cs"])), max_size=14)
CHOICES = {"hyphens": ["split", "join"], "apostrophes": ["split", "join"], "emoji": ["drop", "keep"]}
SETTINGS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHOICES.items()})


def official_lines():
    """Each line as its parts between borders."""
    with gzip.open(OFFICIAL, "rt", encoding="utf-8") as stream:
        for line in stream:
            parts = [part.split("×") for part in line.split("#")[0].split("÷")[1:-1]]
            if parts:
                yield ["".join(chr(int(point, 16)) for point in part) for part in parts]


def is_emoji(character):
    return tailored(character) in ("Emoji", "Regional_Indicator")


def deviation(parts, tokens):
    """The documented exception by which tokens differ from the official parts that have a letter, number or emoji."""
    text = "".join(parts)
    expected = [part for part in parts if any(unicodedata.category(c)[0] in "LN" or is_emoji(c) for c in part)]
    if tokens == expected:
        return None
    if "_" in text or "\u202f" in text:
        return "connectors"
    if "\u200d" in text and any(map(is_emoji, text)):
        return "emoji after a joiner"
    bare = [part.lstrip("".join(c for c in part if unicodedata.category(c)[0] in "MC")) for part in expected]
    return "marks before a word" if tokens == bare else "other"


def test_the_reference_conforms_to_the_official_file():
    lines = list(official_lines())
    assert len(lines) == 1823
    assert [parts for parts in lines if segments("".join(parts)) != parts] == []


def test_words_of_the_official_file():
    found = Counter()
    for parts in official_lines():
        text = "".join(parts)
        tokens = [text[start:end] for start, end in words.spans(text)]
        assert tokens == word_tokens(text)
        found[deviation(parts, tokens)] += 1
    # the documented exceptions: connectors separate words, and an emoji is joined to emoji only
    assert found == {None: 1707, "connectors": 110, "emoji after a joiner": 6}


@settings(deadline=None, max_examples=120)
@given(text=TEXT, choice=SETTINGS)
def test_tokens_equal_the_reference(text, choice):
    tokenizer = WordTokenizer(**choice)
    expected = word_tokens(
        text,
        emoji=choice["emoji"] == "keep",
        hyphens=choice["hyphens"] == "join",
        apostrophes=choice["apostrophes"] == "join",
    )
    assert [text[start:end] for start, end in tokenizer.spans(text)] == expected


@settings(deadline=None, max_examples=60)
@given(text=TEXT)
def test_borders_do_not_depend_on_normalisation(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    with encode([f"{composed}\nend"]) as one, encode([f"{decomposed}\nend"]) as other:
        assert decoded(one) == decoded(other)


@pytest.mark.parametrize(
    ("text", "choice", "tokens"),
    [
        ("don't l’homme dogs' 'tis", {}, ["don't", "l'homme", "dogs", "tis"]),
        ("e\u0301’a e\u0301‐a", {"hyphens": "join"}, ["e\u0301'a", "e\u0301-a"]),
        ("don't l’homme", {"apostrophes": "split"}, ["don", "t", "l", "homme"]),
        ("3.14 1,000.5 e.g. U.S.A. a.", {}, ["3.14", "1,000.5", "e.g", "U.S.A", "a"]),
        ("state-of-the-art --x- a‐b", {}, ["state", "of", "the", "art", "x", "a", "b"]),
        ("state-of-the-art --x- a‐b", {"hyphens": "join"}, ["state-of-the-art", "x", "a-b"]),
        ("Auf\u00adlage a\u200bb c\u2060d Auf\u200clage", {}, ["Auflage", "a", "b", "cd", "Auflage"]),
        ("می‌خواهم ക്‍ ന്‍", {}, ["می‌خواهم", "ക്‍", "ന്‍"]),
        ("خانه‌ ها", {}, ["خانه", "ها"]),
        ("❤️ ❤ 👩‍👩‍👧😀 🇫🇷🇩🇪 👍🏽 ©™", {}, ["❤", "❤", "👩‍👩‍👧", "😀", "🇫🇷", "🇩🇪", "👍🏽"]),
        ("❤️ 👍🏽 🇫🇷", {"emoji": "as-words"}, [
            "heavy_black_heart", "thumbs_up_sign_emoji_modifier_fitzpatrick_type_4", "flag_fr",
        ]),
        ("a ❤️ b", {"emoji": "drop"}, ["a", "b"]),
        ("カタカナと漢字abc", {}, ["カタカナ", "と漢字", "abc"]),
        ('צה"ל ג\' "שלום"', {}, ['צה"ל', "ג'", "שלום"]),
        ("\u0301 \ufe0f \u200d\u00ad _x_", {}, ["x"]),
        ("ինչո՞ւ", {}, ["ինչու"]),
    ],
)  # fmt: skip
def test_examples(text, choice, tokens):
    assert WordTokenizer(**choice)(text) == tokens
