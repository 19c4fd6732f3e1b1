"""Accept vectors, or a model that has some."""

from typing import Any, Protocol

from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors


class HasVectors(Protocol):
    """A model, or any object with vectors."""

    vectors: Vectors


def as_vectors(source: Any) -> Vectors:
    """Vectors themselves, or those of a model."""
    vectors = getattr(source, "vectors", source)
    if not isinstance(vectors, Vectors):
        raise SettingError(f"expected Vectors or a Model, such as embeddings.load returns, got {source!r:.80}")
    return vectors
