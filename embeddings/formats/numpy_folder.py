"""A folder from which numpy and `tokenizers` alone compute vectors of texts.

It has embeddings.npy, tokenizer.json and config.json.

README.md in the folder has the few lines of Python that do so. Row i of embeddings.npy is the vector of the token with
id i; tokens without a vector are zeros.
"""

from pathlib import Path
from typing import Any

import numpy as np

from embeddings.formats.build_vectors import check_array
from embeddings.formats.huggingface import TOKENIZER, token_vectors, write_tokens
from embeddings.formats.npy import map_array, map_matrix, read_matrix
from embeddings.support.records import read_json, write_json
from embeddings.support.tensors import write_npy
from embeddings.vectors.file_format import Format
from embeddings.vectors.vectors import Vectors

MATRIX, COUNTS, CONFIG, README = "embeddings.npy", "counts.npy", "config.json", "README.md"
TEXT = """# Static text embeddings

{tokens} tokens, {dim} components. `encode` in Python, with `pip install numpy tokenizers`:

```python
import numpy as np
from tokenizers import Tokenizer

embeddings = np.load("embeddings.npy", mmap_mode="r")
tokenizer = Tokenizer.from_file("tokenizer.json")


def encode(texts):  # vectors of texts, (texts, {dim}): the mean of their tokens{normalized}
    rows = np.zeros((len(texts), {dim}), np.float32)
    for row, text in zip(rows, tokenizer.encode_batch(texts, add_special_tokens=False)):
        ids = [token for token in text.ids if token != {unknown}]  # without unknown tokens
        if ids:
            row[:] = embeddings[ids].mean(axis=0, dtype=np.float32)
{normalization}    return rows
```
"""
NORMALIZATION = "    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-32)\n"


def sniff_folder(path: Path) -> float:
    """Certain if the folder has a matrix and a tokenizer."""
    return 1 if (path / MATRIX).is_file() and (path / TOKENIZER).is_file() else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32", normalize: bool = False) -> None:
    """Write all vectors, and the counts if known.

    Arguments:
        dtype: float32 or float16.
        normalize: the lines in README.md scale vectors of texts to length 1.
    """
    normalize = normalize or vectors.unit_texts
    tokens = write_tokens(vectors, path / TOKENIZER, dtype)
    for name, array in ((MATRIX, tokens.matrix), (COUNTS, tokens.counts)):
        if array is not None:
            with (path / name).open("wb") as stream:
                write_npy(array.astype(array.dtype.newbyteorder("<"), copy=False), stream)
    shape = {"tokens": len(tokens.matrix), "dim": vectors.dim}
    settings = {"dtype": dtype, "pooling": "mean", "normalize": normalize, "unknown_id": tokens.unknown_id}
    write_json(path / CONFIG, {**shape, **settings})
    parts = (", at length 1", NORMALIZATION) if normalize else ("", "")
    text = TEXT.format(**shape, unknown=tokens.unknown_id, normalized=parts[0], normalization=parts[1])
    (path / README).write_text(text, encoding="utf-8")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of all tokens except a zero row for unknown words; memory-mapped read-only if float32."""
    return token_vectors(path, read_matrix(path / MATRIX), errors, lambda words: read_counts(path / COUNTS, words))


def read_counts(path: Path, rows: int) -> np.ndarray | None:
    """The counts of `rows` tokens, if there are any."""
    if not path.exists():
        return None
    return np.array(check_array(str(path), map_array(path), (rows,), "int64"))


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header of the matrix and the configuration."""
    matrix = map_matrix(path / MATRIX)
    config = read_json(path / CONFIG) if (path / CONFIG).is_file() else {}
    normalize = config.get("normalize") if isinstance(config, dict) else None
    facts = {"tokens": len(matrix), "dim": matrix.shape[1], "dtype": str(matrix.dtype), "normalize": normalize}
    return facts | {"counts": (path / COUNTS).is_file()}


FORMAT = Format(
    summary="a folder for numpy and tokenizers alone: embeddings.npy, tokenizer.json, config.json, README.md",
    stores_counts=True,
    stores_pooling=True,
    files=frozenset({MATRIX, COUNTS, CONFIG, README, TOKENIZER}),
    sniff_folder=sniff_folder,
    read=read,
    write=write,
    describe=describe,
)
