"""Students of one or several teachers, and of one or several languages."""

from collections.abc import Iterator
from statistics import mean
from time import process_time
from typing import Any, ClassVar

import numpy as np
import pyarrow.csv

import embeddings as em
from studies.grid import Grid, Rows, pivot


class DistilledStudents(Grid):
    """Measures students by their teachers and languages.

    --student are NAME=TEXTS=WORDS, with files separated by commas as `train distill` reads them, such as
    both=a.parquet,b.parquet:0.5=words.parquet. --pairs are tables of two texts and a rating, --similarity word sets and
    --translations CSV files of a text and its translation: the share of distinct texts that it finds first.
    """

    results = "distillation/students"
    keys = ("student", "seed")
    values = ("measure", "value")
    defaults: ClassVar = {
        "student": [], "seed": [1], "pairs": [], "similarity": [], "translations": [], "threads": 1,
    }  # fmt: skip
    notes = """
- Spearman's correlations in percent; translations: the share of texts whose translation is nearest. Means over the
  seeds; ± half their range. CPU seconds are those of reading and training, without the teacher, on {processor}.
"""

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """The names of the students with each seed."""
        self.students = {name: files for name, *files in (one.split("=") for one in self.options.student)}
        return ((name, seed) for seed in self.options.seed for name in self.students)

    def measure(self, student: str, seed: int) -> Iterator[tuple[str, str]]:
        """CPU seconds, held-out cosine, dimension and scores of a student."""
        start, (texts, words) = process_time(), [files.split(",") for files in self.students[student]]
        corpus = em.Corpus(*texts, vectors=em.corpora.VectorFormat())
        model = em.Distillation(word_vectors=words).train(corpus, threads=self.options.threads, seed=seed)
        yield "CPU s", f"{process_time() - start:.1f}"
        yield "dim", str(model.vectors.dim)
        yield "held-out cosine", f"{100 * model.record['held_out_cosine']:.2f}"
        sets = {"pairs": self.options.pairs, "similarity": self.options.similarity}
        has_words = bool(self.options.similarity)
        for result in em.evaluate(model, compose=has_words, **{name: one for name, one in sets.items() if one}):
            if "spearman" in result.measure:
                yield result.set, f"{100 * result.value:.2f}"
        for path in self.options.translations:
            table = pyarrow.csv.read_csv(path, pyarrow.csv.ReadOptions(autogenerate_column_names=True))
            pairs = dict(zip(table[0].to_pylist(), table[1].to_pylist(), strict=True))
            sides = (em.embed(model, list(side), normalize=True) for side in (pairs, pairs.values()))
            nearest = np.argmax(next(sides) @ next(sides).T, axis=1)
            yield (
                f"{path.rsplit('/', 1)[-1]}, of {len(pairs):,}",
                f"{100 * np.mean(nearest == np.arange(len(pairs))):.2f}",
            )

    def table(self, rows: Rows) -> str:
        """The means over the seeds, as Markdown."""
        columns = dict.fromkeys(row["measure"] for row in rows)
        return pivot(rows, ("student",), {name: (mean_and_spread, "") for name in columns})


def mean_and_spread(values: list[float]) -> str:
    """The mean, and half the range if it is not 0."""
    spread = (max(values) - min(values)) / 2
    return f"{mean(values):.1f}" + (f" ± {spread:.1f}" if spread else "")
