"""Vocabularies from and to files: Arrow, or lines of `word count` as other tools write them."""

import os
import re
from pathlib import Path

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.support.files import check_file, replacing

LINE = re.compile(r"(.*[^ \t])[ \t]+([0-9]{1,18})")
ENDINGS = (".arrow", ".txt")
ARROW = b"ARROW1"


def read(path: str | os.PathLike[str]) -> Vocabulary:
    """The vocabulary of an Arrow file, of a saved model's folder, or of a text file of lines `word count`.

    The two are parted by spaces or a tab, the lines in any order; blank lines count for nothing.

    Raises:
        FormatError: nothing is there, or it is broken; a line of text is told by its number.
    """
    from embeddings.models.model_files import VOCABULARY, read_vocabulary

    source = Path(path)
    if source.is_dir():
        return read_vocabulary(source / VOCABULARY)
    try:
        with source.open("rb") as stream:
            head = stream.read(len(ARROW))
        return Vocabulary.load(source) if head == ARROW else from_text(source)
    except OSError as error:
        raise FormatError(f"{source} cannot be read as a vocabulary: {error.strerror or error}") from error


def from_text(path: Path) -> Vocabulary:
    """The vocabulary of a text file.

    Raises:
        FormatError: a line is not `word count`, a word occurs twice, or it is not UTF-8.
    """
    counts: dict[str, int] = {}
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}, and no vocabulary") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = LINE.fullmatch(line.rstrip("\r \t"))
        if not found:
            shown = line if len(line) <= 40 else line[:37] + "..."
            raise FormatError(f"{path}, line {number}: {shown!r} is not a word and its count")
        if found[1] in counts:
            raise FormatError(f"{path}, line {number}: the word {found[1]!r} occurs twice")
        counts[found[1]] = int(found[2])
    if not counts:
        raise FormatError(f"{path} holds no words")
    return Vocabulary.from_counts(counts)


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """The path, if a vocabulary can be written there: it ends in .arrow or .txt.

    Raises:
        OutputError: it has another ending, exists without `force`, or cannot be written.
    """
    if Path(path).suffix.lower() not in ENDINGS:
        raise OutputError(f"a vocabulary is written to a name that ends in {' or '.join(ENDINGS)}, not {path}")
    return check_file(path, force=force)


def write(vocabulary: Vocabulary, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a vocabulary: Arrow, or for a name that ends in .txt lines of `word count`, the most frequent first.

    Raises:
        OutputError: as `check_target`.
        SettingError: a word cannot stand in a text file, as it is empty, holds a line end, or starts or ends blank.
    """
    target = check_target(path, force=force)
    if target.suffix.lower() == ".arrow":
        vocabulary.save(target, force=force)
        return
    with replacing(target, force=force) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as stream:
        for word, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True):
            if not word or "\n" in word or word != word.strip() or word.startswith("\ufeff"):
                raise SettingError(f"the word {word!r} cannot stand in a text file; write an .arrow file")
            stream.write(f"{word} {count}\n")
