"""Composition functions and examples as the tables of a saved model, and back with checks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.plugins.tensor_indexing.functions import FUNCTIONS, Parameters

if TYPE_CHECKING:
    from embeddings.plugins.tensor_indexing.fitting import FitResult

EXAMPLES = "phrases"
TYPE, FIRST, SECOND, PHRASE, PART = range(5)  # columns of that table
PARAMETERS = {name: {"left", "right", "identity"} for name in ("full-additive", "tensor-indexing", "tensor-additive")}
PARAMETERS |= {"weighted-additive": {"weights"}, "full-tensor": {"left", "right", "tensor"}}
PARAMETERS |= {
    "pair-features": {"left", "right", "difference", "product"},
    "neural-tensor": {"left", "right", "identity", "bias", "output"},
}


def to_tables(result: "FitResult") -> dict[str, np.ndarray]:
    """The parameters as "type/function/parameter", and the examples with their parts as `EXAMPLES`."""
    tables = {
        f"{type}/{function}/{name}": array
        for type, functions in result.functions.items()
        for function, parameters in functions.items()
        for name, array in parameters.items()
    }
    return tables | {EXAMPLES: np.hstack([result.examples.rows, result.parts[:, None]])}


def parse_name(name: str) -> tuple[str, str, str] | None:
    """The type, function and parameter of a table; None for another table."""
    parts = name.rsplit("/", 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and parts[1] in FUNCTIONS else None


def read_functions(tables: Mapping[str, np.ndarray], dim: int) -> dict[str, dict[str, Parameters]]:
    """The parameters by type and function; other tables are ignored."""
    by_type: dict[str, dict[str, Parameters]] = {}
    for name, table in tables.items():
        if key := parse_name(name):
            by_type.setdefault(key[0], {}).setdefault(key[1], {})[key[2]] = table
    for type, functions in by_type.items():
        for function, parameters in functions.items():
            if set(parameters) != PARAMETERS.get(function) or not has_shapes(parameters, dim):
                raise FormatError(f"the model is broken: its tables {type}/{function} do not fit {dim} components")
    return by_type


def has_shapes(parameters: Parameters, dim: int) -> bool:
    """Whether all shapes and dtypes fit vectors of `dim` components."""
    matrices = (len(parameters.get("left", ())), dim, dim)
    expected = {"weights": (2,), "identity": (2,), "left": matrices, "right": matrices, "tensor": (dim, dim * dim)}
    expected |= dict.fromkeys(("difference", "product", "output"), (dim, dim)) | {"bias": (dim,)}
    fits = all(array.shape == expected[name] and array.dtype.kind == "f" for name, array in parameters.items())
    return fits and ("left" not in parameters or matrices[0] >= 1)


def check_examples(table: Any, types: Any, words: int) -> None:
    """Refuse a table of examples that refers to missing words or types."""
    has_types = isinstance(types, list) and all(isinstance(type, str) for type in types)
    if not has_types or table.ndim != 2 or table.shape[1] != PART + 1 or table.dtype.kind not in "iu":
        raise FormatError(f"the model is broken: its table {EXAMPLES!r} or the types in its record are malformed")
    if len(table) and (table.min() < 0 or (table.max(axis=0) >= [len(types), words, words, words, 3]).any()):
        raise FormatError(f"the model is broken: its table {EXAMPLES!r} refers to words that are not in its vocabulary")
