"""Writes the examples of docs/guide/languages.md from language_samples.tsv: `python tools/language_table.py`."""

import re
from pathlib import Path
from unicodedata import category, combining

from embeddings.corpora.word_rules import WordRules

SAMPLES = Path(__file__).with_name("language_samples.tsv")
PAGE = Path(__file__).parents[1] / "docs" / "guide" / "languages.md"
PLACE = re.compile("(?<=<!-- examples -->\n).*(?=<!-- end of examples -->)", re.DOTALL)
HEADER = "| language | text | settings | tokens, `alphanumeric` | tokens, `words` |\n| --- | --- | --- | --- | --- |\n"


def tokens(text: str, **settings: str) -> list[str]:
    """Return the words of a text."""
    rules = WordRules(**settings)
    return [rules.normalize_one(token) for token in rules.tokenizer(text)]


def visible(text: str) -> str:
    """Write format characters, variation selectors and marks of decomposed letters as code points."""
    is_hidden = [
        category(point) == "Cf" or point == "\ufe0f" or (combining(point) in (202, 220, 230) and point < "\u0370")
        for point in text
    ]
    return "".join(f"[{ord(point):04X}]" if hidden else point for point, hidden in zip(text, is_hidden, strict=True))


def cell(words: list[str]) -> str:
    """Write words as code."""
    return " ".join(f"`{visible(word)}`" for word in words)


def table() -> str:
    """Return the table."""
    lines = []
    for row in SAMPLES.read_text("utf-8").splitlines():
        language, text, options = row.split("\t")
        settings = dict(option.split("=") for option in options.split(";") if option)
        shown = " ".join(f"`{name}={value}`" for name, value in settings.items())
        before = tokens(text, tokenizer="alphanumeric", normalize="none")
        after = tokens(text, tokenizer="words", **settings)
        lines.append(f"| {language} | {visible(text)} | {shown} | {cell(before)} | {cell(after)} |\n")
    return HEADER + "".join(lines)


def with_table(page: str) -> str:
    """Return the page with the current table."""
    return PLACE.sub(lambda _: table(), page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
