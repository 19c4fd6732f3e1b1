"""What the estimators take: texts, or lists of tokens."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from embeddings.corpora.reading.sources import Texts
from embeddings.errors import SettingError

ITEMS = "each a text or a list of tokens"


def as_texts(given: Any) -> Texts:
    """Texts, or lists of tokens, as a list; a Series, a pyarrow column, a one-dimensional array or a generator will do.

    Raises:
        SettingError: it is one text, of another shape, sparse, or holds what is neither; the first such is named.
    """
    if hasattr(given, "toarray"):
        raise SettingError(f"texts must be a list, {ITEMS}, not a sparse {type(given).__name__}")
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise SettingError(f"texts must be a list, {ITEMS}, not {given!r:.80}")
    if getattr(given, "ndim", 1) != 1:
        shape = getattr(given, "shape", "unknown")
        raise SettingError(f"texts must have one dimension, {ITEMS}, not the shape {shape}: choose one column by name")
    texts = Texts(given.to_pylist() if hasattr(given, "to_pylist") else given)  # a column of pyarrow
    for number, text in enumerate(texts):
        if isinstance(text, bytes) or not isinstance(text, str | Iterable):
            raise SettingError(f"text {number} is {text!r:.40}, of type {type(text).__name__}: {ITEMS} is allowed")
        if isinstance(text, Iterator):  # a second pass over the texts would find it empty
            texts[number] = list(text)
    return texts


def as_many_texts(given: Any) -> Texts:
    """The same, and at least one.

    Raises:
        SettingError: as `as_texts`, or there is none.
    """
    texts = as_texts(given)
    if not texts:
        raise SettingError(f"texts must be a list, {ITEMS}, and it is empty: there is nothing to learn from")
    return texts
