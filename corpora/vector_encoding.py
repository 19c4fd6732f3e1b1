"""Encodes texts with vectors: each text is a document of one sentence, and its vector a row of an array file."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.pair_encoding import LINE_BREAKS
from embeddings.corpora.reading.columns import check_column
from embeddings.corpora.reading.sources import Source
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.reading.text_vectors import read_text_vectors
from embeddings.errors import CorpusError
from embeddings.settings import check_value
from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoder import Encoder

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


def split_weights(sources: Iterable[Any]) -> tuple[list[Any], list[float]]:
    """The sources and their weights.

    Raises:
        SettingError: a weight is out of range.
    """
    plain, weights = [], []
    for source in sources:
        weight: Any = 1.0
        if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], int | float):
            source, weight = source
        elif isinstance(source, str) and not os.path.exists(source) and (match := WEIGHTED.fullmatch(source)):
            source, weight = match[1], float(match[2])
        weights.append(check_value("weight", weight, float, {"gt": 0, "le": MAX_WEIGHT}))
        plain.append(source)
    return plain, weights


def write_text_vectors(encoder: "Encoder", vectors: VectorFormat, corpus: "Corpus") -> dict[str, Any]:
    """Encode the texts and vectors of a corpus; returns the fields of its description that reading determines.

    A vector is written with the norm that is the weight of its source.

    Raises:
        CorpusError: a vector is missing, not finite, zero or of another dimension, or there are no texts.
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
