"""Trained models: the folder format, composition of unseen words, document vectors and inference."""

from typing import TYPE_CHECKING

from embeddings.support.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.models.model import Model as Model

__getattr__ = lazy_getattr(__name__, {"Model": "embeddings.models.model"})
