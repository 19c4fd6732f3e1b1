"""The TensorBoard projector's files: vectors.tsv (tab-separated numbers) and metadata.tsv (words in the same order).

The browser version of the projector loads both files; `tensorboard --logdir` finds them through projector_config.pbtxt
in the same folder. If counts are known, metadata.tsv has a header line and a second column.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import open_binary
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import WordBuffer, build_vectors
from embeddings.formats.word2vec_text import format_rows, read_columns, stack_columns
from embeddings.support.arrow import pa
from embeddings.support.foreign_files import format_errors
from embeddings.vectors.file_format import (
    MAX_TEXT_DIM,
    Format,
    check_dim,
    encode_words,
    row_chunks,
)
from embeddings.vectors.vectors import Vectors

VECTORS, METADATA, CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.pbtxt"
VECTOR_FILES = (VECTORS, "tensors.tsv")  # PyTorch writes the second name
WORD, COUNT = b"word", b"count"
FORBIDDEN = re.compile(r"[\t\n\r]")
MAX_LINE = MAX_TEXT_DIM * 64
DESCRIBED_BYTES = 1 << 12


def sniff_folder(path: Path) -> float:
    """Fairly certain if both files of the pair exist."""
    return 0.9 if (path / METADATA).is_file() and any((path / name).is_file() for name in VECTOR_FILES) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors (at least one) with the shortest digits that round-trip as float32."""
    if not len(vectors):
        raise FormatError("the projector format cannot store zero vectors: the number of components would be lost")
    check_dim(vectors.dim, "the projector format", MAX_TEXT_DIM)
    words = list(encode_words(vectors, forbidden=FORBIDDEN, format="projector"))
    with (path / METADATA).open("wb") as stream:
        if vectors.counts is None:
            stream.writelines(b"%b\n" % word for word in words)
        else:
            stream.write(b"%b\t%b\n" % (WORD, COUNT))
            stream.writelines(b"%b\t%d\n" % pair for pair in zip(words, vectors.counts.tolist(), strict=True))
    with (path / VECTORS).open("wb") as stream:
        for chunk in row_chunks(vectors, 64):
            stream.writelines(b"%b\n" % row for row in format_rows(chunk, "\t"))
    (path / CONFIG).write_text(
        f'embeddings {{\n  tensor_name: "vectors"\n  tensor_shape: {len(vectors)}\n  tensor_shape: {vectors.dim}\n'
        f'  tensor_path: "{VECTORS}"\n  metadata_path: "{METADATA}"\n}}\n',
        encoding="utf-8",
    )


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a pair of files."""
    metadata = path / METADATA
    with open_binary(metadata) as stream:
        words, counts = parse_metadata(metadata, stream.read())
    matrix = read_matrix(find_vectors(path), len(words))
    return build_vectors(path, WordBuffer(words).decode(errors, f"{metadata}, word", 1), matrix, counts)


def find_vectors(path: Path) -> Path:
    """The path of the vectors."""
    return next((path / name for name in VECTOR_FILES if (path / name).is_file()), path / VECTORS)


def parse_metadata(path: Path, text: bytes) -> tuple[list[bytes], np.ndarray | None]:
    """The words, and the counts if there is a column of them.

    A single column has no header and contains the words. Otherwise the column "word" does, or else the first.
    """
    lines = [line.removesuffix(b"\r") for line in text.removesuffix(b"\n").split(b"\n")] if text else []
    if not lines or b"\t" not in lines[0]:
        return lines, None
    names, *rows = (line.split(b"\t") for line in lines)
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise FormatError(f"{path}, line {number}: {len(row)} columns, but line 1 names {len(names)}")
    word = names.index(WORD) if WORD in names else 0
    words = [row[word] for row in rows]
    if COUNT not in names:
        return words, None
    fields = [row[names.index(COUNT)] for row in rows]
    for number, field in enumerate(fields, 2):
        if not (field.isdigit() and len(field) < 19):
            raise FormatError(f"{path}, line {number}: the count {field!r:.80} is not an integer")
    return words, np.array(list(map(int, fields)), dtype=np.int64)


def read_matrix(path: Path, rows: int) -> np.ndarray:
    """The matrix (lines, dim) float32, at most `rows` lines."""
    dim, size = read_dim(path), path.stat().st_size
    if rows * dim * 2 > size + 1:
        raise FormatError(f"{path} is truncated: {size} bytes cannot contain {rows} vectors of {dim} components")
    matrix, start = np.empty((rows, dim), np.float32), 0
    with format_errors(path), open_binary(path) as stream:
        for batch in read_columns(stream, [pa.float32()] * dim, delimiter="\t", max_line=MAX_LINE):
            end = start + batch.num_rows
            if end <= rows:
                matrix[start:end] = stack_columns(batch.columns)
            start = end
    return matrix if start == rows else np.empty((start, dim), np.float32)  # which is refused with the words


def read_dim(path: Path) -> int:
    """The number of components of the first line."""
    with open_binary(path) as stream:
        line = stream.readline(MAX_LINE)
    if not line.strip(b"\r\n") or len(line) == MAX_LINE:
        raise FormatError(f"{path}, line 1: expected a vector in less than {MAX_LINE} bytes")
    dim = line.count(b"\t") + 1
    check_dim(dim, f"{path}, line 1", MAX_TEXT_DIM)
    return dim


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the first lines."""
    with open_binary(path / METADATA) as stream:
        lines = stream.read(DESCRIBED_BYTES).split(b"\n")[:-1]
    words, counts = parse_metadata(path / METADATA, b"\n".join(lines))
    first_words = [word.decode("utf-8", "replace") for word in words]
    dim = read_dim(find_vectors(path))
    return {"words": None, "dim": dim, "counts": counts is not None, "first_words": first_words}


FORMAT = Format(
    summary="the TensorBoard projector's pair vectors.tsv and metadata.tsv, in a folder",
    stores_counts=True,
    files=frozenset({VECTORS, METADATA, CONFIG}),
    sniff_folder=sniff_folder,
    read=read,
    write=write,
    describe=describe,
)
