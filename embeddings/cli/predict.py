"""`embeddings predict`: predict labels of texts with a classifier."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

from embeddings.classifier.classifier import LabelPredictor, encode_texts, texts_at_a_time
from embeddings.classifier.label_prediction import TextMeans
from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, shared
from embeddings.cli.options import OUTPUT, THREADS, Output, from_signature, option, require
from embeddings.cli.output import note, print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_extension, check_not_input
from embeddings.corpora.reading.encodings import check_encoding
from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.sources import STANDARD_INPUT, resolve_source
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.errors import CorpusError
from embeddings.models.loading import load_classifier
from embeddings.printable import printable
from embeddings.support.arrow import pa
from embeddings.support.files import atomic_write
from embeddings.support.local_paths import may_exist
from embeddings.support.progress_display import MEGABYTES
from embeddings.support.threads import map_in_order

Write = Callable[[np.ndarray, np.ndarray], Any]  # takes label numbers and probabilities, (texts, k)
DIGITS = 6  # significant digits of a probability
TEXT, JSON_LINES, PARQUET = ".txt", ".jsonl", ".parquet"
EXTENSIONS = (TEXT, ".tsv", JSON_LINES, PARQUET)


@contextmanager
def writing_predictions(path: str, labels: Sequence[str], *, force: bool) -> Iterator[Write]:
    """Yield a function that writes a batch to a file, which appears when the block succeeds."""
    suffix = Path(path).suffix.lower()
    with atomic_write(path, force=force) as temporary:
        if suffix == PARQUET:
            names = pa.array(labels, pa.string())
            schema = pa.schema({"labels": pa.list_(pa.string()), "probabilities": pa.list_(pa.float32())})
            with pa.parquet.ParquetWriter(temporary, schema) as writer:

                def write(ids: np.ndarray, probabilities: np.ndarray) -> None:
                    is_label = ids >= 0
                    offsets = np.concatenate([[0], np.cumsum(is_label.sum(axis=1))]).astype(np.int32)
                    values = names.take(pa.array(ids[is_label])), pa.array(probabilities[is_label].astype(np.float32))
                    lists = [pa.ListArray.from_arrays(offsets, column) for column in values]
                    writer.write_table(pa.table(lists, schema=schema))

                yield write
            return
        format_lines = json_lines if suffix == JSON_LINES else text_lines
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            yield lambda ids, probabilities: stream.write(format_lines(labels, ids, probabilities))


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


@command_by_example(
    "predict model reviews.txt",
    params=[
        click.Argument(["model"]),
        click.Argument(["text"], default=STANDARD_INPUT, metavar="[TEXT|FILE|-]"),
        *from_signature(LabelPredictor.predict, k="--top k", threshold=None),
        option("-o --out", "Output file: .txt, .jsonl or .parquet.  [default: standard output]", "FILE"),
        *shared("reading", dict, *corpus_options.options(("encoding", "encoding_errors", "text_column"))),
        THREADS,
        *OUTPUT,
    ],
)
def command(
    *, model: str, text: str, k: int, threshold: float, out: str | None, reading: dict[str, Any],
    threads: int | None, output: Output,
) -> None:  # fmt: skip
    """Predict labels with MODEL: a folder of a trained classifier, or a supervised model of fastText (.bin or .ftz).

    The texts are the lines of a plain text file, the rows of a table, or the argument itself if no file has this name.
    Each output line has the labels of one text, most probable first, each followed by its probability; with --json, an
    object with labels and probabilities. With --out, --json prints statistics instead.
    """
    require("force", "out")
    if out is not None:
        check_not_input([Path(out)], [("MODEL", Path(model)), ("the texts", Path(text))])
        check_extension(out, EXTENSIONS, force=output.force)
    classifier = load_classifier(model, errors=reading["encoding_errors"])
    start = perf_counter()
    with Bar(output.quiet, "predicting", MEGABYTES) as bar:
        batches = read_batches(text, reading, bar)
        if out is None:
            names = classifier.labels if output.as_json else list(map(printable, classifier.labels))
            format_lines = json_lines if output.as_json else text_lines
            predict(
                classifier, batches, k, threshold, threads,
                lambda ids, probabilities: click.echo(format_lines(names, ids, probabilities), nl=False),
            )  # fmt: skip
            return
        with writing_predictions(out, classifier.labels, force=output.force) as write:
            texts = predict(classifier, batches, k, threshold, threads, write)
        bar.notice(f"saved the labels of {quantity(texts, 'text')} to {out}")
    if output.as_json:
        print_json({"file": out, "texts": texts, "seconds": round(perf_counter() - start, 3)})


def predict(
    classifier: LabelPredictor,
    batches: Iterator[TextBlock],
    k: int,
    threshold: float,
    threads: int | None,
    write: Write,
) -> int:
    """Predict batch by batch, several at a time, and write in order; returns the number of texts."""
    texts, size = 0, texts_at_a_time(k, len(classifier.labels))

    def with_means() -> Iterator[tuple[TextBlock, TextMeans]]:
        for batch in batches:  # in order, so that results do not depend on the number of threads
            for first in range(0, len(batch), size):
                part = batch.slice(first, first + size)
                yield part, classifier.choose_means(len(part.data))

    def rank(task: tuple[TextBlock, TextMeans]) -> tuple[np.ndarray, np.ndarray]:
        batch, means = task
        return classifier.rank(batch.data, batch.starts, k, threshold, threads=1, means=means)

    for ids, probabilities in map_in_order(rank, with_means(), threads, "predict"):
        write(ids, probabilities)
        texts += len(ids)
    return texts


def read_batches(text: str, reading: dict[str, Any], bar: Bar) -> Iterator[TextBlock]:
    """The texts of a file or of standard input, or the argument itself."""
    # as in fastText's shell, a text may stand in place of a file; a misspelled file name must be noticed
    if text != STANDARD_INPUT and reading["text_column"] is None and not may_exist(text):
        if not any(map(str.isspace, text)):
            note(f"no file is called {text!r:.80}, so the labels are those of this text")
        data, starts = encode_texts([text])
        yield TextBlock(data, starts[1:])
        return
    reading = reading | {"encoding": check_encoding(reading["encoding"])}
    for batch in read_texts(resolve_source(text), report=bar, **reading):
        if batch.token_lists is not None:
            raise CorpusError(f"{text} contains lists of tokens; expected texts")
        yield batch
