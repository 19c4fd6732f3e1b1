"""Measures how fast text of several languages is encoded, with the tokenizers `words` and `alphanumeric` in turns.

    python tools/tokenizer_speed.py -o eval/results/tokenizer-speed.md --text "English Wikipedia=wiki.txt"

Without `--text`, each text is article 1 of the Universal Declaration of Human Rights, repeated: all but its first words
are known ones, so that it shows the speed of the scanner alone. A further text is read from a file with `--text`. Each
figure is the median of several runs, in MB per CPU second of scanning, counting and writing ids; compilation is not
included. Measure on an otherwise idle machine.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.errors import OutputError
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.machine import environment
from embeddings.support.files import check_file
from embeddings.support.markup import table_lines

SIZE = 20_000_000  # bytes of repeated text
ARTICLES = Path(__file__).with_name("human_rights.tsv")
TOKENIZERS = ("words", "alphanumeric")
HEADER = ["text", "MB", *(f"`{name}`, MB per CPU s" for name in TOKENIZERS), "CPU time, `words` / `alphanumeric`"]


def repeated_articles(folder: Path, size: int) -> Iterator[tuple[str, Path]]:
    """The name and the file of each language's repeated article."""
    for row in ARTICLES.read_text("utf-8").splitlines():
        name, article = row.split("\t")
        line = f"{article}\n".encode()
        path = folder / name
        path.write_bytes(line * max(1, size // len(line)))
        yield f"{name}, repeated article", path


def seconds(path: Path, tokenizer: str) -> float:
    """CPU seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        Corpus(path, tokenizer=tokenizer).write_text(Path(folder), None, BLOCK_SIZE)
        return time.process_time() - before


def measure(name: str, path: Path, repeats: int) -> list[str]:
    """The row of a text; a first run of each tokenizer, which compiles, is not counted."""
    runs = [[seconds(path, tokenizer) for tokenizer in TOKENIZERS] for _ in range(repeats + 1)][1:]
    size = path.stat().st_size / 1e6
    speeds = [f"{size / median(column):.0f}" for column in zip(*runs, strict=True)]
    return [name, f"{size:.0f}", *speeds, f"{median(words / other for words, other in runs):.2f}"]


def describe(repeats: int) -> str:
    """The machine, the versions and the number of runs."""
    machine = environment(("embeddings-toolkit", "numba", "numpy", "pyarrow"))
    versions = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (
        f"{machine['processor']}; {machine['system']}; {versions}; {machine['date']}. One core; medians of {repeats}."
    )


@click.command()
@click.option("--text", "texts", multiple=True, metavar="NAME=FILE", help="A further text, read from a file.")
@click.option("--size", type=click.IntRange(1), default=SIZE, show_default=True, help="Bytes of each repeated article.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Runs of each tokenizer.")
@click.option("-o", "--out", help="Output file of the table in Markdown.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def main(texts: tuple[str, ...], size: int, repeats: int, out: str | None, force: bool) -> None:
    """Measure how fast text of several languages is encoded."""
    if out is not None:
        try:
            check_file(out, force=force)
        except OutputError as error:
            raise click.ClickException(str(error)) from None
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        named = [(name, Path(file)) for name, _, file in (text.partition("=") for text in texts)]
        for name, path in [*named, *repeated_articles(Path(folder), size)]:
            rows.append(measure(name, path, repeats))
            click.echo("\t".join(rows[-1]))
            sys.stdout.flush()
    if out is not None:
        write_text("\n".join([describe(repeats), "", *table_lines(HEADER, rows)]) + "\n", Path(out))


if __name__ == "__main__":
    main()
