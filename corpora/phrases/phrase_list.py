"""Lists of phrases: found in a corpus or given, kept in a file, one a line."""

import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.errors import FormatError, SettingError
from embeddings.support.files import replacing

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

JOINER = "_"
LONGEST = 32  # words of a phrase
PASSES = 8  # at most
HEADING = "phrase"
FIRST = "\t".join((HEADING, "count", "score", "type", "pass"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: its words, and what is known of it.

    count: how often its words stood side by side when it was found. score: that of detection. type: such as
    "noun-noun". step: the pass over the corpus that joins it; later ones see what earlier ones have joined.
    """

    words: tuple[str, ...]
    count: int | None = None
    score: float | None = None
    type: str | None = None
    step: int = 1


class PhraseList:
    """Phrases that become tokens, each once; of several with the same words the first stands.

    phrases: `Phrase`s, or sequences of words such as ("new", "york"), or strings of words with spaces between.

    Raises:
        SettingError: a phrase has fewer than two words or more than 32, or one that is empty.
    """

    def __init__(self, phrases: Iterable[Phrase | Sequence[str]]) -> None:
        first: dict[tuple[str, ...], Phrase] = {}
        for given in phrases:
            words = given.split() if isinstance(given, str) else given
            if not isinstance(words, Phrase | Sequence):
                raise SettingError(f"a phrase is its words, as a text or in a sequence, and not {given!r:.80}")
            phrase = words if isinstance(words, Phrase) else Phrase(tuple(words))
            check(phrase)
            first.setdefault(phrase.words, phrase)
        self.phrases = tuple(first.values())

    def __len__(self) -> int:
        return len(self.phrases)

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self.phrases)

    def __repr__(self) -> str:
        return f"<PhraseList of {len(self)} phrases>"

    @cached_property
    def identity(self) -> str:
        """Equal for equal words in equal passes."""
        told = json.dumps([[phrase.step, *phrase.words] for phrase in self.phrases])
        return sha256(told.encode()).hexdigest()[:24]

    def find(self, encoded: "EncodedCorpus") -> "PhraseList":
        """The list itself, which is the same for every corpus."""
        return self

    def cased(self, change: Callable[[str], str]) -> "PhraseList":
        """The phrases with each word changed, such as to lower case."""
        return type(self)(replace(phrase, words=tuple(map(change, phrase.words))) for phrase in self.phrases)

    def apply(self, encoded: "EncodedCorpus", *, joiner: str = JOINER, words: str = "replace") -> "EncodedCorpus":
        """The corpus with phrases as tokens, in a temporary folder; see `applying.apply`.

        Raises:
            CorpusError, SettingError, OutputError: as `applying.apply`.
        """
        from embeddings.corpora.corpus_cache.tempdir import made_in
        from embeddings.corpora.encoded_corpus import EncodedCorpus
        from embeddings.corpora.phrases.application import apply

        with made_in(None) as scratch:
            apply(encoded, self, scratch, joiner=joiner, words=words)
        return EncodedCorpus(scratch, temporary=True)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write tab-separated lines under a heading: phrase (words parted by spaces), count, score, type, pass.

        Raises:
            OutputError: the file exists and `force` is not given, or cannot be written.
            SettingError: a word holds white space, and would come back as two.
        """
        with replacing(path, force=force) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(FIRST + "\n")
            for phrase in self.phrases:
                stream.write(line(phrase) + "\n")


def check(phrase: Phrase) -> None:
    """Refuse what is no phrase.

    Raises:
        SettingError: it has fewer than two words or more than LONGEST, or one that is empty or no valid Unicode.
    """
    if not 2 <= len(phrase.words) <= LONGEST or not all(isinstance(word, str) and word for word in phrase.words):
        raise SettingError(f"a phrase has 2 to {LONGEST} words, none of them empty, and is not {phrase.words!r:.80}")
    if not all(map(is_unicode, phrase.words)):
        raise SettingError(f"the words of a phrase must be valid Unicode, and are not: {phrase.words!r:.80}")
    if not 1 <= phrase.step <= PASSES:
        raise SettingError(f"the pass of a phrase is from 1 to {PASSES}, not {phrase.step}")


def check_joiner(joiner: str) -> str:
    """The joiner itself.

    Raises:
        SettingError: it is empty, no valid Unicode, or holds a letter, digit or white space, by which words could not
            be told apart.
    """
    if not isinstance(joiner, str) or not joiner or any(mark.isalnum() or mark.isspace() for mark in joiner):
        raise SettingError(f"joiner must be marks that are neither letter, digit nor white space, not {joiner!r}")
    if not is_unicode(joiner):
        raise SettingError(f"joiner must be valid Unicode (UTF-8), not {joiner!r}")
    return joiner


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: surrogates cannot, which stand for bytes that were none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def line(phrase: Phrase) -> str:
    """A phrase as a line of a file; "-" for what is not known.

    Raises:
        SettingError: a word holds white space.
    """
    text = " ".join(phrase.words)
    if text.split() != list(phrase.words):
        raise SettingError(f"the phrase {phrase.words!r} holds white space in a word and cannot stand in a file")
    score = None if phrase.score is None else f"{phrase.score:.8g}"
    rest = ["-" if value is None else str(value) for value in (phrase.count, score, phrase.type, phrase.step)]
    return "\t".join((text, *rest))


def is_list(start: bytes) -> bool:
    """Whether what begins so is a list that `PhraseList.save` wrote."""
    return start.removeprefix(BOM_UTF8).split(b"\n", 1)[0].rstrip(b"\r") == FIRST.encode()


def read(path: str | os.PathLike[str], *, joiner: str = JOINER) -> PhraseList:
    """The phrases of a file: those that `PhraseList.save` wrote, or just one a line.

    The words of a phrase are parted by spaces, or if there are none by the joiner; what follows a tab is passed
    over, unless the first line is a heading.

    Raises:
        FormatError: the file cannot be read, is not UTF-8, or holds no phrases; or a line is none, told by its number.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        raise FormatError(f"{path} cannot be read as a list of phrases: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}, and no list of phrases") from None
    heading = lines[0].rstrip("\r").split("\t")
    named = heading[0] == HEADING
    found = []
    for number, text in enumerate(lines[named:], 1 + named):
        if text.strip():
            fields = dict(zip(heading if named else [HEADING], text.rstrip("\r").split("\t"), strict=False))
            try:
                found.append(parsed(fields, check_joiner(joiner)))
            except SettingError as error:
                raise FormatError(f"{path}, line {number}: {error}") from None
    if not found:
        raise FormatError(f"{path} holds no phrases")
    return PhraseList(found)


def parsed(fields: dict[str, str], joiner: str) -> Phrase:
    """The phrase of a line.

    Raises:
        SettingError: it is none, or a number is none.
    """
    words = fields[HEADING].split()
    words = words[0].split(joiner) if len(words) == 1 else words
    if len(words) < 2:
        raise SettingError(f"two words or more are needed, parted by spaces or {joiner!r}, not {fields[HEADING]!r:.80}")
    known = {name: value for name, value in fields.items() if value.strip() not in ("", "-")}
    count, score, step = (
        number(known.get(name), kind) for name, kind in (("count", int), ("score", float), ("pass", int))
    )
    phrase = Phrase(tuple(words), count, score, known.get("type"), 1 if step is None else step)
    check(phrase)
    return phrase


def number(text: str | None, kind: Callable[[str], Any]) -> Any:
    """The number that is written there, if anything is.

    Raises:
        SettingError: it is no such number.
    """
    try:
        return None if text is None else kind(text)
    except ValueError:
        raise SettingError(f"{text!r:.40} is not a number") from None
