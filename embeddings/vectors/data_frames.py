"""Words and a matrix to and from pandas, an optional package."""

from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.extras import import_extra
from embeddings.vectors.arrow_table import COUNT, SCALE, VECTOR, WORD
from embeddings.vectors.precision import dequantise


def to_pandas(words: list[str], matrix: np.ndarray) -> Any:
    """See `Vectors.to_pandas`; the frame holds the matrix itself."""
    pandas = import_extra("pandas", "pandas", "to_pandas")
    return pandas.DataFrame(matrix, index=pandas.Index(words, name=WORD, dtype=object), copy=False)


def from_pandas(frame: Any) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """The words, the matrix (words, dim) float32 and the counts, if any, of a frame; see `Vectors.from_pandas`."""
    if WORD in frame.columns and VECTOR in frame.columns:
        words, counts = frame[WORD].tolist(), frame[COUNT] if COUNT in frame.columns else None
        matrix = vector_column(frame)
    else:
        words, matrix, counts = frame.index.tolist(), component_columns(frame), None
    wrong = next((word for word in words if not isinstance(word, str)), None)
    if wrong is not None:
        raise SettingError(f"words must be strings, got {wrong!r}")
    if counts is None or counts.isna().all():
        return words, matrix, None
    if counts.isna().any() or not np.issubdtype(counts.dtype, np.integer):
        raise SettingError(f"the column {COUNT!r} must hold whole numbers, got {counts.dtype}")
    return words, matrix, counts.to_numpy()


def vector_column(frame: Any) -> np.ndarray:
    """The column of vectors as a float32 matrix; int8 vectors are multiplied by their scale."""
    try:
        rows = np.stack([np.asarray(row) for row in frame[VECTOR]])
        if rows.dtype == np.int8 and SCALE in frame.columns:
            return dequantise(rows, frame[SCALE].to_numpy(dtype=np.float32))
        return rows.astype(np.float32)
    except (ValueError, TypeError) as error:
        raise SettingError(f"the column {VECTOR!r} must hold vectors of one length: {error}") from None


def component_columns(frame: Any) -> np.ndarray:
    """All columns, each of numbers, as a float32 matrix."""
    for name, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in "fiu":
            raise SettingError(f"the column {name!r} must hold numbers, got {dtype}")
    return np.asarray(frame.to_numpy(dtype=np.float32))
