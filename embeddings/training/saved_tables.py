"""The settings and tables of a saved model, as its trainer reads them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.model import Model
from embeddings.models.parameters import VECTORS, Arrays, zero_rows
from embeddings.models.table import Table


def recorded_settings(trainer: type, model: Model) -> Any:
    """The trainer of a model with its recorded settings, which must fit the vectors."""
    try:
        settings: Any = trainer(**model.settings)
    except (TypeError, SettingError) as error:
        raise FormatError(f"the {model.name} model is broken: {error}") from None
    if settings.dim != model.vectors.dim:  # kernels rely on the length of rows
        problem = f"the setting dim is {settings.dim}, but its vectors have {model.vectors.dim} dimensions"
        raise FormatError(f"the {model.name} model is broken: {problem}")
    return settings


def saved_table(model: Model, name: str, declared: Table) -> np.ndarray:
    """A table of a model as it was saved, float32 `declared.saved_shape`."""
    saved_as = declared.saved_as or name
    table = model.vectors.matrix if saved_as == VECTORS else model.tables.get(saved_as)
    if table is None or table.shape != declared.saved_shape or table.dtype != np.float32:
        problem = "missing" if table is None else f"{table.dtype} {table.shape}"
        expected = f"table {name!r} as float32 {declared.saved_shape}"
        raise FormatError(f"the {model.name} model is broken: expected {expected}, got {problem}")
    return table


def padded_tables(model: Model, declared: Mapping[str, Table]) -> Arrays:
    """Tables of a model as kernels read them, read-only: see `Table` for their shapes."""
    return {name: table.concatenate(padded_rows(saved_table(model, name, table))) for name, table in declared.items()}


def padded_rows(array: np.ndarray) -> np.ndarray:
    """Rows padded with zeros, read-only, (rows, padded dim); a view if they have that length already."""
    flat = array.reshape(-1, array.shape[-1])
    if flat.shape[1] == padded(flat.shape[1]):
        rows = np.asarray(flat).view()
    else:
        rows = zero_rows(*flat.shape)
        rows[:, : flat.shape[1]] = flat
    rows.flags.writeable = False
    return rows
