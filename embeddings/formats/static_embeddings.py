"""A table of vectors as model.safetensors, with the tokenizer.json that splits text into its words.

The folders of Hugging Face, model2vec and sentence-transformers store static embeddings this way. The last row is zero
and represents unknown words, so that they do not change the direction of a text's mean; reading drops it. Counts, if
known, are stored in another tensor, which those tools ignore.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import open_binary
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import build_vectors
from embeddings.formats.safetensors_file import COUNTS, list_names, read_counts
from embeddings.formats.tokenizer_json import copy_tokenizer, read_tokens, write_tokenizer
from embeddings.support import tensors
from embeddings.vectors.file_validation import check_error_handler, encode_words
from embeddings.vectors.precision import cast_matrix
from embeddings.vectors.vectors import Vectors

MODEL, TOKENIZER = "model.safetensors", "tokenizer.json"
SENTENCE_TRANSFORMERS_TABLE, MODEL2VEC_TABLE = "embedding.weight", "embeddings"
QUANTISED = ("mapping", "weights")  # other tables of model2vec, for shared or weighted rows


@dataclass(frozen=True)
class TokenTable:
    """The rows of the tokens of a tokenizer (tokens, dim), and their counts, if known.

    `unknown` is the token for unknown words, if there is one, and `unknown_id` its row.
    """

    matrix: np.ndarray
    counts: np.ndarray | None
    unknown: str | None
    unknown_id: int | None


def write_table(vectors: Vectors, folder: Path, *, table: str, dtype: str) -> str | None:
    """Write both files, the vectors as the tensor `table`; returns the token for unknown words."""
    tokens = write_tokens(vectors, folder / TOKENIZER, dtype)
    arrays = {table: tokens.matrix} | ({} if tokens.counts is None else {COUNTS: tokens.counts})
    tensors.save(arrays, folder / MODEL)
    return tokens.unknown


def write_tokens(vectors: Vectors, path: Path, dtype: str) -> TokenTable:
    """Write the tokenizer of these vectors; returns their rows in the order of its tokens.

    Words that are tokens of a tokenizer.json have this tokenizer, in which tokens without a vector are zeros. Others
    have a new tokenizer, whose last token represents unknown words.
    """
    matrix = cast_matrix(vectors, dtype)
    words = [word.decode() for word in encode_words(vectors, format="tokenizer.json")]
    padded = np.concatenate([matrix, np.zeros_like(matrix, shape=(1, vectors.dim))])
    source = tokenizer_source(vectors)
    if source is None:
        return TokenTable(padded, vectors.counts, write_tokenizer(words, path), len(words))
    rows_of_words = {word: row for row, word in enumerate(words)}
    tokens, unknown = copy_tokenizer(source, path)
    rows = np.array([rows_of_words.get(token, -1) for token in tokens], np.int64)
    has_unknown_row = bool(tokens) and tokens[-1] == unknown and not padded[rows[-1]].any()  # which reading drops
    counts = None if vectors.counts is None else np.append(vectors.counts, 0)[rows[: len(rows) - has_unknown_row]]
    unknown_id = tokens.index(unknown) if unknown in tokens else None
    return TokenTable(padded[rows], counts, unknown, unknown_id)


def tokenizer_source(vectors: Vectors) -> Path | None:
    """The tokenizer.json that split the training text into the words of these vectors; None if there was none."""
    settings = getattr(vectors.word_form, "settings", {})
    name, colon, path = str(settings.get("tokenizer")).partition(":")
    return Path(path) if name == "huggingface" and colon else None


def read_vectors(folder: Path, errors: str) -> Vectors:
    """The vectors of all tokens except a zero row for unknown words; memory-mapped read-only if float32."""
    check_error_handler(errors)
    path = folder / MODEL
    arrays = tensors.load(path)
    matrix = find_table(path, arrays)
    words, unknown = read_tokens(folder / TOKENIZER, len(matrix), errors)
    if words and words[-1] == unknown and not matrix[-1].any():
        words, matrix = words[:-1], matrix[:-1]
    counts = read_counts(path, arrays, len(words))
    with np.errstate(over="ignore"):  # overflow becomes infinity, which is refused, naming the word
        return build_vectors(path, words, matrix.astype(np.float32, copy=False), counts)


def find_table(path: Path, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The table of vectors among the tensors of a file, (tokens, dim) of floats."""
    tables = (SENTENCE_TRANSFORMERS_TABLE, MODEL2VEC_TABLE)
    name = next((name for name in tables if name in arrays), None)
    if name is None:
        raise FormatError(f"{path} has no static embeddings ({' or '.join(tables)}); its tensors: {list_names(arrays)}")
    if name == MODEL2VEC_TABLE and (extra := [other for other in QUANTISED if other in arrays]):
        raise FormatError(f"{path} also has {' and '.join(extra)}: shared or weighted rows are not supported")
    table = arrays[name]
    if table.ndim != 2 or table.shape[1] < 1 or table.dtype.kind != "f":
        raise FormatError(f"{path}: the tensor {name!r} must be (tokens, dim) floats, got {table.shape} {table.dtype}")
    return table


def describe_table(folder: Path) -> dict[str, Any]:
    """Metadata from the header of the tensors; `tokens` includes a row for unknown words."""
    arrays = tensors.load(folder / MODEL)
    table = find_table(folder / MODEL, arrays)
    return {"tokens": len(table), "dim": table.shape[1], "dtype": str(table.dtype), "counts": COUNTS in arrays}


def read_json(path: Path, errors: str = "strict") -> Any:
    """The content of a JSON file."""
    with open_binary(path) as stream:
        data = stream.read()
    try:
        return json.loads(data.decode("utf-8", errors))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is truncated or not JSON: {' '.join(str(error).split()):.200}") from None


def write_json(path: Path, value: Any) -> None:
    """Write a small JSON file."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
