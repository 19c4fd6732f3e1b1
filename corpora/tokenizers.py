"""Tokenizers: callables from a text to tokens; tokenizers by characters or word boundaries run compiled."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Literal
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import word_break, word_cleaning
from embeddings.corpora.segmenters import SEPARATOR, Segmenter
from embeddings.errors import SettingError
from embeddings.registry import load
from embeddings.settings import check_value

Tokenizer = Callable[[str], Iterable[str]]
Emoji = Literal["drop", "keep", "as-words"]
Joining = Literal["split", "join"]


def no_character(character: str) -> bool:
    """False for every character."""
    return False


def every_character(character: str) -> bool:
    """True for every character."""
    return True


@dataclass(frozen=True)
class CharClassTokenizer:
    """Tokens are maximal runs of the characters for which `is_inside` is true; a line end is never part of a token.

    A character for which `starts_token` is true begins a new token even within a run.

    A call returns the list of tokens of a text, computed in Python. A corpus is encoded by compiled code that calls the
    two functions once for each code point and gives the same tokens.
    """

    name: str
    is_inside: Callable[[str], bool]
    starts_token: Callable[[str], bool] = no_character

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text in order, in their original case."""
        runs = groupby(text, lambda character: character != "\n" and self.is_inside(character))
        tokens = []
        for run in (list(run) for inside, run in runs if inside):
            starts = [0, *(i for i, character in enumerate(run) if i and self.starts_token(character)), len(run)]
            tokens += ["".join(run[start:end]) for start, end in pairwise(starts)]
        return tokens


@dataclass(frozen=True)
class WordTokenizer:
    """Tokens are words after Unicode Standard Annex #29, and emoji; see `word_break` for the exceptions.

    Within a word, soft hyphens, zero-width characters and variation selectors are removed, and typographic apostrophes
    become "'". A joiner (U+200C, U+200D) stays where it changes how a word looks.

    Arguments:
        hyphens: "join" keeps words with hyphens together; "split" separates them.
        apostrophes: the same for apostrophes within words.
        emoji: "keep" makes each emoji sequence a token, "as-words" its name, such as "red_heart"; "drop" skips emoji.
    """

    name: str = "words"
    hyphens: str = "split"
    apostrophes: str = "join"
    emoji: str = "keep"

    def __post_init__(self) -> None:
        check_value("hyphens", self.hyphens, Joining, {})
        check_value("apostrophes", self.apostrophes, Joining, {})
        check_value("emoji", self.emoji, Emoji, {})

    @cached_property
    def moves(self) -> NDArray[np.uint8]:
        """The moves of the scanner's state machine."""
        return word_break.word_moves(
            hyphens=self.hyphens == "join", apostrophes=self.apostrophes == "join", emoji=self.emoji != "drop"
        )

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text in order, in their original case."""
        return [self.clean(text[start:end]) for start, end in self.spans(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where tokens start and end."""
        classes = word_break.word_classes(word_break.table_limit(text.encode("utf-8", "surrogatepass")))
        moves = self.moves.reshape(word_break.N_STATES, -1).tolist()
        spans, state, start, held = [], word_break.NOTHING, 0, 0
        for i, kind in enumerate([*classes[[*map(ord, text)]].tolist(), word_break.SPACE]):
            move = moves[state][kind]
            if move >= word_break.FINISH:
                if state != word_break.NOTHING:
                    spans.append((start, held if state >= word_break.HELD else i))
                start = i
            elif move >= word_break.HOLD:
                held = i
            state = move & word_break.STATE_MASK
        return spans

    def clean(self, words: str) -> str:
        """Remove invisible characters from words, which are separated by line ends."""
        if words.isascii():
            return words
        return word_cleaning.clean(words, names_emoji=self.emoji == "as-words")


def is_word_character(character: str) -> bool:
    """Whether a character is a letter, combining mark or number (Unicode general categories L, M and N).

    If marks separated tokens, most Hindi words, and words with decomposed accents, would be split.
    """
    return category(character)[0] in "LMN"


def is_not_space(character: str) -> bool:
    """Whether a character is not Unicode white space, as in `str.split`."""
    return not character.isspace()


def is_not_ascii_space(character: str) -> bool:
    """Whether a character is not a separator of fastText: NUL, tab, line and page feeds, carriage return, and space."""
    return character not in "\0\t\n\v\f\r "


def is_not_mark(character: str) -> bool:
    """Whether a character is not a combining mark (Unicode category M), which stays with the preceding character."""
    return category(character)[0] != "M"


def is_written(character: str) -> bool:
    """Whether a character may be part of words as other programs have them: ASCII, or what words after UAX #29 have."""
    point = ord(character)
    limit = word_break.LIMITS[1 if point < word_break.LIMITS[1] else 2]
    return not character.isspace() and (
        character.isascii() or word_break.word_classes(limit)[point] != word_break.OUTSIDE
    )


words = WordTokenizer()
alphanumeric = CharClassTokenizer("alphanumeric", is_word_character)
whitespace = CharClassTokenizer("whitespace", is_not_space)
ascii_whitespace = CharClassTokenizer("ascii-whitespace", is_not_ascii_space)
characters = CharClassTokenizer("characters", is_not_space, is_not_mark)
codepoints = CharClassTokenizer("codepoints", every_character, every_character)
segmented = CharClassTokenizer("segmented", lambda character: character != SEPARATOR)  # the output of segmenters
written = CharClassTokenizer("written", is_written)
BUILT_IN = (words, alphanumeric, whitespace, ascii_whitespace, characters, codepoints)


def token_name(tokenizer: str) -> str:
    """Return the name of one token of a tokenizer for messages, "character" or "word"."""
    return "character" if tokenizer in (characters.name, codepoints.name) else "word"


def resolve_tokenizer(tokenizer: str | Tokenizer) -> Tokenizer:
    """Return an installed tokenizer (entry-point group `embeddings.tokenizers`), or the callable itself.

    A name may have an argument, as in "spacy:de".
    """
    if not isinstance(tokenizer, str):
        return tokenizer
    name, colon, argument = tokenizer.partition(":")
    built_in = {item.name: item for item in BUILT_IN}
    result = built_in[name] if name in built_in else load("tokenizer", name)
    if colon and not (isinstance(result, Segmenter) and result.argument_name):
        raise SettingError(f"the tokenizer {name} takes no argument, got {argument!r:.80}")
    if isinstance(result, Segmenter):
        result = replace(result, argument=argument) if colon else result
        result.check()
    return result


def lower_case(token: str) -> str:
    """Lower-case each code point of a token by itself.

    Unlike `str.lower`, a capital sigma at the end of a word becomes the common small sigma, not the final one, so that
    the result does not depend on the position. İ becomes two code points.
    """
    return "".join(map(str.lower, token)) if "Σ" in token else token.lower()


def is_lower_case(words: Iterable[str]) -> bool:
    """Whether lower-casing changes no word."""
    text = "\n".join(words)
    return lower_case(text) == text
