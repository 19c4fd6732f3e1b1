"""Text files that list words."""

import os
from pathlib import Path

from embeddings.corpora.reading.compressed_files import open_decompressed
from embeddings.errors import FormatError
from embeddings.vectors.file_validation import decode_words


def read_words(path: str | os.PathLike[str]) -> list[str]:
    """The distinct words of a text file, one to a line, in order; empty lines are skipped."""
    with open_decompressed(Path(path)) as stream:
        lines = [line.rstrip(b"\r\n") for line in stream]
    words = dict.fromkeys(decode_words(lines, "strict", f"{path}, line", 1))
    words.pop("", None)
    if not words:
        raise FormatError(f"{path} holds no words")
    return list(words)
