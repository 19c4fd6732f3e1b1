"""The composer of vectors by character n-grams, of a model that has a table of them."""

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.models.model import Model
from embeddings.vectors.compact_rows import CompactRows
from embeddings.vectors.subwords import MAX_HASHES, SubwordVectors


def composer(model: Model, name: str = "ngrams") -> SubwordVectors:
    """The composer of a model with the settings min_n and max_n and a table of n-grams."""
    table: np.ndarray | CompactRows | None = model.compact.get(name, model.tables.get(name))
    dim, is_float32 = model.vectors.dim, isinstance(table, CompactRows) or getattr(table, "dtype", None) == np.float32
    if table is None or len(table.shape) != 2 or table.shape[1] != dim or not is_float32:
        raise FormatError(f"the {model.name} model is broken: it has no float32 table {name!r} with {dim} columns")
    min_n, max_n, hashes = model.settings.get("min_n"), model.settings.get("max_n"), model.settings.get("hashes", 1)
    is_broken = type(hashes) is not int or not 1 <= hashes <= MAX_HASHES
    if type(min_n) is not int or type(max_n) is not int or is_broken:
        problem = f"min_n {min_n!r}, max_n {max_n!r}, hashes {hashes!r}"
        raise FormatError(f"the {model.name} model is broken: expected integers, got {problem}")
    try:
        return SubwordVectors(table, min_n, max_n, hashes=hashes)
    except SettingError as error:
        raise FormatError(f"the {model.name} model is broken: {error}") from None
