"""How spaCy numbers strings, and its table from these numbers to rows of vectors.

A string's number is its hash, but for a few hundred names of spaCy's own, such as "agent" or "NOUN", which are numbered
by hand. A table is a map in MessagePack.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError

SEED = 1
SYMBOLS = "spacy_symbols.tsv"


def keys(words: Sequence[str]) -> np.ndarray:
    """The hashes of strings, uint64 (strings,)."""
    from embeddings.kernels.murmur import hash_texts
    from embeddings.models.subwords import encoded, joined

    text, starts = joined([encoded(word) for word in words])
    codes = np.empty(len(words), np.uint64)
    hash_texts(text, starts, np.uint64(SEED), codes)
    return codes


@cache
def symbols() -> dict[str, int]:
    """The names that spaCy numbers by hand."""
    lines = files("embeddings.formats").joinpath(SYMBOLS).read_text(encoding="utf-8").splitlines()
    return {name: int(number) for name, number in (line.split("\t") for line in lines)}


def write_rows(words: Sequence[str], path: Path) -> None:
    """Write the table: row i is that of word i, found by its hash and, if it is a symbol, by that number too."""
    import msgpack

    rows = dict(zip(keys(words).tolist(), range(len(words)), strict=True))
    named = symbols()
    rows |= {named[word]: row for row, word in enumerate(words) if word in named}
    path.write_bytes(msgpack.packb(rows))


def read_rows(path: Path) -> dict[int, int]:
    """The table of a file.

    Raises:
        FormatError: it is missing or broken, or no map from numbers to numbers.
    """
    import msgpack

    with opened(path) as stream:
        data = stream.read()
    try:  # a list may claim any length before its items come, and room is made for them
        found: Any = msgpack.unpackb(
            data, strict_map_key=False, max_array_len=0, max_str_len=0, max_bin_len=0, max_ext_len=0
        )
    except Exception as error:  # whatever a broken map leads to
        raise FormatError(f"{path} is truncated or broken: {type(error).__name__} {error!s:.100}") from None
    if not isinstance(found, dict) or not all(type(part) is int for pair in found.items() for part in pair):
        raise FormatError(f"{path} is broken: it must map numbers to numbers")
    return found


def rows_of(words: Sequence[str], rows: dict[int, int]) -> list[int]:
    """The row of each string in a table, -1 where it has none."""
    named = symbols()
    hashed = keys(words).tolist()
    numbers = [named.get(word, code) for word, code in zip(words, hashed, strict=True)]
    return [rows.get(number, rows.get(code, -1)) for number, code in zip(numbers, hashed, strict=True)]


def unlisted(words: Sequence[str], rows: dict[int, int]) -> list[str]:
    """The symbols that have a row in a table and are not among its strings, where spaCy does not put them."""
    listed = set(words)
    return [name for name, number in symbols().items() if number in rows and name not in listed]
