"""Vectors from a path, whatever made them: the content tells the format."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from embeddings import formats
from embeddings.errors import FormatError, SettingError
from embeddings.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.model import Model

MAIN = "vectors"


def load(
    path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict", table: str = MAIN
) -> Vectors:
    """The vectors of a saved model (memory-mapped), or of a file in any installed format, compressed text included.

    Arguments:
        path: a folder written by `Model.save`, or a file.
        allow_pickle: read gensim's own files, which are pickles and can run any code.
        errors: what becomes of words that are not UTF-8: strict refuses, replace or ignore the bad bytes.
        table: another table of a saved model with a row for each word, such as "output".

    Raises:
        FormatError: the path is missing, in no known format, or broken; in one line.
        SettingError: there is no such table.
    """
    place = Path(path)
    if place.is_dir():
        return load_table(place, table)
    if table != MAIN:
        raise SettingError(f"{place} has no table {table!r}: only a saved model has tables beside its vectors")
    name = formats.sniff(place)
    if name is None:
        raise FormatError(unknown(place))
    return formats.by_name(name).read(place, allow_pickle=allow_pickle, errors=errors)


def load_model(
    path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict"
) -> "Model | Vectors":
    """The model of a folder with all that it can do, or the vectors of a file.

    Raises:
        FormatError: as `load`.
    """
    from embeddings.model import Model

    return Model.load(path) if Path(path).is_dir() else load(path, allow_pickle=allow_pickle, errors=errors)


def load_table(folder: Path, table: str) -> Vectors:
    """A table of a saved model as vectors of its words.

    Raises:
        FormatError: the folder is no saved model, or broken.
        SettingError: it has no such table, or one that does not have a float row for each word.
    """
    from embeddings.model import Model

    model = Model.load(folder)
    if table == MAIN:
        return model.vectors
    if table not in model.tables:
        known = ", ".join([MAIN, *model.tables])
        raise SettingError(f"{folder} has no table {table!r}; it has {known}")
    matrix, words = model.tables[table], model.vectors.words
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype.kind != "f":
        shape = f"{matrix.shape} {matrix.dtype}"
        raise SettingError(f"the table {table!r} of {folder} is {shape}: not one vector for each of {len(words)} words")
    return Vectors(words, matrix, counts=model.vectors.counts)


def unknown(path: Path) -> str:
    """One line on a file that no format knows."""
    start = formats.start_of(path, 1)
    known = ", ".join(formats.names())
    return f"{path} is in no known format: no saved model, nor any of {known}" if start else f"{path} is empty"
