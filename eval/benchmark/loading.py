"""How long files of vectors take to read, beside gensim, and a saved model to its first look-up.

`python -m embeddings.eval.benchmark.loading` makes vectors at random, writes them, and prints a line a way of reading,
separated by tabs. Each reading is a process of its own, which takes the time from when its libraries are imported to
the first vector; those of a format take turns. Just before each reading the file is read once, so that it is in memory,
and the process takes as much memory as it may need and gives it back: where a machine is virtual, finding it anew takes
longer than all else. With `-o FILE` the table is written as Markdown too. `--help` lists what can be chosen.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click
import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import OutputError
from embeddings.eval.benchmark.machine import environment
from embeddings.eval.benchmark.result_rows import write_text
from embeddings.models.model import Model
from embeddings.support.files import check_file
from embeddings.support.markdown import table_row
from embeddings.vectors.vectors import Vectors

READ = """
import json, numpy, resource, sys, time
{imports}
path, word, room = sys.argv[1:]
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
imported = spent()
numpy.ones(int(room), numpy.float32)
begun, wall = spent(), time.perf_counter()
found = {read}
found[word].sum()
print(json.dumps([spent() - begun, time.perf_counter() - wall, imported + spent() - begun]))
"""
OURS = (
    "import embeddings as em, embeddings.models.model, pyarrow.compute\n"
    "from embeddings import formats\nformats.names()",
    "em.load(path)",
)
GENSIM = "from gensim.models import KeyedVectors"
WAYS = {
    ("saved model", "embeddings"): OURS,
    ("word2vec-binary", "embeddings"): OURS,
    ("word2vec-binary", "gensim"): (GENSIM, "KeyedVectors.load_word2vec_format(path, binary=True)"),
    ("word2vec-text", "embeddings"): OURS,
    ("word2vec-text", "gensim"): (GENSIM, "KeyedVectors.load_word2vec_format(path)"),
}
HEADS = ("format", "library", "CPU s", "wall s", "CPU s, imports too", "embeddings is faster by")
COLUMNS = ("format", "library", "cpu_s", "wall_s", "cpu_s_with_imports", "embeddings_is_faster")


def measured(words: int, dim: int, repeats: int) -> Iterator[tuple[str, ...]]:
    """A row for each way of reading: medians, and how many times faster this package is by CPU time."""
    with TemporaryDirectory(prefix="embeddings-loading-") as place:
        paths = written(words, dim, Path(place))
        runs: dict[tuple[str, str], list[list[float]]] = {way: [] for way in WAYS}
        for form, path in paths.items():
            for way in [way for way in WAYS if way[0] == form] * repeats:
                imports, read = WAYS[way]
                warm(path)
                code = READ.format(imports=imports, read=read)
                runs[way].append(timed(code, path, f"word{words - 1}", 2 * words * dim))
        for (form, library), each in runs.items():
            cpu, wall, whole = (median(column) for column in zip(*each, strict=True))
            ours = median(run[0] for run in runs[form, "embeddings"])
            yield form, library, f"{cpu:.3f}", f"{wall:.3f}", f"{whole:.3f}", f"{cpu / ours:.1f}"


def written(words: int, dim: int, folder: Path) -> dict[str, Path]:
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


def warm(path: Path) -> None:
    """Read all that is there, so that it is in memory."""
    for file in [path, *path.rglob("*")]:
        if file.is_file():
            with file.open("rb") as stream:
                while stream.read(1 << 22):
                    pass


def timed(code: str, path: Path, word: str, room: int) -> list[float]:
    """CPU and wall seconds of reading, CPU seconds of the whole process; `room` numbers are taken and given back."""
    command = [sys.executable, "-c", code, str(path), word, str(room)]
    found: list[float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def markdown(rows: Sequence[tuple[str, ...]], about: str) -> str:
    """The rows as a table, with what they were measured on."""
    return (
        "\n".join(
            [
                about,
                "",
                table_row(list(HEADS)),
                table_row(["---"] * len(HEADS)),
                *(table_row(list(one)) for one in rows),
            ]
        )
        + "\n"
    )


def about(words: int, dim: int) -> str:
    """The machine, the versions, and what was read."""
    found = environment(("embeddings-toolkit", "gensim", "numpy", "pyarrow"))
    versions = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    return (
        f"{found['processor']}, {found['cores_available']} of {found['cores']} cores; {found['system']}; "
        f"{versions}; {found['date']}. {words:,} vectors of {dim} components; CPU seconds from libraries imported to "
        "the first vector, and of the whole process."
    )


@click.command()
@click.option("--words", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=300, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Processes for each way.")
@click.option("-o", "--out", help="A file for the table, in Markdown.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def main(words: int, dim: int, repeats: int, out: str | None, force: bool) -> None:
    """Time how files of vectors are read, beside gensim."""
    if out is not None:
        try:
            check_file(out, force=force)
        except OutputError as error:
            raise click.ClickException(str(error)) from None
    rows = list(measured(words, dim, repeats))
    for one in (COLUMNS, *rows):
        click.echo("\t".join(one))
    if out is not None:
        write_text(markdown(rows, about(words, dim)), Path(out))


if __name__ == "__main__":
    main()
