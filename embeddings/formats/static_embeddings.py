"""A table of vectors as model.safetensors beside the tokenizer.json that cuts text into its words.

Hugging Face's folders, model2vec's and sentence-transformers' hold static embeddings so. The last row is that of
unknown words, zeros, so that they leave the direction of a text's mean alone; it is no word when it is read again.
Counts, where they are known, are one tensor more, which those tools pass over.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats import tokenizer_json
from embeddings.formats.safetensors_file import COUNT, counts_of, listed
from embeddings.support import tensors
from embeddings.vectors.precision import narrowed
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_policy, checked, encoded_words

MODEL, TOKENIZER = "model.safetensors", "tokenizer.json"
TABLES = ("embedding.weight", "embeddings")  # sentence-transformers' name, and model2vec's
QUANTISED = ("mapping", "weights")  # of model2vec, whose rows are then shared or weighted
NONE = re.compile(r"(?!)")


def write(vectors: Vectors, folder: Path, *, table: str, dtype: str) -> str:
    """Write the two files into a folder, the vectors under the name `table`.

    Returns:
        The token for unknown words.

    Raises:
        FormatError: a word is empty or no valid Unicode, or a vector holds a NaN or what float16 cannot hold.
        SettingError: `dtype` is neither float32 nor float16.
    """
    matrix = narrowed(vectors, dtype)
    words = [word.decode() for word in encoded_words(vectors, refused=NONE, form="tokenizer.json")]
    arrays = {table: np.concatenate([matrix, np.zeros_like(matrix, shape=(1, vectors.dim))])}
    if vectors.counts is not None:
        arrays[COUNT] = vectors.counts
    tensors.save(arrays, folder / MODEL)
    return tokenizer_json.write(words, folder / TOKENIZER)


def read(folder: Path, errors: str) -> Vectors:
    """The vectors of the tokens, without that for unknown words if its vector is zero; mapped read-only if float32.

    Raises:
        FormatError: a file is missing or broken, or they do not fit together.
    """
    check_policy(errors)
    path = folder / MODEL
    found = tensors.load(path)
    matrix = table_of(path, found)
    words, unknown = tokenizer_json.read(folder / TOKENIZER, len(matrix), errors)
    if words and words[-1] == unknown and not matrix[-1].any():
        words, matrix = words[:-1], matrix[:-1]
    counts = counts_of(path, found, len(words))
    with np.errstate(over="ignore"):  # becomes infinity, which is refused by name
        return checked(path, words, matrix.astype(np.float32, copy=False), counts)


def table_of(path: Path, found: Mapping[str, np.ndarray]) -> np.ndarray:
    """The table of vectors among the tensors of a file, (tokens, dim) of floats.

    Raises:
        FormatError: there is none, or not as one row for each token.
    """
    name = next((name for name in TABLES if name in found), None)
    if name is None:
        raise FormatError(f"{path} holds no static embeddings ({' or '.join(TABLES)}) but {listed(found)}")
    if name == TABLES[1] and (more := [other for other in QUANTISED if other in found]):
        raise FormatError(f"{path} holds {' and '.join(more)} too: tables with shared or weighted rows are not read")
    table = found[name]
    if table.ndim != 2 or table.shape[1] < 1 or table.dtype.kind != "f":
        raise FormatError(f"{path}: the tensor {name!r} must be (tokens, dim) floats, not {table.shape} {table.dtype}")
    return table


def facts(folder: Path) -> dict[str, Any]:
    """What the header of the tensors says; the row for unknown words counts among them."""
    found = tensors.load(folder / MODEL)
    table = table_of(folder / MODEL, found)
    return {"tokens": len(table), "dim": table.shape[1], "dtype": str(table.dtype), "counts": COUNT in found}


def put_json(path: Path, value: Any) -> None:
    """Write a small JSON file."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
