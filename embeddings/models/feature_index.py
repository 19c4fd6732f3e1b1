"""Builds the features of a classifier from its words, labels and buckets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.kernels.feature_slots import CROWDED, MAX_PROBES, Features, new_bucket_slots, new_slots
from embeddings.models.subwords import concatenate_bytes


def new_features(entries: Sequence[bytes], words: int, bucket_rows: np.ndarray, **settings: Any) -> Features:
    """The features of a model.

    Arguments:
        entries: distinct, the words, then the labels.
        bucket_rows: int32 (buckets, 2), the buckets that pruning has left and the row of each; empty if none is pruned.
        settings: other fields.
    """
    text, starts = concatenate_bytes(list(entries))
    slots, duplicate = index_entries(text, starts)
    if duplicate >= 0:
        raise SettingError(f"the words of a classifier must be distinct, got {entries[duplicate]!r} twice")
    return index_features(text, starts, slots, bucket_rows, words=words, **settings)


def index_features(
    text: np.ndarray, starts: np.ndarray, slots: np.ndarray, bucket_rows: np.ndarray, **settings: Any
) -> Features:
    """The features of a model whose entries are indexed already; arguments as the fields of `Features`."""
    table = new_bucket_slots(bucket_rows)
    if table is None:
        raise crowded("buckets")
    bucket_slots, bucket_filter = table
    return Features(
        text=text, starts=starts, slots=slots, bucket_slots=bucket_slots, bucket_filter=bucket_filter, **settings
    )


def index_entries(text: np.ndarray, starts: np.ndarray, name: str = "the classifier") -> tuple[np.ndarray, int]:
    """The hash table of entries, and the number of the first one that occurs twice, -1 if none does.

    Raises:
        FormatError: entries are chosen so that placing them takes time in proportion to the square of their number.
    """
    slots, duplicate = new_slots(text, starts)
    if duplicate == CROWDED:
        raise crowded("words", name)
    return slots, duplicate


def crowded(entries: str, name: str = "the classifier") -> FormatError:
    """The error for entries that collide."""
    return FormatError(f"{name} is broken: over {MAX_PROBES:,} of its {entries} have the same hash")
