"""Vocabularies in files: Arrow, or lines of `word count` for other tools."""

import os
import re
from pathlib import Path

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.support.files import atomic_write, check_file
from embeddings.support.local_paths import local_path
from embeddings.support.text_lines import read_text_lines

LINE = re.compile(r"(.*[^ \t])[ \t]+([0-9]{1,18})")
EXTENSIONS = (".arrow", ".txt")
ARROW_MAGIC = b"ARROW1"
IN_MODEL = "vocabulary.arrow"  # the file in the folder of a saved model


def read_vocabulary_file(path: str | os.PathLike[str]) -> Vocabulary:
    """Read the vocabulary of an Arrow file, of a saved model, or of a text file.

    Lines of a text file are `word count`, separated by spaces or a tab, in any order; blank lines are skipped.
    """
    source = local_path(path)
    if source.is_dir():
        return Vocabulary.load(source / IN_MODEL)
    try:
        with source.open("rb") as stream:
            head = stream.read(len(ARROW_MAGIC))
        return Vocabulary.load(source) if head == ARROW_MAGIC else read_text(source)
    except OSError as error:
        raise FormatError(f"{source} cannot be read as a vocabulary: {error.strerror or error}") from error


def read_text(path: Path) -> Vocabulary:
    """Read a text file."""
    counts: dict[str, int] = {}
    for number, line in enumerate(read_text_lines(path, "vocabulary"), 1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line.rstrip(" \t\r"))
        if not match:
            excerpt = line if len(line) <= 40 else line[:37] + "..."
            raise FormatError(f"{path}, line {number}: expected a word and its count, got {excerpt!r}")
        if match[1] in counts:
            raise FormatError(f"{path}, line {number}: the word {match[1]!r} occurs twice")
        counts[match[1]] = int(match[2])
    if not counts:
        raise FormatError(f"{path} contains no words")
    try:
        return Vocabulary.from_counts(counts)
    except SettingError as error:
        raise FormatError(f"{path} is not a vocabulary file: {error}") from None


def check_vocabulary_path(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if a vocabulary can be written there."""
    if Path(path).suffix.lower() not in EXTENSIONS:
        raise OutputError(f"a vocabulary file must end in {' or '.join(EXTENSIONS)}, got {path}")
    return check_file(path, force=force)


def write_vocabulary_file(vocabulary: Vocabulary, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a vocabulary as Arrow or, if the path ends in .txt, as lines of `word count`, most frequent first."""
    target = check_vocabulary_path(path, force=force)
    if target.suffix.lower() == ".arrow":
        vocabulary.save(target, force=force)
        return
    with atomic_write(target, force=force) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for word, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True):
            if not word or "\n" in word or word != word.strip() or word.startswith("\ufeff"):
                raise SettingError(f"the word {word!r} cannot be written to a text file; write an .arrow file")
            stream.write(f"{word} {count}\n")
