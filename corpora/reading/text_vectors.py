"""Texts with vectors: columns of a table, read in batches, and encoded as documents of one sentence."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.arrow_tables import is_list_type
from embeddings.corpora.reading.columns import check_column
from embeddings.corpora.reading.encodings import UTF8, Utf8Decoder
from embeddings.corpora.reading.reader import Table, is_table, open_table
from embeddings.corpora.reading.record_rows import as_python
from embeddings.corpora.reading.sources import File, Source
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.reading.text_pairs import LINE_BREAKS, clean_texts
from embeddings.errors import CorpusError, S
from embeddings.printable import format_names
from embeddings.settings import check_value
from embeddings.support.arrow import pa, pc, to_arrow, to_numpy
from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoder import Encoder

TEXT_NAMES = ("text", "sentence", "word")
VECTOR_NAMES = ("embedding", "embeddings", "vector", "vectors")


def text_vectors(texts: Any, vectors: Any) -> Any:
    """Texts and their vectors as an Arrow table, which `Corpus` reads with `vectors=VectorFormat()`.

    >>> import embeddings as em
    >>> import numpy as np
    >>> em.corpora.text_vectors(["a cat", "a dog"], np.ones((2, 3), np.float32)).column_names
    ['text', 'embedding']

    Arguments:
        texts: strings, or an Arrow column of strings.
        vectors: an array (texts, dim) of float16, float32 or float64, which may be memory-mapped and is not copied if
            its rows are contiguous; or an Arrow column of lists of numbers.

    Raises:
        CorpusError: there is not one vector for each text.
    """
    if isinstance(texts, str):
        raise CorpusError(f"texts must be a list of texts, such as [{texts!r:.80}]")
    if isinstance(vectors, np.ndarray):
        if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
            raise CorpusError(f"vectors must be a float array (texts, dim), got {vectors.dtype} {vectors.shape}")
        flat = to_arrow(np.ascontiguousarray(vectors).reshape(-1))
        vectors = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    if len(texts) != len(vectors):
        raise CorpusError(f"expected one vector for each of {len(texts)} texts, got {len(vectors)} vectors")
    return pa.table({TEXT_NAMES[0]: texts, VECTOR_NAMES[0]: vectors})


def read_text_vectors(
    source: Source, text_column: str | None = None, vector_column: str | None = None, *, encoding: str = UTF8,
    encoding_errors: str = "strict", dim: int = 0,
) -> Iterator[tuple[list[str], NDArray[np.float32]]]:  # fmt: skip
    """Yield the texts of a table, "" for null, and their vectors, (texts, dim), a few thousand rows at a time."""
    if isinstance(source, File) and not is_table(source, encoding):
        expected = "a table with a column of texts and one of vectors, such as an output of embeddings teach"
        raise CorpusError(f"{source.name} has no vectors of texts: expected {expected}")
    decoder, done = Utf8Decoder(encoding_errors, source.name), 0
    with open_table(source, encoding=encoding, encoding_errors=encoding_errors) as table:
        text = text_column or choose_column(table, TEXT_NAMES, table.text_columns, S.text_column)
        others = [name for name in table.columns if name not in (*table.text_columns, *table.number_columns)]
        vector = vector_column or choose_column(table, VECTOR_NAMES, others, S.vector_column)
        for cells, lists in table.batches([text], arrays=[vector]):
            try:
                array = pa.array(list(map(as_python, lists))) if isinstance(lists, list) else lists
            except (TypeError, ValueError, OverflowError):
                where = f"{source.name}, rows {done + 1} to {done + len(cells)}"
                raise CorpusError(f"{where}: a vector in column {vector!r} is not a list of numbers") from None
            vectors = list_rows(array, source.name, vector, done, dim)
            yield clean_texts(cells, text, source.name, done, decoder), vectors
            done, dim = done + len(cells), vectors.shape[1]


def choose_column(table: Table, names: tuple[str, ...], candidates: list[str], setting: str) -> str:
    """The column with a name in `names`, or else the only candidate."""
    chosen = next((name for name in names if name in table.columns), None)
    if chosen is None and len(candidates) != 1:
        raise CorpusError(f"{table.name}: set {setting}; its columns: {format_names(table.columns) or 'none'}")
    return chosen or candidates[0]


def list_rows(
    array: Any, name: str, column: str, start: int, dim: int, *, has_zeros: bool = False
) -> NDArray[np.float32]:
    """An Arrow array of lists of numbers, from row `start` of a source on, as float32 (rows, dim).

    With `has_zeros` vectors of zeros are allowed.
    """
    kind, types = array.type, pa.types
    is_list = types.is_fixed_size_list(kind) or is_list_type(kind)
    if not is_list or not (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
        raise CorpusError(f"the column {column!r} of {name} must hold lists of numbers, got {kind}")
    lengths = pc.list_value_length(array).to_pylist()
    dim = dim or next(filter(None, lengths), 1)
    values, row, problem = array.flatten(), 0, ""
    if lengths != [dim] * len(lengths):
        row = next(row for row, length in enumerate(lengths) if length != dim)
        problem = f"expected a vector of {dim} numbers, got {'null' if lengths[row] is None else lengths[row]}"
    elif values.null_count:
        row, problem = pc.index(values.is_null(), True).as_py() // dim, "null in a vector"
    else:
        vectors: NDArray[np.float32] = to_numpy(values).reshape(-1, dim).astype(np.float32, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.linalg.norm(vectors, axis=1)
        if (is_valid := np.isfinite(norms) & (has_zeros | (norms > 0))).all():
            return vectors
        row = int(np.argmin(is_valid))
        problem = "the vector has only zeros" if norms[row] == 0 else "the vector has a number that is not finite"
    raise CorpusError(f"{name}, row {start + row + 1}: {problem} (column {column!r})")


VECTOR_DIM = "vector_dim"  # in the description of a corpus: the dimension of the vectors of its texts
WEIGHTED = re.compile(r"(.+):([0-9]*\.?[0-9]+)")
MAX_WEIGHT = 1000.0


@dataclass(frozen=True)
class VectorFormat:
    """How texts with vectors are read from the tables of a corpus.

    The loss of a text counts by the weight of its source: the path of a source may end with a colon and its weight, as
    in "more.parquet:3"; other sources are tuples such as `(table, 3)`.

    Arguments:
        vector_column: the column of vectors, lists of numbers. The default is embedding, vector, or the only column of
            lists.

    Raises:
        SettingError: an argument is of the wrong type.
    """

    vector_column: str | None = None

    def __post_init__(self) -> None:
        check_column("vector", self.vector_column)


def split_weights(sources: Iterable[Any], name: str) -> tuple[list[Any], list[float | None]]:
    """The sources and their weights, None for a source without one; `name` is weight or proportion, for messages."""
    plain, weights = [], []
    for source in sources:
        weight: Any = None
        if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], int | float):
            source, weight = source
        elif isinstance(source, str) and not os.path.exists(source) and (match := WEIGHTED.fullmatch(source)):
            source, weight = match[1], float(match[2])
        weights.append(check_value(name, weight, float | None, {"gt": 0, "le": MAX_WEIGHT}))
        plain.append(source)
    return plain, weights


def write_text_vectors(encoder: "Encoder", vectors: VectorFormat, corpus: "Corpus") -> dict[str, Any]:
    """Encode the texts and vectors of a corpus; returns the fields of its description that reading determines.

    A vector is written with the norm that is the weight of its source.
    """
    dim = n_empty = n_texts = 0

    def blocks(source: Source, weight: float) -> Iterator[TextBlock]:
        nonlocal dim, n_empty, n_texts
        batches = read_text_vectors(
            source, corpus.text_column, vectors.vector_column, encoding=corpus.encoding,
            encoding_errors=corpus.encoding_errors, dim=dim,
        )  # fmt: skip
        for texts, matrix in batches:
            dim, matrix = matrix.shape[1], matrix[[bool(text) for text in texts]]
            n_texts, n_empty = n_texts + len(matrix), n_empty + len(texts) - len(matrix)
            if len(matrix):
                encoder.add_vectors(matrix * (np.float32(weight) / np.linalg.norm(matrix, axis=1, keepdims=True)))
                yield TextBlock.of_cells([f"{text.translate(LINE_BREAKS)}\n".encode() for text in texts if text])

    for source, weight in zip(corpus.sources, corpus.weights, strict=True):
        encoder.add(blocks(source, weight), source.name)
    if not n_texts:
        reason = f"all {n_empty} are empty or null" if n_empty else "there are no rows"
        raise CorpusError(f"{', '.join(source.name for source in corpus.sources)} has no texts with vectors: {reason}")
    if n_empty:
        log.warning("dropped %s of %s texts that are empty or null", n_empty, n_empty + n_texts)
    return {"decoding_errors": 0, "columns": {}, VECTOR_DIM: dim}
