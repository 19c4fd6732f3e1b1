"""Sentences with a part-of-speech tag for each word: CoNLL-U, or two columns of word and tag."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.datasets.dataset_files import SHIPPED_TAGGING, line_error, read_lines, shipped_file

FIELDS = 10  # of a line of CoNLL-U
FORM, UPOS = 1, 3
ID = re.compile(r"\d+([-.]\d+)?")  # of a word, a multiword token, or an empty node


@dataclass(frozen=True)
class TaggedText:
    """Words and their tags; `ends` (sentences,) holds the index after each sentence's last word."""

    words: list[str]
    tags: list[str]
    ends: np.ndarray

    @property
    def sentence_of(self) -> np.ndarray:
        """The sentence of each word, (words,) int64."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))


@dataclass(frozen=True)
class TaggingSet:
    """A text to train a tagger on and a text to test it on."""

    name: str
    train: TaggedText
    test: TaggedText


def read_tagging_set(name: str | os.PathLike[str]) -> TaggingSet:
    """A tagging set by name ("ud-ewt"), as two files "TRAIN,TEST", or as the folder of a UD treebank."""
    train, test = locate_files(name)
    is_shipped = str(name) in SHIPPED_TAGGING and not Path(name).exists()
    return TaggingSet(str(name) if is_shipped else test.name.split(".")[0], read_tagged(train), read_tagged(test))


def locate_files(name: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The files to train and test on."""
    folder, parts = Path(name), str(name).split(",")
    if folder.is_dir():
        train, test = (treebank_file(folder, part) for part in ("train", "test"))
    elif str(name) in SHIPPED_TAGGING:
        train, test = map(shipped_file, SHIPPED_TAGGING[str(name)])
    elif len(parts) == 2 and all(parts):
        train, test = map(Path, parts)
    else:
        choices = ", ".join(sorted(SHIPPED_TAGGING))
        raise FormatError(f"unknown tagging set {str(name)!r}: give {choices}, a folder of a treebank, or TRAIN,TEST")
    return train, test


def treebank_file(folder: Path, part: str) -> Path:
    """The file of a Universal Dependencies folder that holds this part."""
    paths = sorted(path for path in folder.iterdir() if f"-{part}.conllu" in path.name)
    if len(paths) != 1:
        raise FormatError(f"{folder} must contain one file named *-{part}.conllu, got {len(paths)}")
    return paths[0]


def read_tagged(path: Path) -> TaggedText:
    """The sentences of a file, compressed or not; empty lines separate sentences.

    Of CoNLL-U the words with integer ids are read, with their universal tags: a contraction counts as the words it
    stands for, and empty nodes are skipped. In two columns a line is a word, a tab and its tag.
    """
    words: list[str] = []
    tags: list[str] = []
    ends = [0]
    for word, tag in [*iter_words(path), ("", "")]:
        if word:
            words.append(word)
            tags.append(tag)
        elif len(words) > ends[-1]:
            ends.append(len(words))
    if not words:
        raise FormatError(f"{path} contains no tagged words")
    return TaggedText(words, tags, np.array(ends[1:]))


def iter_words(path: Path) -> Iterator[tuple[str, str]]:
    """Each word with its tag, and two empty strings at the end of a sentence."""
    lines = list(read_lines(path, keep_all=True))
    columns = FIELDS if any(line.count("\t") == FIELDS - 1 for _, line in lines) else 2
    for number, line in lines:
        fields = line.split("\t")
        if not line.strip():
            yield "", ""
        elif line.startswith("#") and (columns == FIELDS or len(fields) == 1):
            continue
        elif len(fields) != columns:
            raise line_error(path, number, "the ten columns of CoNLL-U, or a word, a tab and its tag", line)
        elif columns == FIELDS and not ID.fullmatch(fields[0]):
            raise FormatError(f"{path}, line {number}: {fields[0]!r:.80} is not a word id")
        elif columns == 2 or fields[0].isdecimal():
            word, tag = fields if columns == 2 else (fields[FORM], fields[UPOS])
            if not word.strip() or tag.strip() in ("", "_"):
                raise line_error(path, number, "a word and its tag", line)
            yield word, tag.strip()
