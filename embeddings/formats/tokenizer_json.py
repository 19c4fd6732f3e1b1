"""Reads and writes tokenizer.json, the file of the `tokenizers` library.

Text is lower-cased if all words are in lower case. It is split as the tokenizer `words` splits it (but not at
underscores if they join the words of phrases) if all words could come from there, or if it is not known how the
training text was split, as `embed` does; else at white space.
"""

from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from embeddings.corpora.reading.compression import open_binary
from embeddings.corpora.tokenizers import WordTokenizer, is_word_character, lower_case
from embeddings.corpora.word_break import emoji_ranges
from embeddings.errors import FormatError
from embeddings.support.imports import import_extra

UNKNOWN = "[UNK]"
LETTERS, DIGITS, NUMBERS = r"\p{L}\p{M}", r"\p{Nd}\p{Nl}", r"\p{N}"
# characters that join letters, or digits, on both sides of them; see `embeddings.corpora.word_break`
JOINING = (LETTERS, "'.:\u00b7\u05f4\u2018\u2019\u2027"), (DIGITS, "'.,;\u066c\u2018\u2019\u2044")
EMOJI = "".join(f"{chr(first)}-{chr(last)}" for first, last in emoji_ranges())
FLAGS = "\U0001f1e6-\U0001f1ff"


def word_pattern(words: list[str], *, is_split: bool) -> str:
    """The regular expression of words; "_" is part of a word only if one of `words` has it, as phrases do.

    Numbers that are not digits, such as "\u00b2", are words of their own if `is_split`, as of the tokenizer `words`;
    else they are part of a word, as of the tokenizer `alphanumeric`.
    """
    letters = LETTERS + (DIGITS if is_split else NUMBERS) + "_" * any("_" in word for word in words)
    joined = (f"(?<=[{side}])[{joining}](?=[{side}])[{letters}]+" for side, joining in JOINING)
    emoji = f"[{EMOJI}](?:\\p{{M}}|[\U000e0020-\U000e007f]|\u200d[{EMOJI}])*"
    return f"[{letters}]+(?:{'|'.join(joined)})*|[{FLAGS}]{{2}}|{emoji}" + r"|\p{No}" * is_split


def import_tokenizers() -> Any:
    """Import the library."""
    return import_extra("tokenizers", "tokenizers", "a folder with a tokenizer.json")


def write_tokenizer(words: list[str], path: Path, *, is_known: bool = True) -> str:
    """Write a tokenizer whose ids are the rows of `words`, then a token for unknown words; returns that token.

    is_known: it is known how the training text was split, and the words tell the rest.
    """
    tokenizers = import_tokenizers()
    existing, unknown, number = set(words), UNKNOWN, 0
    while unknown in existing:
        number += 1
        unknown = f"[UNK{number}]"
    ids = {word: i for i, word in enumerate([*words, unknown])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token=unknown))
    tokenizer.normalizer = new_normalizer(words)
    is_split = not is_known or are_words(words)
    if is_split or has_only_word_characters(words):
        pattern = tokenizers.Regex(word_pattern(words, is_split=is_split))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(pattern, "removed", invert=True)
    else:
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([unknown])
    path.write_text(tokenizer.to_str(), encoding="utf-8")
    return unknown


def copy_tokenizer(source: Path, path: Path) -> tuple[list[str], str | None]:
    """Write another tokenizer.json without truncation and padding; returns its tokens, and that for unknown words.

    Raises:
        FormatError: it cannot be read, or has gaps in its ids.
    """
    if not source.is_file():
        raise FormatError(f"the words are tokens of {source}, which does not exist: move the file back to this path")
    tokenizer, tokens, unknown = load_tokenizer(source, None, "strict")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    path.write_text(tokenizer.to_str(), encoding="utf-8")
    return tokens, unknown


def new_normalizer(words: list[str]) -> Any:
    """The normaliser of what all words share: composed characters, "'" as apostrophe, nothing invisible, lower case."""
    tokenizers, text = import_tokenizers(), "\n".join(words)
    rules = []
    if is_normalized("NFC", text):
        rules.append(tokenizers.normalizers.NFC())
    if not text.isascii() or "'" in text:
        for old, new in (("\u2019", "'"), ("\ufe0f", ""), ("\u00ad", "")):
            rules += [] if old in text else [tokenizers.normalizers.Replace(old, new)]
    if is_lower_case(words):
        rules.append(tokenizers.normalizers.Lowercase())
    return tokenizers.normalizers.Sequence(rules) if rules else None


def is_lower_case(words: list[str]) -> bool:
    """Whether lower-casing changes no word."""
    text = "\n".join(words)
    return lower_case(text) == text


def has_only_word_characters(words: list[str]) -> bool:
    """Whether all characters are letters, marks, numbers or underscores."""
    return all(map(is_word_character, set("".join(words)) - {"_"}))


def are_words(words: list[str]) -> bool:
    """Whether all words are such as the tokenizer `words` returns, perhaps joined by underscores."""
    tokenizer = WordTokenizer()
    special = [word for word in words if not (word.isascii() and word.isalnum())]
    parts = [part for word in special for part in word.split("_") if part]
    return all(tokenizer.spans(part) == [(0, len(part))] for part in parts)


def load_tokenizer(path: Path, rows: int | None, errors: str) -> tuple[Any, list[str], str | None]:
    """A tokenizer, its tokens in the order of their ids from 0 (to rows - 1), and the token for unknown words, if any.

    Raises:
        FormatError: the file cannot be read, or the ids have gaps.
    """
    tokenizers = import_tokenizers()
    with open_binary(path) as stream:
        data = stream.read()
    try:
        tokenizer = tokenizers.Tokenizer.from_str(data.decode("utf-8", errors))
        ids = tokenizer.get_vocab(with_added_tokens=True)
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}") from None
    except Exception as error:  # the library raises nothing more specific
        raise FormatError(f"{path} is truncated or not a tokenizer: {' '.join(str(error).split()):.200}") from None
    tokens = sorted(ids, key=ids.__getitem__)
    last = (len(ids) if rows is None else rows) - 1
    if sorted(ids.values()) != list(range(last + 1)):
        reason = "" if rows is None else ", one for each vector"
        raise FormatError(f"{path}: the {len(tokens)} tokens must have the ids 0 to {last}{reason}")
    return tokenizer, tokens, getattr(tokenizer.model, "unk_token", None)
