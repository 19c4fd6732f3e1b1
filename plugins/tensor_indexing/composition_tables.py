"""Functions and examples as the tables of a saved model, and back; what does not fit is refused."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.plugins.tensor_indexing.functions import FUNCTIONS, Parameters

if TYPE_CHECKING:
    from embeddings.plugins.tensor_indexing.fitting import Fitted

EXAMPLES = "phrases"
TYPE, FIRST, SECOND, PHRASE, PART = range(5)  # columns of that table
FITTED = {name: {"left", "right", "identity"} for name in ("full-additive", "tensor-indexing")}
FITTED |= {"weighted-additive": {"weights"}, "full-tensor": {"left", "right", "tensor"}}


def tables_of(fitted: "Fitted") -> dict[str, np.ndarray]:
    """The parameters as "type/function/parameter", and the examples with their parts as `EXAMPLES`."""
    tables = {
        f"{type}/{function}/{name}": array
        for type, functions in fitted.functions.items()
        for function, parameters in functions.items()
        for name, array in parameters.items()
    }
    return tables | {EXAMPLES: np.hstack([fitted.examples.rows, fitted.parts[:, None]])}


def without_functions(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tables that are not of composition."""
    return {name: table for name, table in tables.items() if place_of(name) is None and name != EXAMPLES}


def place_of(name: str) -> tuple[str, str, str] | None:
    """The type, function and parameter that a table is of; None for another table."""
    parts = name.rsplit("/", 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and parts[1] in FUNCTIONS else None


def functions_of(tables: Mapping[str, np.ndarray], dim: int) -> dict[str, dict[str, Parameters]]:
    """The parameters by type and function; other tables are passed over.

    Raises:
        FormatError: a parameter is missing, or of another shape than `dim` wants.
    """
    found: dict[str, dict[str, Parameters]] = {}
    for name, table in tables.items():
        if place := place_of(name):
            type, function, parameter = place
            found.setdefault(type, {}).setdefault(function, {})[parameter] = table
    for type, functions in found.items():
        for function, parameters in functions.items():
            if set(parameters) != FITTED.get(function) or not fit_together(parameters, dim):
                raise FormatError(f"the model is broken: its tables {type}/{function} are not of {dim} components")
    return found


def fit_together(parameters: Parameters, dim: int) -> bool:
    """Whether shapes and kinds are those of a function of vectors of `dim` components."""
    matrices = (len(parameters.get("left", ())), dim, dim)
    wanted = {"weights": (2,), "identity": (2,), "left": matrices, "right": matrices, "tensor": (dim, dim * dim)}
    shapes = all(array.shape == wanted[name] and array.dtype.kind == "f" for name, array in parameters.items())
    return shapes and ("left" not in parameters or matrices[0] >= 1)


def check_examples(table: Any, types: Any, words: int) -> None:
    """Refuse a table of examples that names words or types that are not there.

    Raises:
        FormatError: saying so.
    """
    if table is None:
        return
    good = isinstance(types, list) and all(isinstance(type, str) for type in types)
    if not good or table.ndim != 2 or table.shape[1] != PART + 1 or table.dtype.kind not in "iu":
        raise FormatError(
            f"the model is broken: its table {EXAMPLES!r} or the types in its record are not as they were"
        )
    if len(table) and (table.min() < 0 or (table.max(axis=0) >= [len(types), words, words, words, 3]).any()):
        raise FormatError(f"the model is broken: its table {EXAMPLES!r} names words that it does not have")
