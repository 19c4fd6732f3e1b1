"""Tokenisers: any callable from a text to its tokens; rules on single characters run compiled."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any
from unicodedata import category

from embeddings.errors import SettingError
from embeddings.registry import load

Tokenizer = Callable[[str], Iterable[str]]
CASES = ("lower", "keep")


def never(character: str) -> bool:
    """Not this one either."""
    return False


@dataclass(frozen=True)
class Runs:
    """Tokens are the longest runs of the characters that `inside` lets in; a line's end is never let in.

    A character that `first` tells begins a token of its own even in the midst of a run.

    Called with a text it gives the list of its tokens, in plain Python. A corpus is encoded by compiled code
    that asks `inside` once for each code point and gives the same tokens.
    """

    name: str
    inside: Callable[[str], bool]
    first: Callable[[str], bool] = never

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text, in order, cased as they stand."""
        runs = groupby(text, lambda character: character != "\n" and self.inside(character))
        found = []
        for run in (list(run) for inside, run in runs if inside):
            starts = [0, *(i for i, character in enumerate(run) if i and self.first(character)), len(run)]
            found += ["".join(run[start:end]) for start, end in pairwise(starts)]
        return found


def in_word(character: str) -> bool:
    """Whether it is a letter, a combining mark or a number (Unicode general categories L, M and N).

    Marks belong to words: without them most words of Hindi, and accents written as characters of their own,
    would fall apart.
    """
    return category(character)[0] in "LMN"


def not_space(character: str) -> bool:
    """Whether it is anything but Unicode white space, so that the runs are those of `str.split`."""
    return not character.isspace()


def not_mark(character: str) -> bool:
    """Whether it is anything but a combining mark (Unicode general category M), which stays with what it follows."""
    return category(character)[0] != "M"


def always(character: str) -> bool:
    """This one too."""
    return True


words = Runs("words", in_word)
whitespace = Runs("whitespace", not_space)
characters = Runs("characters", not_space, not_mark)
codepoints = Runs("codepoints", always, always)


def resolve(tokenizer: str | Tokenizer) -> Tokenizer:
    """The tokeniser of that name (entry-point group `embeddings.tokenizers`), or the callable itself.

    Raises:
        RegistryError: no installed package offers the name.
        SettingError: it is neither a name nor callable.
    """
    found: Any = load("tokenizer", tokenizer) if isinstance(tokenizer, str) else tokenizer
    if not callable(found):
        raise SettingError(f"tokenizer must be a name or a callable, not {tokenizer!r}")
    tokenise: Tokenizer = found
    return tokenise


def check_case(case: str) -> str:
    """The case itself.

    Raises:
        SettingError: it is not lower or keep.
    """
    if case not in CASES:
        raise SettingError(f"case must be lower or keep, not {case!r}")
    return case


def lowered(token: str) -> str:
    """The token with each code point in lower case by itself.

    This is `str.lower` but for the one rule there that looks at neighbours: a capital sigma at the end of a
    word becomes the common small one here and not the final one, so that a word is spelt the same wherever it
    is cut. İ becomes two code points.
    """
    return "".join(map(str.lower, token)) if "Σ" in token else token.lower()
