"""Sentences with a tag for each word: CoNLL-U, or two columns of word and tag."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.datasets import SHIPPED_TAGGING, lines, shipped

FIELDS = 10  # of a line of CoNLL-U
FORM, UPOS = 1, 3
ID = re.compile(r"\d+([-.]\d+)?")  # of a word, of several at once, of one that was left out
HINT = "a name, a folder of a treebank, or TRAIN,TEST"


@dataclass(frozen=True)
class Tagged:
    """Words and their tags, one sentence after another; `ends` (sentences,) are where each ends."""

    words: list[str]
    tags: list[str]
    ends: np.ndarray

    @property
    def sentence_of(self) -> np.ndarray:
        """The sentence of each word, (words,) int64."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))


@dataclass(frozen=True)
class TaggingSet:
    """What a tagger is learned from, and what it is judged by."""

    name: str
    train: Tagged
    test: Tagged


def read_tagging(name: str | os.PathLike[str]) -> TaggingSet:
    """A tagging set by name ("ud-ewt"), or the files of one: "TRAIN,TEST", or the folder of a UD treebank.

    Raises:
        FormatError: there is no such set or file, or it is not in either form.
    """
    train, test = locate_pair(name)
    return TaggingSet(label(name, test), read_tagged(train), read_tagged(test))


def label(name: str | os.PathLike[str], test: Path) -> str:
    """What results call a set: its name, or that of its file of tests without endings."""
    return str(name) if str(name) in SHIPPED_TAGGING and not Path(name).exists() else test.name.split(".")[0]


def locate_pair(name: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The files to learn from and to be judged by.

    Raises:
        FormatError: they cannot be told or are not there.
    """
    place = Path(name)
    if place.is_dir():
        return of_folder(place, "train"), of_folder(place, "test")
    if str(name) in SHIPPED_TAGGING:
        train, test = SHIPPED_TAGGING[str(name)]
        return shipped(train), shipped(test)
    parts = str(name).split(",")
    if len(parts) != 2 or not all(parts):
        known = ", ".join(sorted(SHIPPED_TAGGING))
        raise FormatError(f"no tagging set {str(name)!r}: {HINT} is needed; known by name: {known}")
    return Path(parts[0]), Path(parts[1])


def of_folder(folder: Path, part: str) -> Path:
    """The file of a treebank's folder that has this part in its name, as those of Universal Dependencies do.

    Raises:
        FormatError: there is none, or more than one.
    """
    found = sorted(path for path in folder.iterdir() if f"-{part}.conllu" in path.name)
    if len(found) != 1:
        raise FormatError(f"{folder} has {len(found)} files whose names end in -{part}.conllu, and one is needed")
    return found[0]


def read_tagged(path: Path) -> Tagged:
    """The sentences of a file, compressed or not.

    Of CoNLL-U the words with whole numbers are taken, each with its universal tag: a contraction counts as the words
    it stands for, and what was left out of the text does not count. In two columns a line is a word, a tab and its tag.
    Empty lines part sentences.

    Raises:
        FormatError: it cannot be read, a line is in neither form, or there are no words; the line is said.
    """
    words: list[str] = []
    tags: list[str] = []
    ends: list[int] = []
    for word, tag in tokens(path):
        if word:
            words.append(word)
            tags.append(tag)
        elif len(words) > (ends[-1] if ends else 0):
            ends.append(len(words))
    if not words:
        raise FormatError(f"{path} holds no tagged words")
    if not ends or ends[-1] < len(words):
        ends.append(len(words))
    return Tagged(words, tags, np.array(ends))


def tokens(path: Path) -> Iterator[tuple[str, str]]:
    """Each word with its tag, and two empty texts where a sentence ends."""
    listed = list(lines(path, whole=True))
    columns = FIELDS if any(line.count("\t") == FIELDS - 1 for _, line in listed) else 2
    for number, line in listed:
        fields = line.split("\t")
        if not line.strip():
            yield "", ""
        elif line.startswith("#") and (columns == FIELDS or len(fields) == 1):
            continue
        elif len(fields) != columns:
            raise FormatError(
                f"{path}, line {number}: the ten columns of CoNLL-U, or a word and its tag with a tab between them, "
                f"are needed, not {line!r:.80}"
            )
        elif columns == FIELDS and not ID.fullmatch(fields[0]):
            raise FormatError(f"{path}, line {number}: {fields[0]!r:.80} is no id of a word")
        elif columns == 2 or fields[0].isdecimal():
            word, tag = fields if columns == 2 else (fields[FORM], fields[UPOS])
            if not word.strip() or tag.strip() in ("", "_"):
                raise FormatError(f"{path}, line {number}: a word and its tag are needed, not {line!r:.80}")
            yield word, tag.strip()
