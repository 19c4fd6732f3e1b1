"""Which known words look like one that is not known."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

LOOKED_AT = 50_000


def close_matches(word: str, words: Sequence[str], known: Mapping[str, object], number: int = 3) -> list[str]:
    """Up to `number` words that look most like `word`, best first.

    Another case comes first; then the most frequent 50,000 words that begin or end alike and are about as
    long are compared, so that a miss costs milliseconds on any vocabulary.
    """
    if not isinstance(word, str) or not word:
        return []
    cases = dict.fromkeys((word.lower(), word.capitalize(), word.upper()))
    found = [other for other in cases if other in known and other != word]
    alike = [
        other
        for other in words[:LOOKED_AT]
        if abs(len(other) - len(word)) <= 2 and (other[:2] == word[:2] or other[-2:] == word[-2:])
    ]
    close = get_close_matches(word, alike, n=number, cutoff=0.7)
    return list(dict.fromkeys(found + close))[:number]
