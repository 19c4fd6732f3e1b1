"""Distillation: scores by the texts, their number, word vectors and dimension."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet

import embeddings as em
from embeddings.eval.evaluation import Suite
from embeddings.eval.tasks.word_similarity import correlation
from embeddings.support.cosine import normalize_rows
from embeddings.support.plots import label_log_axis
from studies.grid import Grid, Rows, collect, markdown, mean_and_spread

NONE = "none"
ALL = 0  # texts
NUMBER, SECONDS, HELD_OUT = "texts", "CPU seconds", "held-out cosine"


class Distillation(Grid):
    """Measures distilled vectors by the kinds of texts, their number, the word vectors and the dimension.

    --texts are NAME=FILE, where FILE is one table of texts and vectors or several, separated by commas, whose first
    --count rows in all are read; 0 stands for all. --words is a table of words and vectors, or none. --truncate are
    dimensions to which vectors are also truncated. --models are NAME=PATH of others for the table: vectors or a model
    with the tokenizer in its folder, or a teacher, as for `teach`. --pairs are tables of two texts and a rating,
    --similarity word sets. The picture has the texts of which several numbers were measured.
    """

    results = "distillation/results"
    keys = ("texts", "words", "count", "dim", "seed")
    values = ("size", "measure", "value")
    defaults: ClassVar = {
        "texts": {}, "words": [NONE], "count": [ALL], "dim": [256], "seed": [1], "truncate": [128, 64], "models": {},
        "pairs": [], "similarity": [], "threads": 1,
    }  # fmt: skip
    notes = """
- Spearman's correlations in percent: of cosines with ratings of pairs of texts, and of words, each embedded as a text.
  Means over the seeds; ± half the range of the seeds. Unknown words are composed where a model can.
- Held-out cosine, in percent: the mean cosine of the vectors of texts that are not trained on and those of the teacher.
- CPU seconds are those of reading and training, without the teacher.
- Measured on {processor}.
"""

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """All combinations, and the other models."""
        yield from super().cells()
        yield from ((name, NONE, ALL, 0, 0) for name in self.options.models)

    def prepare(self) -> None:
        """Read the rated pairs of texts and of words."""
        suite = Suite.read(pairs=self.options.pairs, similarity=self.options.similarity)
        self.tests = list(chain.from_iterable(suite.sets.values()))

    def measure(self, texts: str, words: str, count: int, dim: int, seed: int) -> Iterator[Sequence[Any]]:
        """The scores of a model and of its truncated vectors, its held-out cosine and its CPU seconds."""
        if texts in self.options.models:
            path = self.options.models[texts]
            is_teacher = path.startswith("python:") or any(Path(path).glob("**/model.onnx"))
            encode = em.training.load_teacher(path) if is_teacher else partial(em.embed, em.load(path))
            yield from ((0, *one) for one in self.scores(encode))
            return
        start, paths = process_time(), self.options.texts[texts].split(",")
        tables = [pyarrow.parquet.read_table(path) for path in paths]
        parts = [one.slice(0, count // len(paths) if count else None) for one in tables]
        texts_of = [em.corpora.text_vectors(one.column("text"), one.column("embedding")) for one in parts]
        corpus = em.Corpus(*texts_of, vectors=em.corpora.VectorFormat())
        trainer = em.Distillation(dim=dim, word_vectors=None if words == NONE else words)
        model = trainer.train(corpus, threads=self.options.threads, seed=seed)
        yield dim, SECONDS, f"{process_time() - start:.1f}"
        yield dim, NUMBER, model.record["texts"]
        yield dim, HELD_OUT, f"{100 * model.record['held_out_cosine']:.2f}"
        for size in (dim, *(size for size in self.options.truncate if size < dim)):
            yield from ((size, *one) for one in self.scores(partial(em.embed, model, dim=size)))

    def scores(self, encode: Callable[[list[str]], Any]) -> Iterator[tuple[str, str]]:
        """The name and the correlation of each test set."""
        for test in self.tests:
            sides = zip(*test.pairs, strict=True) if hasattr(test, "pairs") else (test.left, test.right)
            left, right = (normalize_rows(np.asarray(encode(list(side)), np.float32)) for side in sides)
            yield test.name, f"{100 * (correlation((left * right).sum(axis=1), np.array(test.ratings))[0] or 0):.2f}"

    def table(self, rows: Rows) -> str:
        """The rows of the whole set of texts, as Markdown."""
        columns = [one for one in dict.fromkeys(row["measure"] for row in rows) if one != NUMBER]
        lines = []
        for (texts, words, _, dim, size), measures in collect(
            [row for row in rows if row["count"] == str(ALL)], "texts", "words", "count", "dim", "size"
        ).items():
            number = f"{measures[NUMBER][0]:,.0f}" if NUMBER in measures else ""
            given = "" if dim == "0" else "no" if words == NONE else "yes"
            kept = "" if dim == "0" else dim if size == dim else f"{size} of {dim}"
            lines.append([texts, given, number, kept, *(mean_and_spread(measures.get(one)) for one in columns)])
        return markdown(["texts", "word vectors", "number", "dim", *columns], lines)

    def figure(self, rows: Rows) -> Any:
        """The scores by the number of texts, a line for each dimension."""
        curves = {(row["texts"], row["words"]) for row in rows if row["count"] != str(ALL)}
        values = collect([row for row in rows if (row["texts"], row["words"]) in curves], "dim", "count", "size")
        if not values:
            return None
        from matplotlib.figure import Figure

        full = {key: one for key, one in values.items() if key[0] == key[2]}
        measures = [one for one in dict.fromkeys(row["measure"] for row in rows) if one not in (NUMBER, SECONDS)]
        figure = Figure(figsize=(2.2 * len(measures), 3), layout="constrained")
        for axes, measure in zip(figure.subplots(1, len(measures), squeeze=False)[0], measures, strict=True):
            for dim in sorted({key[0] for key in full}, key=int):
                points = sorted((one[NUMBER][0], np.mean(one[measure])) for key, one in full.items() if key[0] == dim)
                axes.plot(*zip(*points, strict=True), "o-", markersize=3, label=f"{dim} dimensions")
            axes.set(xscale="log", title=measure)
            label_log_axis(axes.xaxis)
            axes.tick_params(labelsize="small")
            axes.grid(alpha=0.3)
        figure.supxlabel("texts of the teacher")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
        return figure
