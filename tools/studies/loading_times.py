"""How long vectors take to load, compared with gensim, and a saved model to its first lookup."""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors
from studies.grid import Grid, Rows, collect, markdown, medians, require, run_command, take_turns

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
print(json.dumps({{
    "CPU s": cpu_seconds() - cpu, "wall s": time.perf_counter() - wall,
    "CPU s with imports": imported + cpu_seconds() - cpu,
}}))
"""
OURS = (
    "import embeddings as em, embeddings.models.model, pyarrow.compute\n"
    "from embeddings import formats\nformats.names()",
    "em.load(path)",
)
GENSIM = "from gensim.models import KeyedVectors"
READERS = {  # the imports and the code that reads, by format and library
    "saved model": {"embeddings": OURS},
    "word2vec-binary": {
        "embeddings": OURS,
        "gensim": (GENSIM, "KeyedVectors.load_word2vec_format(path, binary=True)"),
    },
    "word2vec-text": {
        "embeddings": OURS,
        "gensim": (GENSIM, "KeyedVectors.load_word2vec_format(path)"),
    },
}
MEASURES = ("CPU s", "wall s", "CPU s with imports")


class Loading(Grid):
    """Measures how long random vectors take to load, compared with gensim, and a saved model to its first lookup.

    Each reading is a process of its own, timed from after its imports to the first vector; the readers of a format take
    turns. Just before each reading the file is read once, so that it is in memory, and the process allocates and frees
    as much memory as it may need: on a virtual machine, getting fresh memory takes longer than all else.
    """

    results = "loading"
    keys = ("format",)
    values = ("library", "round", "measure", "value")
    packages = ("gensim", "numpy", "pyarrow")
    defaults: ClassVar = {"format": [*READERS], "words": 1_000_000, "dim": 300, "rounds": 3}

    def prepare(self) -> None:
        """Write the same vectors in each format."""
        require("gensim")
        words, dim = self.options.words, self.options.dim
        matrix = np.random.default_rng(1).standard_normal((words, dim), dtype=np.float32)
        counts = np.arange(words, 0, -1)
        vectors = Vectors([f"word{number}" for number in range(words)], matrix, counts=counts)
        vocabulary = Vocabulary(vectors.words, counts)
        Model("random", vectors=vectors, vocabulary=vocabulary).save(self.folder / "saved model")
        for form in ("word2vec-binary", "word2vec-text"):
            vectors.save(self.folder / form, form)

    def measure(self, form: str) -> Iterator[Sequence[Any]]:
        """CPU and wall seconds of reading, and CPU seconds with imports."""
        runs = {library: partial(self.read, form, *code) for library, code in READERS[form].items()}
        return take_turns(runs, self.options.rounds, warm_up=False)

    def read(self, form: str, imports: str, read: str) -> dict[str, float]:
        """Read in a process of its own."""
        path, options = self.folder / form, self.options
        read_into_memory(path)
        code = READ.format(imports=imports, read=read)
        command = [sys.executable, "-c", code, path, f"word{options.words - 1}", 2 * options.words * options.dim]
        return json.loads(run_command(command).output)

    def about(self) -> str:
        """The vectors."""
        return (
            f"{self.options.words:,} vectors of {self.options.dim} components; CPU seconds from after the imports to "
            "the first vector, and of the whole process."
        )

    def table(self, rows: Rows) -> str:
        """A row for each reader: medians, and CPU time over that of this package."""
        values = {key: medians(one, *MEASURES) for key, one in collect(rows, "format", "library").items()}
        lines = [
            [*key, *(f"{number:.3f}" for number in one), f"{one[0] / values[key[0], 'embeddings'][0]:.1f}"]
            for key, one in values.items()
        ]
        return markdown(["format", "library", *MEASURES, "CPU time / embeddings"], lines)


def read_into_memory(path: Path) -> None:
    """Read a file, or all files of a folder."""
    for file in [path, *path.rglob("*")]:
        if file.is_file():
            with file.open("rb") as stream:
                while stream.read(1 << 22):
                    pass
