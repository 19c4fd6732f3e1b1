"""tokenizer.json, the file of the `tokenizers` library: one that cuts text into the words of vectors; the words of any.

Text is cut as the words themselves let suppose: it is lower-cased if all of them are in lower case; and it falls into
runs of letters, marks and numbers (and underscores, which join the words of phrases) if no word holds another
character, else it is cut at white space.
"""

import json
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError

UNKNOWN = "[UNK]"
WORD = r"[\p{L}\p{M}\p{N}_]+"


def unknown_for(words: list[str]) -> str:
    """A token for what is not known: the usual [UNK], or with a number if that is a word."""
    taken, number, token = set(words), 0, UNKNOWN
    while token in taken:
        number += 1
        token = f"[UNK{number}]"
    return token


def write(words: list[str], path: Path) -> str:
    """Write a tokenizer whose tokens are the words, numbered in their order, and last one for all that is unknown.

    Returns:
        The token for what is unknown.
    """
    unknown = unknown_for(words)
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(unknown, len(words))],
        "normalizer": {"type": "Lowercase"} if all_lower(words) else None,
        "pre_tokenizer": cutter(words),
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate([*words, unknown])},
            "unk_token": unknown,
        },
    }
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return unknown


def added(token: str, number: int) -> dict[str, Any]:
    """A token that stands for no word."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": token, **flags}


def all_lower(words: list[str]) -> bool:
    """Whether no word would change in lower case."""
    from embeddings.corpora.tokenizers import lowered

    text = "\n".join(words)
    return lowered(text) == text


def only_words(words: list[str]) -> bool:
    """Whether every character is one of those that words are made of, or an underscore."""
    from embeddings.corpora.tokenizers import in_word

    return all(map(in_word, set("".join(words)) - {"_"}))


def cutter(words: list[str]) -> dict[str, Any]:
    """How text falls into words."""
    if only_words(words):
        return {"type": "Split", "pattern": {"Regex": WORD}, "behavior": "Removed", "invert": True}
    return {"type": "WhitespaceSplit"}


def read(path: Path, rows: int, errors: str) -> tuple[list[str], str | None]:
    """The tokens by their numbers, of which there must be so many, and the one for what is unknown, if there is one.

    Raises:
        FormatError: the file is missing or broken, its tokens are not numbered from 0 to rows - 1, or one is no valid
            Unicode.
    """
    content = parsed(path, errors)
    model = content.get("model") if isinstance(content, dict) else None
    if not isinstance(model, dict):
        raise FormatError(f"{path} is no tokenizer: it has no model")
    numbers = numbered(path, model.get("vocab")) | extra(path, content.get("added_tokens") or [])
    words: list[str | None] = [None] * rows
    for word, number in numbers.items():
        if type(number) is not int or not 0 <= number < rows:
            raise FormatError(
                f"{path}: the token {word[:80]!r} has the number {number!r:.40}, and there are {rows} vectors"
            )
        if (other := words[number]) is not None:
            raise FormatError(f"{path}: the tokens {other[:80]!r} and {word[:80]!r} have the same number {number}")
        words[number] = word
    found = [word for word in words if word is not None]
    if len(found) < rows:
        raise FormatError(f"{path}: no token has the number {words.index(None)}, and there are {rows} vectors")
    check_unicode(path, found)
    unknown = model.get("unk_token")
    if isinstance(model.get("unk_id"), int) and 0 <= model["unk_id"] < rows:
        unknown = found[model["unk_id"]]
    return found, unknown if isinstance(unknown, str) else None


def parsed(path: Path, errors: str) -> Any:
    """What a JSON file holds.

    Raises:
        FormatError: it is missing, not UTF-8, or no JSON.
    """
    with opened(path) as stream:
        data = stream.read()
    try:
        return json.loads(data.decode("utf-8", errors))
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is truncated or no JSON: {str(error) or 'it is nested too deep':.200}") from None


def numbered(path: Path, vocabulary: Any) -> dict[str, Any]:
    """The number of each token: given as such, or by its place in a list of tokens and their scores.

    Raises:
        FormatError: it is neither.
    """
    if isinstance(vocabulary, dict):
        return dict(vocabulary)
    if isinstance(vocabulary, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in vocabulary
    ):
        return {pair[0]: number for number, pair in enumerate(vocabulary)}
    raise FormatError(f"{path} is no tokenizer with a vocabulary: that is {type(vocabulary).__name__}")


def extra(path: Path, tokens: Any) -> dict[str, Any]:
    """The numbers of the tokens that were added to a model.

    Raises:
        FormatError: they are not listed as they should be.
    """
    if not isinstance(tokens, list) or not all(
        isinstance(token, dict) and isinstance(token.get("content"), str) for token in tokens
    ):
        raise FormatError(f"{path} is broken: its added tokens are no list of tokens")
    return {token["content"]: token.get("id") for token in tokens}


def check_unicode(path: Path, words: list[str]) -> None:
    """Refuse halves of surrogate pairs, which JSON can spell and no output can hold.

    Raises:
        FormatError: naming the word.
    """
    try:
        "\n".join(words).encode()
    except UnicodeEncodeError:
        wrong = next(word for word in words if word.encode("utf-8", "replace").decode() != word)
        raise FormatError(f"{path}: the token {wrong[:80]!r} is not valid Unicode") from None
