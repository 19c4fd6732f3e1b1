"""Tags of rows as pyarrow arrays: large strings, null for a row without a tag, or lists of several tags a row."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.support.arrow import filled_integers, pa, pc, to_arrow, to_numpy, to_string_array


def is_list_array(array: Any) -> bool:
    """Whether an array holds large lists."""
    return bool(pa.types.is_large_list(array.type))


def list_array(values: Any, sizes: NDArray[np.int64], is_null: Any = None) -> Any:
    """Return lists of `sizes` successive values; `is_null` is a pyarrow array of booleans, all false by default."""
    offsets = to_arrow(np.append(0, np.cumsum(sizes, dtype=np.int64)))
    return pa.LargeListArray.from_arrays(offsets, values, mask=is_null)


def string_lists(lists: Sequence[Sequence[str]]) -> Any:
    """Return the tags or tokens of rows, given as a list for each."""
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    return list_array(to_string_array([*chain.from_iterable(lists)]), sizes)


def list_sizes(array: Any) -> NDArray[np.int64]:
    """Return the length of each list of any list type (rows,), 0 for null."""
    return filled_integers(pc.list_value_length(array), 0)


def tag_items(tags: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return all tags that are not null or empty, and the row of each (tags,)."""
    rows, values = np.arange(len(tags)), tags
    if is_list_array(tags):
        rows, values = np.repeat(rows, list_sizes(tags)), tags.flatten()
    is_filled = filled_integers(pc.binary_length(values), 0) > 0
    if not is_filled.all():
        values, rows = values.take(to_arrow(np.flatnonzero(is_filled))), rows[is_filled]
    return values, rows


def merge_tags(columns: Sequence[Any]) -> Any:
    """Return the tags of rows that have a tag, or several, in each of some columns."""
    if len(columns) == 1:
        return columns[0]
    items = [tag_items(column) for column in columns]
    rows = np.concatenate([rows for _, rows in items])
    values = pa.concat_arrays([values for values, _ in items])
    values = values.take(to_arrow(np.argsort(rows, kind="stable")))  # by row, then by column
    return list_array(values, np.bincount(rows, minlength=len(columns[0])))


def concatenate_tags(arrays: Sequence[Any]) -> Any:
    """Return the tags of one array after another, as lists if some of them are."""
    if len({array.type for array in arrays}) > 1:
        arrays = [array if is_list_array(array) else as_lists(array) for array in arrays]
    return pa.concat_arrays(arrays)


def as_lists(tags: Any) -> Any:
    """Return single tags as lists."""
    values, rows = tag_items(tags)
    return list_array(values, np.bincount(rows, minlength=len(tags)))


def distinct_tags(tags: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct tags of each row, a null tag for a row without one, and how many each row has (rows,)."""
    values, rows = tag_items(tags)
    if (rows[1:] == rows[:-1]).any():
        ids = to_numpy(values.dictionary_encode().indices).astype(np.int64)
        _, first = np.unique(rows * (int(ids.max()) + 1) + ids, return_index=True)
        first.sort()
        values, rows = values.take(to_arrow(first)), rows[first]
    counts = np.bincount(rows, minlength=len(tags))
    sizes = np.maximum(counts, 1)
    if not counts.all():
        places = np.full(int(sizes.sum()), len(values))
        places[np.repeat(counts > 0, sizes)] = np.arange(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)]).take(to_arrow(places))
    return values, sizes
