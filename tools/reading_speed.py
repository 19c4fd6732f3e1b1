"""Measures how fast text is read and encoded, by format of the file and number of threads.

    python tools/reading_speed.py wiki.txt -o eval/results/reading-speed.md

The lines of a plain text file that are not empty are written as rows of tables, and the file is compressed, in a
temporary folder. Each file is encoded with each number of threads in turns: read, split into words, counted, and
written as ids. Figures are medians of several runs, in MB of text per second of wall time; compilation is not included.
The last rows are what others use for plain text; they only split at white space and count. Formats and others whose
library is not installed are left out. Measure on an otherwise idle machine: 100 MB take a few minutes.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from statistics import median
from typing import IO, Any, NamedTuple
from xml.sax.saxutils import escape

import click
import pyarrow
import pyarrow.parquet

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.errors import OutputError
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.machine import environment
from embeddings.support.files import check_file
from embeddings.support.markup import table_lines
from embeddings.support.system import available_threads

ROWS = 10_000  # of a table, written at a time
PAGE_ROWS = 20  # lines of a page
N_PARTS = 8
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


def write_csv(source: Path, target: Path, delimiter: str = ",") -> None:
    """Write a row for each line."""
    with target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerow(["text"])
        for rows in text_rows(source):
            writer.writerows([row] for row in rows)


def write_table(source: Path, new_writer: Callable[[Any], Any]) -> None:
    """Write a row for each line with a writer of pyarrow."""
    with new_writer(pyarrow.schema([("text", pyarrow.string())])) as writer:
        for rows in text_rows(source):
            writer.write_table(pyarrow.table({"text": rows}))


def write_parquet(source: Path, target: Path) -> None:
    """Write a row for each line."""
    write_table(source, partial(pyarrow.parquet.ParquetWriter, target))


def write_arrow(source: Path, target: Path) -> None:
    """Write a row for each line."""
    write_table(source, partial(pyarrow.ipc.new_file, target))


def write_arrow_stream(source: Path, target: Path) -> None:
    """Write a row for each line."""
    write_table(source, partial(pyarrow.ipc.new_stream, target))


def write_wet(source: Path, target: Path) -> None:
    """Write a page for some lines at a time, each page compressed by itself, as Common Crawl does."""
    from warcio.warcwriter import WARCWriter

    with target.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for page in pages(source):
            record = writer.create_warc_record("https://example.org/", "conversion", io.BytesIO(page.encode()))
            writer.write_record(record)


def write_dump(source: Path, target: Path) -> None:
    """Write a page for some lines at a time."""
    with target.open("w", encoding="utf-8") as out:
        out.write("<mediawiki>\n")
        for number, page in enumerate(pages(source)):
            out.write(f"<page><title>{number}</title><ns>0</ns><id>{number}</id><revision><text>{escape(page)}")
            out.write("</text></revision></page>\n")
        out.write("</mediawiki>\n")


def pages(source: Path) -> Iterator[str]:
    """Some lines at a time."""
    for rows in text_rows(source):
        for first in range(0, len(rows), PAGE_ROWS):
            yield "\n".join(rows[first : first + PAGE_ROWS])


def copy_text(source: Path, target: Path) -> None:
    """Copy the file."""
    shutil.copyfile(source, target)


def compress(source: Path, target: Path, open_target: Callable[[Path], Any]) -> None:
    """Compress the file."""
    with source.open("rb") as text, closing(open_target(target)) as out:
        shutil.copyfileobj(text, out, BLOCK_SIZE)


def open_gzip(target: Path) -> IO[bytes]:
    """Open a gzip file for writing, with the compression that the command uses."""
    return gzip.GzipFile(target, "wb", compresslevel=6)


def open_arrow_stream(target: Path, kind: str) -> Any:
    """Open a compressed file for writing."""
    return pyarrow.CompressedOutputStream(str(target), kind)


def write_parts(source: Path, target: Path) -> None:
    """Compress parts of the file, as files of a folder."""
    target.mkdir()
    size = -(-source.stat().st_size // N_PARTS)
    with source.open("rb") as text:
        for number in range(N_PARTS):
            with open_gzip(target / f"part{number}.gz") as out:
                out.write(text.read(size) + text.readline())


class Format(NamedTuple):
    """The name of a file, the function that writes it, the library that reading it requires, and the most text."""

    file: str
    write: Write
    library: str = "pyarrow"
    max_size: int | None = None


FORMATS: dict[str, Format] = {
    "plain text": Format("text.txt", copy_text),
    "gzip": Format("text.txt.gz", partial(compress, open_target=open_gzip)),
    f"gzip, {N_PARTS} files": Format("parts", write_parts),
    "zstd": Format("text.txt.zst", partial(compress, open_target=partial(open_arrow_stream, kind="zstd"))),
    "bzip2": Format("text.txt.bz2", partial(compress, open_target=partial(bz2.open, mode="wb"))),
    "xz": Format("text.txt.xz", partial(compress, open_target=partial(lzma.open, mode="wb", preset=1))),
    "CSV": Format("text.csv", write_csv),
    "TSV": Format("text.tsv", partial(write_csv, delimiter="\t")),
    "JSON lines": Format("text.jsonl", write_json_lines),
    "Parquet": Format("text.parquet", write_parquet),
    "Arrow": Format("text.arrow", write_arrow),
    "Arrow stream": Format("text.arrows", write_arrow_stream),
    "WET (gzip)": Format("text.warc.wet.gz", write_wet, "warcio", 30_000_000),
    "MediaWiki dump": Format("text.xml", write_dump, "mwparserfromhell", 4_000_000),
}


def count_split(source: Path) -> None:
    """Count words with Python alone."""
    with source.open(encoding="utf-8") as lines:
        Counter(chain.from_iterable(line.lower().split() for line in lines))


def count_gensim(source: Path) -> None:
    """Count the words of gensim's stream of sentences."""
    from gensim.models.word2vec import LineSentence

    Counter(chain.from_iterable(LineSentence(str(source))))


OTHERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "Python: `line.lower().split()`, `Counter`": (count_split, "collections"),
    "gensim: `LineSentence`, `Counter`": (count_gensim, "gensim"),
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


def measure_format(name: str, source: Path, threads: Sequence[int], repeats: int) -> list[str]:
    """Write the text in a format, and measure how fast it is read; returns the row of the table."""
    form = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        if form.max_size is not None and source.stat().st_size > form.max_size:
            with source.open("rb") as text:
                head = text.read(form.max_size) + text.readline()
            source = Path(folder, "head")
            source.write_bytes(head)
        form.write(source, Path(folder, form.file))
        return table_row(name, source.stat().st_size / 1e6, measure(Path(folder, form.file), threads, repeats))


def measure_other(name: str, source: Path, threads: Sequence[int], repeats: int) -> list[str]:
    """Measure how fast others count the words of plain text; returns the row of the table."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        OTHERS[name][0](source)
        seconds.append(time.perf_counter() - start)
    return [name, f"{source.stat().st_size / 1e6 / median(seconds):.0f}", *["-"] * (len(threads) + 1)]


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
@click.option("--format", "names", multiple=True, type=click.Choice([*FORMATS, *OTHERS]), help="Rows.  [default: all]")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Runs of each.")
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
    for name in names or (*FORMATS, *OTHERS):
        library = FORMATS[name].library if name in FORMATS else OTHERS[name][1]
        if find_spec(library) is None:
            click.echo(f"{name} is left out: {library} is not installed", err=True)
            continue
        rows.append((measure_format if name in FORMATS else measure_other)(name, source, numbers, repeats))
        click.echo("\t".join(rows[-1]))
        sys.stdout.flush()
    if out is not None:
        write_text("\n".join([describe(source, repeats), "", *table_lines(header(numbers), rows)]) + "\n", Path(out))


if __name__ == "__main__":
    main()
