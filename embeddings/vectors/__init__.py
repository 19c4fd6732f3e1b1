"""Words and their vectors: look-up, search, comparison, alignment, merging, data frames and files."""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors as Vectors

__getattr__ = lazy_getattr(__name__, {"Vectors": "embeddings.vectors.vectors"})
