"""Measures how long vectors take to load, compared with gensim, and a saved model to its first lookup.

`python tools/loading_times.py` writes random vectors in several formats and prints a line for each way of reading
them, separated by tabs; `-o FILE` also writes the table as Markdown, and `--help` lists the options. Each reading is a
process of its own, timed from after its imports to the first vector; the readers of a format take turns. Just before
each reading the file is read once, so that it is in memory, and the process allocates and frees as much memory as it
may need: on a virtual machine, getting fresh memory takes longer than all else.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click
import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import OutputError
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.machine import environment
from embeddings.models.model import Model
from embeddings.support.files import check_file
from embeddings.support.imports import INSTALL_GENSIM
from embeddings.vectors.vectors import Vectors

READ = """
import json, numpy, resource, sys, time
{imports}
path, word, size = sys.argv[1:]
def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
imported = cpu_seconds()
numpy.ones(int(size), numpy.float32)
cpu, wall = cpu_seconds(), time.perf_counter()
vectors = {read}
vectors[word].sum()
print(json.dumps([cpu_seconds() - cpu, time.perf_counter() - wall, imported + cpu_seconds() - cpu]))
"""
OURS = (
    "import embeddings as em, embeddings.models.model, pyarrow.compute\n"
    "from embeddings import formats\nformats.names()",
    "em.load(path)",
)
GENSIM = "from gensim.models import KeyedVectors"
READERS = {
    ("saved model", "embeddings"): OURS,
    ("word2vec-binary", "embeddings"): OURS,
    ("word2vec-binary", "gensim"): (GENSIM, "KeyedVectors.load_word2vec_format(path, binary=True)"),
    ("word2vec-text", "embeddings"): OURS,
    ("word2vec-text", "gensim"): (GENSIM, "KeyedVectors.load_word2vec_format(path)"),
}
HEADS = ("format", "library", "CPU s", "wall s", "CPU s with imports", "CPU time / embeddings")
COLUMNS = ("format", "library", "cpu_s", "wall_s", "cpu_s_with_imports", "cpu_over_embeddings")


def measure(words: int, dim: int, repeats: int) -> Iterator[tuple[str, ...]]:
    """A row for each reader: medians, and CPU time over that of this package."""
    with TemporaryDirectory(prefix="embeddings-loading-") as folder:
        paths = write_vectors(words, dim, Path(folder))
        runs: dict[tuple[str, str], list[list[float]]] = {reader: [] for reader in READERS}
        for form, path in paths.items():
            for reader in [reader for reader in READERS if reader[0] == form] * repeats:
                imports, read = READERS[reader]
                read_into_memory(path)
                code = READ.format(imports=imports, read=read)
                runs[reader].append(time_reading(code, path, f"word{words - 1}", 2 * words * dim))
        for (form, library), each in runs.items():
            cpu, wall, whole = (median(column) for column in zip(*each, strict=True))
            ours = median(run[0] for run in runs[form, "embeddings"])
            yield form, library, f"{cpu:.3f}", f"{wall:.3f}", f"{whole:.3f}", f"{cpu / ours:.1f}"


def write_vectors(words: int, dim: int, folder: Path) -> dict[str, Path]:
    """The same vectors in each format."""
    matrix = np.random.default_rng(1).standard_normal((words, dim), dtype=np.float32)
    counts = np.arange(words, 0, -1)
    vectors = Vectors([f"word{number}" for number in range(words)], matrix, counts=counts)
    Model("random", vectors=vectors, vocabulary=Vocabulary(vectors.words, counts)).save(folder / "model")
    paths = {"saved model": folder / "model"}
    for form in ("word2vec-binary", "word2vec-text"):
        paths[form] = folder / form
        vectors.save(paths[form], form)
    return paths


def read_into_memory(path: Path) -> None:
    """Read a file, or all files of a folder."""
    for file in [path, *path.rglob("*")]:
        if file.is_file():
            with file.open("rb") as stream:
                while stream.read(1 << 22):
                    pass


def time_reading(code: str, path: Path, word: str, size: int) -> list[float]:
    """CPU and wall seconds of reading, and CPU seconds with imports; `size` numbers are allocated and freed before."""
    command = [sys.executable, "-c", code, str(path), word, str(size)]
    times: list[float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return times


def markdown(rows: Sequence[tuple[str, ...]], description: str) -> str:
    """The rows as a table below the description."""
    lines = [HEADS, ("---",) * len(HEADS), *rows]
    return "\n".join([description, "", *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


def describe(words: int, dim: int) -> str:
    """The machine, the versions, and the vectors."""
    machine = environment(("embeddings-toolkit", "gensim", "numpy", "pyarrow"))
    versions = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (
        f"{machine['processor']}, {machine['cores_available']} of {machine['cores']} cores; {machine['system']}; "
        f"{versions}; {machine['date']}. {words:,} vectors of {dim} components; CPU seconds from after the imports to "
        "the first vector, and of the whole process."
    )


@click.command()
@click.option("--words", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=300, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Processes per reader.")
@click.option("-o", "--out", help="Output file of the table in Markdown.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def main(words: int, dim: int, repeats: int, out: str | None, force: bool) -> None:
    """Measure how long vectors take to load, compared with gensim."""
    if find_spec("gensim") is None:
        raise click.ClickException(f"the comparison requires gensim, which is not installed: {INSTALL_GENSIM}")
    if out is not None:
        try:
            check_file(out, force=force)
        except OutputError as error:
            raise click.ClickException(str(error)) from None
    rows = list(measure(words, dim, repeats))
    for one in (COLUMNS, *rows):
        click.echo("\t".join(one))
    if out is not None:
        write_text(markdown(rows, describe(words, dim)), Path(out))


if __name__ == "__main__":
    main()
