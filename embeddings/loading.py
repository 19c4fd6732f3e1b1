"""Vectors from a path, whatever made them: the content tells the format."""

import os
from pathlib import Path

from embeddings import formats
from embeddings.errors import FormatError
from embeddings.vectors import Vectors


def load(path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a saved model (memory-mapped), or of a word2vec or gensim file.

    Arguments:
        path: a folder written by `Model.save`, or a file.
        allow_pickle: read gensim's own files, which are pickles and can run any code.
        errors: what becomes of words that are not UTF-8: strict refuses, replace or ignore the bad bytes.

    Raises:
        FormatError: the path is missing, in no known format, or broken; in one line.
    """
    place = Path(path)
    if place.is_dir():
        from embeddings.model import Model

        return Model.load(place).vectors
    name = formats.sniff(place)
    if name is None:
        raise FormatError(unknown(place))
    return formats.by_name(name).read(place, allow_pickle=allow_pickle, errors=errors)


def unknown(path: Path) -> str:
    """One line on a file that no format knows."""
    from embeddings.formats.word2vec import missing_header, opened

    with opened(path) as stream:
        start = stream.read(1024)
    if start.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")):
        return f"{path} is compressed; decompress it first"
    why = missing_header(path, start)
    if "GloVe" in why or not start:
        return why
    return f"{path} is in no known format: no saved model, no word2vec file, no KeyedVectors of gensim"
