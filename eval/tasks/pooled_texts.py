"""Vectors of the texts of a test set, pooled from word vectors as `embeddings.embed` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.record_rows import JsonNumber
from embeddings.errors import CorpusError
from embeddings.eval.statistics.results import Key, Measurement
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

COVERAGE = "word coverage"
POOLING = ("pool", "constant", "frequencies", "remove_components", "fit_on", "dim")  # arguments of `embeddings.embed`


@dataclass(frozen=True)
class EmbeddedTexts:
    """Vectors of texts (texts, dim) float32; those that are not `covered` (texts,) have no known word and are zeros."""

    matrix: np.ndarray
    covered: NDArray[np.bool_]
    known_words: int
    words: int

    def coverage(self, vectors: str, test: str) -> Measurement:
        """The share of word occurrences that have a vector."""
        return word_coverage(vectors, test, self.known_words, self.words)


def word_coverage(vectors: str, test: str, known: int, words: int) -> Measurement:
    """The share of word occurrences that have a vector."""
    return Measurement(
        vectors=vectors, key=Key(test, COVERAGE), value=known / words if words else None, covered=known, total=words,
        protocol="word occurrences with a vector over all", reason=None if words else "the texts have no words",
    )  # fmt: skip


def check_text(cell: object, name: str) -> str:
    """The text in a cell of a table, empty for null; `name` says in messages which text it is."""
    if cell is not None and (not isinstance(cell, str) or isinstance(cell, JsonNumber)):
        raise CorpusError(f"{name} must be a string, got {cell!r:.40}")
    return cell or ""


class TextVectors:
    """Embeds the texts of test sets.

    Arguments:
        source: the vectors or the model.
        pooling: the arguments `POOLING` of `embeddings.embed`. Without `fit_on`, frequencies of texts and components
            are learned from the texts of each set.

    Raises:
        SettingError: an argument does not suit the source.
    """

    def __init__(self, source: Vectors | Model, pooling: Mapping[str, Any]) -> None:
        self.source = source
        self.pooling = dict(pooling)

    @property
    def description(self) -> str:
        """The settings, for protocols."""
        settings = {"pool": "mean", **self.pooling}
        return ", ".join(f"{name} {value}" for name, value in settings.items())

    def embed(self, texts: Sequence[str]) -> EmbeddedTexts:
        """The vectors of the texts of a set; what has to be learned is learned from them."""
        from embeddings.models.embed import text_batches_of, text_embedder

        options = {name: value for name, value in self.pooling.items() if name != "fit_on"}
        embedder = text_embedder(self.source, **options)
        if self.pooling.get("fit_on") is not None:
            embedder.fit_first(text_batches_of(Path(self.pooling["fit_on"]), None))
        parts = [rows for _, rows in embedder.embed(text_batches_of(texts, None))]
        matrix, counts = np.concatenate([np.zeros((0, embedder.output_dim), np.float32), *parts]), embedder.counts
        return EmbeddedTexts(matrix, np.asarray(matrix.any(axis=1)), counts.words - counts.unknown_words, counts.words)
