"""The input of the estimators: texts, or lists of tokens."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.reading.text_rows import is_null
from embeddings.errors import SettingError

ITEMS = "strings or lists of tokens"


def as_texts(source: Any) -> Texts:
    """A list of the texts or token lists of a Series, a pyarrow column, a one-dimensional array, or any iterable.

    Nulls are empty texts.
    """
    if hasattr(source, "toarray"):
        raise SettingError(f"texts must be a list of {ITEMS}, got a sparse {type(source).__name__}")
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        raise SettingError(f"texts must be a list of {ITEMS}, got {source!r:.80}")
    if getattr(source, "ndim", 1) != 1:
        shape = getattr(source, "shape", "unknown")
        raise SettingError(f"texts must have one dimension, got the shape {shape}: select one column by name")
    texts = Texts(source.to_pylist() if hasattr(source, "to_pylist") else source)  # a pyarrow column
    is_tokens = any(isinstance(text, Iterable) and not isinstance(text, str | bytes) for text in texts)
    for number, text in enumerate(texts):
        if is_null(text):
            texts[number] = [] if is_tokens else ""
            continue
        if isinstance(text, bytes) or not isinstance(text, str | Iterable):
            raise SettingError(f"texts must be {ITEMS}; text {number} is {text!r:.40}, of type {type(text).__name__}")
        if isinstance(text, Iterator):  # a second pass over the texts would find it exhausted
            texts[number] = list(text)
    return texts


def as_training_texts(source: Any) -> Texts:
    """`as_texts`, at least one."""
    texts = as_texts(source)
    if not texts:
        raise SettingError("texts must not be empty: there is nothing to learn from")
    return texts
