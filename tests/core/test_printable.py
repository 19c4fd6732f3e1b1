"""Foreign text for terminals, tables and logs."""

import sys
from unicodedata import category

import pytest

from embeddings.errors import FormatError
from embeddings.printable import printable

UNPRINTABLE = [chr(code) for code in range(sys.maxunicode + 1) if category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


def test_every_unprintable_character_is_escaped():
    assert len(UNPRINTABLE) > 2000  # surrogates are most of them
    for character in UNPRINTABLE:
        escaped = printable(f"a{character}b")
        assert escaped.isascii()
        assert escaped.isprintable()
        assert eval(f"'{escaped}'") == f"a{character}b"


@pytest.mark.parametrize(
    "text",
    [
        "naïve Straße 日本 हिन्दी العربية",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "क्\u200dष",
        "👩\u200d👧",
        "👨🏽\u200d💻",
        "a\\b",
        "=1+1",
        "\ue000",
    ],
)
def test_text_of_any_script_stays(text):
    assert printable(text) == text


@pytest.mark.parametrize("text", ["a\u200db", "é\u200db", "\u200dé", "é\u200d", "é\u200d\u200cé", "1\u200c2", "\u200d"])
def test_a_joiner_that_joins_nothing_is_escaped(text):
    assert "\\u200" in printable(text)
    assert not {"\u200c", "\u200d"} & set(printable(text))


def test_messages_of_errors_are_printable():
    assert str(FormatError("v\x1b]0;t\x07.bin\n is \u202e broken")) == r"v\x1b]0;t\x07.bin\n is \u202e broken"
