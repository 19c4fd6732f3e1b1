"""gensim's own format: a pickled KeyedVectors, with counts where they are known.

A pickle runs whatever code it holds, so it is read only where the caller says so. It is written as one
file: gensim would put a large matrix into a second one, and two files cannot be put in place at once.
"""

from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import opened, start_of
from embeddings.errors import FormatError
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_writable, checked

SUMMARY = "gensim's KeyedVectors, a pickle"
ENDINGS = (".kv",)
COUNTS = True
PICKLE = b"\x80"
PROTOCOLS = range(2, 6)


def sniff(start: bytes) -> float:
    """Sure if the file starts as a pickle of protocol 2 to 5."""
    return 0.95 if len(start) > 1 and start[:1] == PICKLE and start[1] in PROTOCOLS else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, in their order, for `gensim.models.KeyedVectors.load`.

    Raises:
        FormatError: a vector holds a NaN.
    """
    from gensim.models import KeyedVectors

    check_writable(vectors)
    keyed = KeyedVectors(vectors.dim)
    keyed.index_to_key = list(vectors.words)
    keyed.key_to_index = {word: index for index, word in enumerate(vectors.words)}
    keyed.next_index = len(vectors)
    keyed.vectors = np.asarray(vectors.matrix)
    if vectors.counts is not None:
        keyed.expandos["count"] = np.asarray(vectors.counts)
    keyed.save(str(path), separately=[])


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors and counts of a KeyedVectors, or of a whole gensim model such as Word2Vec.

    Raises:
        FormatError: pickles are not allowed, the file is broken, or it holds something else.
    """
    if not allow_pickle:
        raise FormatError(
            f"{path} is a pickle, which can run any code when it is read; if you trust where it comes from, "
            "say allow_pickle=True (--allow-pickle)"
        )
    keyed = unpickle(path)
    words, matrix = getattr(keyed, "index_to_key", None), getattr(keyed, "vectors", None)
    if not isinstance(words, list) or not isinstance(matrix, np.ndarray) or len(words) != len(matrix):
        raise FormatError(f"{path} holds {type(keyed).__name__}, not gensim's KeyedVectors or a model with them")
    counts = getattr(keyed, "expandos", {}).get("count")
    return checked(path, [str(word) for word in words], matrix, counts)


def unpickle(path: Path) -> Any:
    """The KeyedVectors of a file; its side files must lie next to it.

    Raises:
        FormatError: it cannot be read, whatever the reason.
    """
    from gensim.utils import SaveLoad

    opened(path).close()
    try:
        found = SaveLoad.load(str(path))
    except Exception as error:  # a pickle can raise anything
        raise FormatError(f"{path} cannot be read by gensim: {type(error).__name__}: {error}") from error
    return getattr(found, "wv", found)


def describe(path: Path) -> dict[str, Any]:
    """The first class that the pickle names, found without running any of it."""
    return {"pickle": True, "holds": first_class(start_of(path))}


def first_class(start: bytes) -> str | None:
    """The class of the object that a pickle begins with, such as gensim.models.keyedvectors.KeyedVectors."""
    import pickletools

    strings: list[str] = []
    try:
        for code, value, _ in pickletools.genops(start):
            if code.name == "GLOBAL":
                return str(value).replace(" ", ".")
            if code.name == "STACK_GLOBAL":
                return ".".join(strings[-2:])
            if isinstance(value, str):
                strings.append(value)
    except Exception:  # whatever is wrong with a cut or hostile pickle, there is no class to tell
        return None
    return None
