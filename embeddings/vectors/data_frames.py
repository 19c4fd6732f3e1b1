"""Vectors to and from pandas, which need not be installed."""

from typing import Any

import numpy as np

from embeddings.errors import EmbeddingsError, SettingError
from embeddings.vectors.arrow_table import COUNT, SCALE, VECTOR, WORD
from embeddings.vectors.precision import restored
from embeddings.vectors.vectors import Vectors


def pandas() -> Any:
    """The package.

    Raises:
        EmbeddingsError: it is not installed; the message says how.
    """
    try:
        import pandas
    except ImportError:
        raise EmbeddingsError("this needs pandas: pip install pandas") from None
    return pandas


def to_pandas(vectors: Vectors) -> Any:
    """A DataFrame with a row for each word (its index, called "word") and a float32 column for each component.

    It is a copy and may be changed. Counts are not in it: `to_arrow().to_pandas()` has them, as a column.

    Raises:
        EmbeddingsError: pandas is not installed.
    """
    pd = pandas()
    return pd.DataFrame(vectors.to_numpy(), index=pd.Index(vectors.words, name=WORD, dtype=object), copy=False)


def from_pandas(frame: Any) -> Vectors:
    """The vectors of a DataFrame in either of two layouts.

    Words in the index and a component in each column, as `to_pandas` gives; or the columns word, vector and perhaps
    count, as `pandas.read_parquet` gives of our files.

    Raises:
        SettingError: an index or column of another kind, a word that stands twice, a NaN or an infinity.
        EmbeddingsError: pandas is not installed.
    """
    pandas()
    if WORD in frame.columns and VECTOR in frame.columns:
        words, counts = frame[WORD].tolist(), frame[COUNT] if COUNT in frame.columns else None
        matrix = stacked(frame)
    else:
        words, matrix, counts = frame.index.tolist(), numbers(frame), None
    wrong = next((word for word in words if not isinstance(word, str)), None)
    if wrong is not None:
        raise SettingError(f"words must be strings, not {wrong!r}")
    if counts is not None and (counts.isna().any() or not np.issubdtype(counts.dtype, np.integer)):
        if not counts.isna().all():
            raise SettingError(f"the column {COUNT!r} must hold whole numbers")
        counts = None
    vectors = Vectors(words, matrix, counts=None if counts is None else counts.to_numpy())
    vectors.check_finite()
    return vectors


def stacked(frame: Any) -> np.ndarray:
    """The column of vectors as a matrix, float32; lists of int8 are multiplied by their scale.

    Raises:
        SettingError: they are no vectors of one length.
    """
    try:
        rows = np.stack([np.asarray(row) for row in frame[VECTOR]])
        if rows.dtype == np.int8 and SCALE in frame.columns:
            return restored(rows, frame[SCALE].to_numpy(dtype=np.float32))
        return rows.astype(np.float32)
    except (ValueError, TypeError) as error:
        raise SettingError(f"the column {VECTOR!r} must hold vectors of one length: {error}") from None


def numbers(frame: Any) -> np.ndarray:
    """All columns as a matrix, float32.

    Raises:
        SettingError: one holds no numbers; it is named.
    """
    for name, kind in frame.dtypes.items():
        if getattr(kind, "kind", "O") not in "fiu":
            raise SettingError(f"the column {name!r} holds no numbers but {kind}")
    matrix: np.ndarray = frame.to_numpy(dtype=np.float32)
    return matrix
