"""The TensorBoard projector's pair: vectors.tsv, numbers between tabs, and metadata.tsv, the words in the same order.

Both can be loaded into the projector in a browser; with the projector_config.pbtxt beside them `tensorboard --logdir`
shows the folder. Where counts are known the metadata have a first line of names and a second column.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError
from embeddings.formats.packed_words import Packed
from embeddings.formats.text_columns import LongLineError, read_columns, side_by_side
from embeddings.formats.text_vectors import spelled
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import (
    WIDEST_LINE,
    check_dim,
    check_policy,
    check_writable,
    checked,
    encoded_words,
    written_blocks,
)

SUMMARY = "the TensorBoard projector's pair vectors.tsv and metadata.tsv, in a folder"
ENDINGS: tuple[str, ...] = ()
FOLDER = True
COUNTS = True
VECTORS, METADATA, CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.pbtxt"
NUMBERS = (VECTORS, "tensors.tsv")  # the second is what PyTorch calls it
WORD, COUNT = b"word", b"count"
REFUSED = re.compile(r"[\t\n\r]")
LONGEST_LINE = WIDEST_LINE * 64
SHOWN = 1 << 12


def sniff_folder(path: Path) -> float:
    """Fairly sure if both files of the pair are there."""
    return 0.9 if (path / METADATA).is_file() and any((path / name).is_file() for name in NUMBERS) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, in their order, in the shortest digits that give the same float32 again; and the counts.

    Raises:
        FormatError: a word is empty or holds a tab or the end of a line, a vector a NaN, or there are no vectors.
    """
    if not len(vectors):
        raise FormatError(
            "the projector format cannot hold no vectors at all: their number of components would be lost"
        )
    check_writable(vectors)
    check_dim(vectors.dim, "the projector format", WIDEST_LINE)
    words = list(encoded_words(vectors, refused=REFUSED, form="projector"))
    with (path / METADATA).open("wb") as stream:
        if vectors.counts is None:
            stream.writelines(b"%b\n" % word for word in words)
        else:
            stream.write(b"%b\t%b\n" % (WORD, COUNT))
            stream.writelines(b"%b\t%d\n" % pair for pair in zip(words, vectors.counts.tolist(), strict=True))
    with (path / VECTORS).open("wb") as stream:
        for block in written_blocks(vectors, 64):
            stream.writelines(b"%b\n" % row for row in spelled(block, "\t"))
    (path / CONFIG).write_text(
        f'embeddings {{\n  tensor_name: "vectors"\n  tensor_shape: {len(vectors)}\n  tensor_shape: {vectors.dim}\n'
        f'  tensor_path: "{VECTORS}"\n  metadata_path: "{METADATA}"\n}}\n',
        encoding="utf-8",
    )


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a pair. `errors` says what becomes of words that are not UTF-8.

    Raises:
        FormatError: a file is missing or broken, their lines differ in number, a word stands twice, a NaN or infinity.
    """
    check_policy(errors)
    names = path / METADATA
    with opened(names) as stream:
        words, counts = columns(names, stream.read())
    matrix = read_matrix(numbers_of(path), len(words))
    return checked(path, Packed(words).decoded(errors, f"{names}, word", 1), matrix, counts)


def numbers_of(path: Path) -> Path:
    """The file of the vectors."""
    return next((path / name for name in NUMBERS if (path / name).is_file()), path / VECTORS)


def columns(path: Path, text: bytes) -> tuple[list[bytes], np.ndarray | None]:
    """The words of metadata, and the counts if there is such a column.

    The only column, or that called word, or else the first holds the words. Only several columns have names.

    Raises:
        FormatError: a line has fewer columns than there are names, or a count is none.
    """
    lines = [line.removesuffix(b"\r") for line in text.removesuffix(b"\n").split(b"\n")] if text else []
    if not lines or b"\t" not in lines[0]:
        return lines, None
    names = lines[0].split(b"\t")
    rows = [line.split(b"\t") for line in lines[1:]]
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise FormatError(f"{path}, line {number}: {len(row)} columns where line 1 names {len(names)}")
    at = names.index(WORD) if WORD in names else 0
    return [row[at] for row in rows], counts_in(
        path, [row[names.index(COUNT)] for row in rows] if COUNT in names else None
    )


def counts_in(path: Path, fields: list[bytes] | None) -> np.ndarray | None:
    """The counts of a column, if there is one.

    Raises:
        FormatError: a field is no whole number that fits 64 bits; its line is said.
    """
    if fields is None:
        return None
    wrong = next((line for line, field in enumerate(fields, 2) if not (field.isdigit() and len(field) < 19)), None)
    if wrong is not None:
        raise FormatError(f"{path}, line {wrong}: the count {fields[wrong - 2]!r:.80} is not a whole number")
    return np.array(list(map(int, fields)), dtype=np.int64)


def read_matrix(path: Path, rows: int) -> np.ndarray:
    """The numbers (rows, dim), float32.

    Raises:
        FormatError: there are more or fewer lines, or a line is broken.
    """
    import pyarrow as pa

    dim, size = dim_of(path), path.stat().st_size
    if rows * dim * 2 > size + 1:
        raise FormatError(f"{path} is truncated: {size} bytes cannot hold {rows} vectors of {dim} components")
    matrix, start = np.empty((rows, dim), np.float32), 0
    try:
        with opened(path) as stream:
            for batch in read_columns(stream, [pa.float32()] * dim, delimiter="\t", longest=LONGEST_LINE):
                end = start + batch.num_rows
                if end <= rows:
                    matrix[start:end] = side_by_side(batch.columns)
                start = end
    except (pa.ArrowException, OSError, LongLineError) as error:
        raise FormatError(f"{path} is broken: {' '.join(str(error).split()):.200}") from None
    if start != rows:
        raise FormatError(f"{path} has {start} vectors, and {METADATA} {rows} words")
    return matrix


def dim_of(path: Path) -> int:
    """The components of the first line.

    Raises:
        FormatError: there is none, or it does not end.
    """
    with opened(path) as stream:
        line = stream.readline(LONGEST_LINE)
    if not line.strip(b"\r\n"):
        raise FormatError(f"{path} is empty" if not line else f"{path}, line 1: no vector")
    if len(line) == LONGEST_LINE:
        raise FormatError(f"{path}, line 1: longer than {LONGEST_LINE} bytes")
    dim = line.count(b"\t") + 1
    check_dim(dim, f"{path}, line 1", WIDEST_LINE)
    return dim


def describe(path: Path) -> dict[str, Any]:
    """What the first lines say."""
    with opened(path / METADATA) as stream:
        lines = stream.read(SHOWN).split(b"\n")[:-1]
    words, counts = columns(path / METADATA, b"\n".join(lines))
    first = [word.decode("utf-8", "replace") for word in words]
    return {"words": None, "dim": dim_of(numbers_of(path)), "counts": counts is not None, "first_words": first}
