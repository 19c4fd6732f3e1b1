"""Indexes of nearest neighbours: each kind is an entry point of the group `embeddings.indexes`, ours and others' alike.

`protocol` says what a kind offers; everything else here serves all kinds.
"""

import os
from typing import TYPE_CHECKING, Any

from embeddings.indexes.index import Index as Index
from embeddings.indexes.index import build
from embeddings.indexes.index_files import load
from embeddings.indexes.index_spec import index_of as index_of
from embeddings.indexes.protocol import Engine as Engine
from embeddings.indexes.protocol import Found as Found
from embeddings.indexes.protocol import Kind as Kind

if TYPE_CHECKING:
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors


def build_index(vectors: "Vectors | Model", kind: str = "lsh", **settings: Any) -> Index:
    """An index of an installed kind: `exact`, `lsh`, `faiss`, or another package's; `settings` are the kind's own.

    >>> import numpy as np, embeddings as em
    >>> vectors = em.Vectors(["a", "b", "c"], np.array([[1, 0], [1, 0.1], [0, 1]]))
    >>> index = em.build_index(vectors, "lsh", bits=16)
    >>> vectors.most_similar("a", top=1, index=index)[0][0]
    'b'

    Raises:
        RegistryError: no such kind.
        SettingError: it has no such setting, a value is out of range or does not fit the vectors, or these hold NaN.
    """
    from embeddings.vectors.as_vectors import vectors_in

    return build(kind, vectors_in(vectors), settings)


def load_index(path: str | os.PathLike[str], vectors: "Vectors | Model") -> Index:
    """A saved index, for the vectors that it was built from; see `saved.load`."""
    from embeddings.vectors.as_vectors import vectors_in

    return load(path, vectors_in(vectors))
