"""Measures how fast text is read and encoded, by format of the file and number of threads.

    python tools/reading_speed.py wiki.txt -o eval/results/reading-speed.md

The lines of a plain text file that are not empty are written as rows of tables, and the file is compressed, in a
temporary folder. Each file is encoded with each number of threads in turns: read, split into words, counted, and
written as ids. Figures are medians of several runs, in MB of text per second of wall time; compilation is not included.
Measure on an otherwise idle machine.
"""

import csv
import gzip
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import click
import pyarrow
import pyarrow.parquet

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.errors import OutputError
from embeddings.eval.benchmark.result_rows import write_text
from embeddings.eval.machine import environment
from embeddings.support.files import check_file
from embeddings.support.markdown import table_lines
from embeddings.support.system import available_threads

ROWS = 10_000  # of a table, written at a time
Write = Callable[[Path, Path], None]
Times = tuple[float, float]  # wall and CPU seconds


def text_rows(source: Path) -> Iterator[list[str]]:
    """The lines of a file that are not empty, some at a time."""
    rows: list[str] = []
    with source.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if line.strip():
                rows.append(line.rstrip("\r\n"))
            if len(rows) == ROWS:
                yield rows
                rows = []
    yield rows


def write_json_lines(source: Path, target: Path) -> None:
    """Write a row for each line."""
    with target.open("w", encoding="utf-8") as out:
        for rows in text_rows(source):
            out.writelines(json.dumps({"text": row}, ensure_ascii=False) + "\n" for row in rows)


def write_csv(source: Path, target: Path) -> None:
    """Write a row for each line."""
    with target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["text"])
        for rows in text_rows(source):
            writer.writerows([row] for row in rows)


def write_parquet(source: Path, target: Path) -> None:
    """Write a row for each line."""
    with pyarrow.parquet.ParquetWriter(target, pyarrow.schema([("text", pyarrow.string())])) as writer:
        for rows in text_rows(source):
            writer.write_table(pyarrow.table({"text": rows}))


def write_zstd(source: Path, target: Path) -> None:
    """Compress the file."""
    with source.open("rb") as text, pyarrow.CompressedOutputStream(str(target), "zstd") as out:
        shutil.copyfileobj(text, out, BLOCK_SIZE)


def write_gzip(source: Path, target: Path) -> None:
    """Compress the file."""
    with source.open("rb") as text, gzip.open(target, "wb", compresslevel=6) as out:
        shutil.copyfileobj(text, out, BLOCK_SIZE)


FORMATS: dict[str, tuple[str, Write]] = {
    "plain text": ("text.txt", shutil.copyfile),  # type: ignore[dict-item]  # the target is not used
    "zstd": ("text.txt.zst", write_zstd),
    "gzip": ("text.txt.gz", write_gzip),
    "JSON lines": ("text.jsonl", write_json_lines),
    "CSV": ("text.csv", write_csv),
    "Parquet": ("text.parquet", write_parquet),
}


def encode(path: Path, threads: int) -> Times:
    """The time of one run."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter(), time.process_time()
        Corpus(path).write_text(Path(folder), None, BLOCK_SIZE, threads)
        return time.perf_counter() - start[0], time.process_time() - start[1]


def measure(path: Path, threads: Sequence[int], repeats: int) -> list[Times]:
    """The median times for each number of threads; a first run of each, which compiles, is not counted."""
    runs = [[encode(path, number) for number in threads] for _ in range(repeats + 1)][1:]
    return [(median(run[i][0] for run in runs), median(run[i][1] for run in runs)) for i in range(len(threads))]


def table_row(name: str, size: float, times: list[Times]) -> list[str]:
    """The speeds of a format in MB per second, what the last number of threads gains, and what it costs."""
    (first_wall, first_cpu), (last_wall, last_cpu) = times[0], times[-1]
    speeds = [f"{size / wall:.0f}" for wall, _ in times]
    return [name, *speeds, f"{first_wall / last_wall:.2f}", f"{last_cpu / first_cpu:.2f}"]


def describe(source: Path, repeats: int) -> str:
    """The machine, the versions, the text and the number of runs."""
    machine = environment(("embeddings-toolkit", "numba", "numpy", "pyarrow"))
    versions = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    size = f"{source.stat().st_size / 1e6:.0f} MB of text"
    return f"{machine['processor']}; {machine['system']}; {versions}; {machine['date']}. {size}; medians of {repeats}."


def header(threads: Sequence[int]) -> list[str]:
    """The heads of the columns."""
    columns = [f"{number} thread{'s' * (number > 1)}, MB/s" for number in threads]
    ratio = f"{threads[-1]} / {threads[0]}"
    return ["format", *columns, f"speed, {ratio}", f"CPU time, {ratio}"]


@click.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--threads", multiple=True, type=click.IntRange(1), help="Numbers of threads.  [default: 1 and all]")
@click.option("--format", "names", multiple=True, type=click.Choice([*FORMATS]), help="Formats.  [default: all]")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Runs of each.")
@click.option("-o", "--out", help="Output file of the table in Markdown.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def main(
    source: Path, threads: tuple[int, ...], names: tuple[str, ...], repeats: int, out: str | None, force: bool
) -> None:
    """Measure how fast a plain text file is read in several formats."""
    if out is not None:
        try:
            check_file(out, force=force)
        except OutputError as error:
            raise click.ClickException(str(error)) from None
    numbers = list(threads) or sorted({1, available_threads()})
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or FORMATS:
            file, write = FORMATS[name]
            write(source, Path(folder, file))
            rows.append(table_row(name, source.stat().st_size / 1e6, measure(Path(folder, file), numbers, repeats)))
            click.echo("\t".join(rows[-1]))
            sys.stdout.flush()
    if out is not None:
        write_text("\n".join([describe(source, repeats), "", *table_lines(header(numbers), rows)]) + "\n", Path(out))


if __name__ == "__main__":
    main()
