"""Lists of phrases, detected or supplied by the user, in memory and in files."""

import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from embeddings.corpora.encoded_corpus import Encodable, EncodedCorpus, as_encoded
from embeddings.corpora.phrases.phrase import (
    JOINER,
    PASS,
    WORDS,
    Phrase,
    check_joiner,
    check_phrase,
    to_phrase_table,
)
from embeddings.errors import FormatError, SettingError
from embeddings.support.files import atomic_write
from embeddings.support.text_lines import read_text_lines

HEADER = ("phrase", "count", "score", "type", "pass")
NUMBERS = {"count": int, "score": float, "pass": int}


class PhraseList:
    """Phrases that become tokens; of several phrases with equal words, the first is used.

    Arguments:
        phrases: `Phrase` objects, sequences of words such as ("new", "york"), or strings of words separated by spaces.

    Raises:
        SettingError: a phrase does not have 2 to 32 words, or a word is empty.
    """

    def __init__(self, phrases: Iterable[Phrase | Sequence[str]]) -> None:
        by_words: dict[tuple[str, ...], Phrase] = {}
        for item in phrases:
            words = item.split() if isinstance(item, str) else item
            phrase = words if isinstance(words, Phrase) else Phrase(tuple(words))
            check_phrase(phrase)
            by_words.setdefault(phrase.words, phrase)
        self.phrases = tuple(by_words.values())

    def __len__(self) -> int:
        return len(self.phrases)

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self.phrases)

    def __repr__(self) -> str:
        return f"<PhraseList of {len(self)} phrases>"

    @cached_property
    def fingerprint(self) -> str:
        """A digest that is equal for equal words in equal passes."""
        content = json.dumps([[phrase.step, *phrase.words] for phrase in self.phrases])
        return sha256(content.encode()).hexdigest()[:24]

    def find(self, encoded: EncodedCorpus | Encodable) -> "PhraseList":
        """Return the whole list, whatever the corpus contains."""
        return self

    def map_words(self, function: Callable[[str], str]) -> "PhraseList":
        """Return the phrases with `function` applied to each word, such as to lower-case it."""
        return type(self)(replace(phrase, words=tuple(map(function, phrase.words))) for phrase in self.phrases)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a tab-separated file with a header: phrase (words separated by spaces), count, score, type, pass.

        Raises:
            OutputError: the file exists and `force` is false, or cannot be written.
            SettingError: a word contains white space, and would be read as two.
        """
        with (
            atomic_write(path, force=force) as temporary,
            temporary.open("w", encoding="utf-8", newline="\n") as stream,
        ):
            stream.write("\t".join(HEADER) + "\n")
            for phrase in self.phrases:
                text = " ".join(phrase.words)
                # a file separates words by spaces
                if text.split() != list(phrase.words):
                    problem = "has a word with white space and cannot be written to a file"
                    raise SettingError(f"the phrase {phrase.words!r} {problem}")
                score = None if phrase.score is None else f"{phrase.score:.8g}"
                values = (phrase.count, score, phrase.type, phrase.step)
                stream.write("\t".join((text, *("-" if value is None else str(value) for value in values))) + "\n")


def is_phrase_file(head: bytes) -> bool:
    """Whether a file that begins with `head` was written by `PhraseList.save`."""
    return head.removeprefix(BOM_UTF8).split(b"\n", 1)[0].rstrip(b"\r") == "\t".join(HEADER).encode()


def read_phrases(path: str | os.PathLike[str], *, joiner: str = JOINER) -> PhraseList:
    """Read a phrase list: a file that `PhraseList.save` wrote, or one with a phrase in each line.

    The words of a phrase are separated by spaces or, if there are none, by the joiner. Without a header, anything
    after a tab is ignored.

    Raises:
        FormatError: the file cannot be read, is not UTF-8, or contains no phrases; or a line is not a phrase (the
            message has its number).
    """
    path = Path(path)
    lines = read_text_lines(path, "phrase list")
    first = lines[0].split("\t")
    has_header = first[0] == HEADER[0]
    columns = first if has_header else HEADER[:1]
    check_joiner(joiner)
    phrases = []
    for number, line in enumerate(lines[has_header:], 1 + has_header):
        if line.strip():
            fields = dict(zip(columns, line.split("\t"), strict=False))
            try:
                phrases.append(parse_phrase(fields, joiner))
            except ValueError as error:  # a SettingError, too
                raise FormatError(f"{path}, line {number}: {error!s:.200}") from None
    if not phrases:
        raise FormatError(f"{path} contains no phrases")
    return PhraseList(phrases)


def parse_phrase(fields: dict[str, str], joiner: str) -> Phrase:
    """Parse the fields of a line."""
    words = fields[HEADER[0]].split()
    words = words[0].split(joiner) if len(words) == 1 else words
    values: dict[str, Any] = {name: value for name, value in fields.items() if value.strip() not in ("", "-")}
    values |= {name: kind(values[name]) for name, kind in NUMBERS.items() if name in values}
    phrase = Phrase(tuple(words), values.get("count"), values.get("score"), values.get("type"), values.get("pass", 1))
    check_phrase(phrase)
    return phrase


class ModelPhrases(PhraseList):
    """Phrases of a model, which a corpus need not contain."""

    def find(self, encoded: EncodedCorpus | Encodable) -> PhraseList:
        """Return the phrases whose words are all in the corpus."""
        known = as_encoded(encoded).vocabulary
        return PhraseList(phrase for phrase in self.phrases if all(word in known for word in phrase.words))


def merge_phrase_tables(old: Any, new: Any) -> Any:
    """Return the phrases of two tables, which may be None; a phrase in both tables keeps the old pass."""
    if old is None or new is None:
        return new if old is None else old
    return to_phrase_table(PhraseList([*phrases_from_table(old), *phrases_from_table(new)]))


def phrases_from_table(table: Any) -> ModelPhrases:
    """Return the phrases of a table; raises FormatError if the table is not valid."""
    try:
        rows = zip(table.column(WORDS).to_pylist(), table.column(PASS).to_pylist(), strict=True)
        return ModelPhrases(Phrase(tuple(words or ()), step=step or 0) for words, step in rows)
    except (SettingError, KeyError, TypeError) as error:
        raise FormatError(f"the phrase table is broken: {error}") from None
