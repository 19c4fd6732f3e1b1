"""Predicted labels as lines of text, JSON lines or Parquet, written batch by batch."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from embeddings.errors import FormatError
from embeddings.printable import printable
from embeddings.support.files import atomic_write, check_file

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[[np.ndarray, np.ndarray], Any]  # takes label numbers and probabilities, (texts, k)
DIGITS = 6  # significant digits of a probability
TEXT, JSON_LINES, PARQUET = ".txt", ".jsonl", ".parquet"
EXTENSIONS = (TEXT, ".tsv", JSON_LINES, PARQUET)


def check_prediction_file(path: str, *, force: bool) -> None:
    """Refuse a path that cannot be written, or with an unknown extension."""
    if Path(path).suffix.lower() not in EXTENSIONS:
        raise FormatError(f"{path}: the extension must be one of {', '.join(EXTENSIONS)}")
    check_file(path, force=force)


@contextmanager
def writing_predictions(path: str, labels: Sequence[str], *, force: bool) -> Iterator[Write]:
    """Yield a function that writes a batch to a file, which appears when the block succeeds."""
    suffix = Path(path).suffix.lower()
    with atomic_write(path, force=force) as temporary:
        if suffix == PARQUET:
            with writing_parquet(temporary, labels) as write:
                yield write
            return
        format_lines = json_lines if suffix == JSON_LINES else text_lines
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            yield lambda ids, probabilities: stream.write(format_lines(labels, ids, probabilities))


def printing_predictions(labels: Sequence[str], *, as_json: bool) -> Write:
    """A function that prints a batch."""
    format_lines = json_lines if as_json else text_lines
    names = [printable(label) for label in labels] if not as_json else labels
    return lambda ids, probabilities: click.echo(format_lines(names, ids, probabilities), nl=False)


@contextmanager
def writing_parquet(path: Path, labels: Sequence[str]) -> Iterator[Write]:
    """Yield a function that writes a batch to a Parquet file, as a row group."""
    import pyarrow as pa
    from pyarrow import parquet

    names = pa.array(labels, pa.string())
    schema = pa.schema({"labels": pa.list_(pa.string()), "probabilities": pa.list_(pa.float32())})
    with parquet.ParquetWriter(path, schema) as writer:
        yield lambda ids, probabilities: writer.write_table(prediction_table(schema, names, ids, probabilities))


def prediction_table(schema: "pa.Schema", names: "pa.Array", ids: np.ndarray, probabilities: np.ndarray) -> "pa.Table":
    """A batch as columns of lists."""
    import pyarrow as pa

    is_label = ids >= 0
    offsets = np.concatenate([[0], np.cumsum(is_label.sum(axis=1))]).astype(np.int32)
    values = names.take(pa.array(ids[is_label])), pa.array(probabilities[is_label].astype(np.float32))
    return pa.table([pa.ListArray.from_arrays(offsets, column) for column in values], schema=schema)


def text_lines(labels: Sequence[str], ids: np.ndarray, probabilities: np.ndarray) -> str:
    """One line per text as from fastText's predict-prob: labels, each followed by its probability."""
    counts, names, numbers = predicted(labels, ids, probabilities)
    values: list[Any] = [None] * (2 * len(names))
    values[::2], values[1::2] = names, numbers
    lines = {count: " ".join([f"%s %.{DIGITS}g"] * count) + "\n" for count in set(counts)}
    return "".join([lines[count] for count in counts]) % tuple(values)


def json_lines(labels: Sequence[str], ids: np.ndarray, probabilities: np.ndarray) -> str:
    """One line per text: an object with the lists `labels` and `probabilities`, in ASCII."""
    counts, names, numbers = predicted(labels, ids, probabilities)
    rounded, encoded, lines, start = [float(f"{p:.{DIGITS}g}") for p in numbers], json.JSONEncoder().encode, [], 0
    for count in counts:
        row = {"labels": names[start : start + count], "probabilities": rounded[start : start + count]}
        lines.append(encoded(row))
        start += count
    return "\n".join([*lines, ""])


def predicted(
    labels: Sequence[str], ids: np.ndarray, probabilities: np.ndarray
) -> tuple[list[int], list[str], list[float]]:
    """The number of labels of each text, and all labels with their probabilities."""
    is_label = ids >= 0
    names = [labels[label] for label in ids[is_label].tolist()]
    return is_label.sum(axis=1).tolist(), names, probabilities[is_label].tolist()
