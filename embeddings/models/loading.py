"""Vectors or a whole model from a path, whatever made them: the content tells the format."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.errors import FormatError, SettingError
from embeddings.vectors import format_dispatch
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

MAIN, DOCUMENTS = "vectors", "documents"
LONGEST_SIGN = 16


def load(
    path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict", table: str = MAIN
) -> Vectors:
    """The vectors of a saved model (memory-mapped), or of a file or folder in any installed format.

    They compose vectors for other words where their model does.

    Arguments:
        path: a folder written by `Model.save`, or a file or folder of another tool.
        allow_pickle: read gensim's own files, which are pickles and can run any code.
        errors: what becomes of words that are not UTF-8: strict refuses, replace or ignore the bad bytes.
        table: another table of a model with a row for each word, such as "output"; or "documents", with their tags.

    Raises:
        FormatError: the path is missing, in no known format, or broken; in one line.
        SettingError: there is no such table.
    """
    if table != MAIN:
        if not has_model(path):
            raise SettingError(f"{path} has no table {table!r}: only a saved model has tables beside its vectors")
        return table_of(load_model(path, allow_pickle=allow_pickle, errors=errors), table, path)
    if is_model_folder(path):
        return load_model(path).vectors
    vectors: Vectors = detect_format(path).read(Path(path), allow_pickle=allow_pickle, errors=errors)
    return vectors


def load_model(path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict") -> "Model":
    """A whole model: a folder that `Model.save` wrote, or a file in a format that holds one, such as fasttext.

    Arguments are those of `load`.

    Raises:
        FormatError: the path is missing, in no known format, or broken; in one line.
        SettingError: the format holds vectors only.
    """
    from embeddings.models.model import Model

    if is_model_folder(path):
        return Model.load(path)
    if not has_model(path):
        raise SettingError(f"{path} holds vectors and no whole model")
    model: Model = detect_format(path).read_model(Path(path), allow_pickle=allow_pickle, errors=errors)
    return model


def load_model_or_vectors(
    path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict"
) -> "Model | Vectors":
    """The model of a path that holds one, or else its vectors.

    Arguments and errors are those of `load`.
    """
    read = load_model if has_model(path) else load
    return read(path, allow_pickle=allow_pickle, errors=errors)


def has_model(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a whole model: a saved one, or a file in a format that holds one.

    Raises:
        FormatError: it is missing, or in no known format.
    """
    return is_model_folder(path) or hasattr(detect_format(path), "read_model")


def is_model_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder, and of no installed format, so that it is a saved model if anything.

    Raises:
        FormatError: it may not be looked into.
    """
    from embeddings.models.model_files import RECORD

    if not os.path.isdir(path):
        return False
    name = format_dispatch.sniff(Path(path))
    return (Path(path) / RECORD).is_file() or name is None


def detect_format(path: str | os.PathLike[str]) -> Any:
    """The format of a file or folder.

    Raises:
        FormatError: it is missing, or in no known format.
    """
    name = format_dispatch.sniff(Path(path))
    if name is None:
        raise FormatError(unknown(Path(path)))
    return format_dispatch.by_name(name)


def table_of(model: "Model", table: str, path: str | os.PathLike[str]) -> Vectors:
    """A table of a model as vectors of its words.

    Raises:
        SettingError: there is none, or one that does not have a float row for each word.
    """
    if table == DOCUMENTS:
        return model.documents
    if table not in model.tables:
        known = ", ".join([MAIN, *model.tables])
        raise SettingError(f"{path} has no table {table!r}; it has {known}")
    matrix, words = model.tables[table], model.vectors.words
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype.kind != "f":
        shape = f"{matrix.shape} {matrix.dtype}"
        raise SettingError(f"the table {table!r} of {path} is {shape}: not one vector for each of {len(words)} words")
    return Vectors(words, matrix, counts=model.vectors.counts)


def unknown(path: Path) -> str:
    """One line on a file that no format knows."""
    from embeddings.corpora.reading.file_types import FOREIGN

    start = format_dispatch.read_head(path, LONGEST_SIGN)
    if foreign := next((what for sign, what in FOREIGN.items() if start.startswith(sign)), None):
        return f"{path} is {foreign}, and no file of vectors"
    known = ", ".join(format_dispatch.names())
    return f"{path} is in no known format: no saved model, nor any of {known}" if start else f"{path} is empty"
