"""Spelling suggestions for unknown words."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

MAX_COMPARED = 50_000


def close_matches(word: str, words: Sequence[str], index: Mapping[str, object], number: int = 3) -> list[str]:
    """Return up to `number` words that are spelled like `word`, best first.

    Words that differ only in case come first. Then come similar words among the 50,000 most frequent, if they have a
    similar length and the same first or last two characters; this takes milliseconds for any vocabulary.
    """
    if not isinstance(word, str) or not word:
        return []
    cases = dict.fromkeys((word.lower(), word.capitalize(), word.upper()))
    same_letters = [other for other in cases if other in index and other != word]
    candidates = [
        other
        for other in words[:MAX_COMPARED]
        if abs(len(other) - len(word)) <= 2 and (other[:2] == word[:2] or other[-2:] == word[-2:])
    ]
    close = get_close_matches(word, candidates, n=number, cutoff=0.7)
    return list(dict.fromkeys(same_letters + close))[:number]
