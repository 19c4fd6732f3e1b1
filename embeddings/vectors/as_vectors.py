"""What operations on vectors are given: vectors, or a model, which has some."""

from typing import Any

from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors


def vectors_in(given: Any) -> Vectors:
    """Vectors as they are, or those of a model.

    Raises:
        SettingError: it is neither.
    """
    from embeddings.models.model import Model

    if isinstance(given, Model):
        return given.vectors
    if not isinstance(given, Vectors):
        raise SettingError(f"vectors are Vectors or a Model, such as embeddings.load gives, not {given!r:.80}")
    return given
