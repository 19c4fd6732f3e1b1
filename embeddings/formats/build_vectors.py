"""Builds vectors from file content; errors name the file."""

import os
import tempfile
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.support.word_list import WordList
from embeddings.vectors import format_dispatch
from embeddings.vectors.file_validation import check_dim
from embeddings.vectors.vectors import Vectors


def build_vectors(
    path: Path,
    words: WordList | list[str],
    matrix: np.ndarray,
    counts: np.ndarray | None = None,
    *,
    is_finite: bool = False,
) -> Vectors:
    """Build and check vectors; set `is_finite` if the numbers are known to be finite.

    Raises:
        FormatError: a duplicate word, a NaN or an infinity (the message names the word), or too many components.
    """
    check_dim(matrix.shape[1], path)
    try:
        vectors = Vectors(words, matrix, counts=counts)
        if not is_finite:
            vectors.check_finite()
    except SettingError as error:
        raise FormatError(f"{path}: {error}") from None
    return vectors


def check_words(words: list[str], path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Raise in advance whatever `format_dispatch.write` would raise for these words."""
    with tempfile.TemporaryDirectory(prefix="embeddings-") as folder:
        small = Vectors(words, np.zeros((len(words), 1), np.float32))
        format_dispatch.write(small, Path(folder, "words").with_suffix(Path(path).suffix), format=format)
