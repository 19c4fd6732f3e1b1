"""Phrases: their words, count, score, type and pass."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from embeddings.errors import S, SettingError
from embeddings.support.arrow import pa
from embeddings.support.word_list import MAX_SUM

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

JOINER = "_"  # joins the words of a phrase by default, and in test sets
PhraseMode = Literal["replace", "alternate"]
MAX_WORDS = 32  # of a phrase
MAX_PASSES = 8
WORDS, PASS = "words", "pass"  # columns of a phrase table


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of a phrase, and the results of its detection.

    count: how often its words occurred next to each other when it was detected. score: its detection score. type: such
    as "noun-noun". step: the pass over the corpus, from 1, that joins it, in which phrases of earlier passes count as
    words.
    """

    words: tuple[str, ...]
    count: int | None = None
    score: float | None = None
    type: str | None = None
    step: int = 1


class PhraseSource(Protocol):
    """A source of phrases: settings of phrase detection, or a list."""

    @property
    def fingerprint(self) -> str:
        """An identifier: sources with equal fingerprints find equal phrases in equal corpora."""

    def find(self, encoded: "EncodedCorpus") -> Iterable[Phrase]:
        """Return the phrases for a corpus."""


def check_phrase(phrase: Phrase) -> None:
    """Raise SettingError unless a phrase has 2 to 32 valid words, and valid numbers."""
    if not 2 <= len(phrase.words) <= MAX_WORDS or not all(word and is_encodable(word) for word in phrase.words):
        expected = f"2 to {MAX_WORDS} words of valid Unicode, none of them empty"
        raise SettingError(f"a phrase must have {expected}, got {phrase.words!r:.80}")
    is_counted = 0 <= (phrase.count or 0) <= MAX_SUM and 1 <= phrase.step <= MAX_PASSES
    if not (is_counted and math.isfinite(phrase.score or 0)):
        limits = f"a count from 0 to {MAX_SUM}, a finite score and a pass from 1 to {MAX_PASSES}"
        raise SettingError(f"a phrase must have {limits}, got {phrase.count}, {phrase.score} and {phrase.step}")


def check_joiner(joiner: str) -> str:
    """Return the joiner; raises SettingError if it is empty, not valid Unicode, or has a letter, digit or space."""
    if not joiner or not is_encodable(joiner) or any(mark.isalnum() or mark.isspace() for mark in joiner):
        raise SettingError(f"{S.joiner} must be characters other than letters, digits and white space, got {joiner!r}")
    return joiner


def is_encodable(text: str) -> bool:
    """Whether a text can be encoded as UTF-8; lone surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def phrase_schema() -> Any:
    """Return the pyarrow schema of a phrase table."""
    return pa.schema([(WORDS, pa.large_list(pa.large_string())), (PASS, pa.int8())])


def to_phrase_table(phrases: Iterable[Phrase]) -> Any:
    """Return the words and passes of phrases as a pyarrow table."""
    rows = list(phrases)
    return pa.table([[row.words for row in rows], [row.step for row in rows]], schema=phrase_schema())
