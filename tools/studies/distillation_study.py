"""Distillation: scores by the texts, their number, word vectors and dimension."""

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any, ClassVar

import embeddings as em
from studies.grid import Grid, Rows, collect, markdown, mean_and_spread, scores

NONE = "none"
ALL = 0  # texts


class Distillation(Grid):
    """Measures distilled vectors by the kinds of texts, their number, the word vectors and the dimension.

    --texts are NAME=FILE, where FILE is one table of texts and vectors or several, separated by commas, whose rows are
    read in turns up to --count; 0 stands for all. --words is a table of words and vectors, or none. --models are
    NAME=PATH of other vectors for the table. --pairs are tables of two texts and a rating, --similarity word sets.
    """

    results = "distillation/results"
    keys = ("texts", "words", "count", "dim", "seed")
    defaults: ClassVar = {
        "texts": {}, "words": [NONE], "count": [ALL], "dim": [256], "seed": [1], "models": {}, "pairs": [],
        "similarity": [], "threads": 1,
    }  # fmt: skip
    notes = """
- Spearman's correlations in percent: of cosines with ratings of pairs of texts, and of words. Means over the seeds; ±
  half the range of the seeds.
- Held-out cosine, in percent: the mean cosine of the vectors of texts that are not trained on and those of the teacher.
- CPU seconds are those of reading and training, without the teacher.
- Measured on {processor}.
"""

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """All combinations, and the other models."""
        yield from super().cells()
        yield from ((name, NONE, ALL, 0, 0) for name in self.options.models)

    def measure(self, texts: str, words: str, count: int, dim: int, seed: int) -> Iterator[Sequence[Any]]:
        """The scores of a model, its held-out cosine and its CPU seconds."""
        start = process_time()
        if texts in self.options.models:
            model: Any = em.load(self.options.models[texts])
        else:
            paths = self.options.texts[texts].split(",")
            tables = [em.corpora.text_vectors(*read_rows_of(path, count // len(paths))) for path in paths]
            corpus = em.Corpus(*tables, vectors=em.corpora.VectorFormat())
            trainer = em.Distillation(dim=dim, word_vectors=None if words == NONE else words)
            model = trainer.train(corpus, threads=self.options.threads, seed=seed)
            yield "CPU seconds", f"{process_time() - start:.1f}"
            yield "held-out cosine", f"{100 * model.record['held_out_cosine']:.2f}"
        for one in scores(model, pairs=self.options.pairs, similarity=self.options.similarity):
            yield f"{one.set}", f"{100 * one.value:.2f}"

    def table(self, rows: Rows) -> str:
        """The rows as Markdown."""
        columns = list(dict.fromkeys(row["measure"] for row in rows))
        lines = []
        for key, measures in collect(rows, "texts", "words", "count", "dim").items():
            count = f"{int(key[2]):,}" if int(key[2]) else "all"
            values = [mean_and_spread(measures.get(column)) for column in columns]
            lines.append([key[0], "no" if key[1] == NONE else "yes", count, key[3] if int(key[3]) else "", *values])
        return markdown(["texts", "word vectors", "number", "dim", *columns], lines)


def read_rows_of(path: str, count: int) -> tuple[Any, Any]:
    """The first texts of a table and their vectors; all if `count` is 0."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    table = table.slice(0, count) if count else table
    return table.column("text"), table.column("embedding")
