"""Students of one or several teachers, and of one or several languages, beside other models."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from statistics import mean
from time import process_time
from typing import Any, ClassVar

import numpy as np
import pyarrow.csv

import embeddings as em
from embeddings.eval.evaluation import Suite
from embeddings.eval.tasks.word_similarity import correlation
from embeddings.support.cosine import normalize_rows
from studies.grid import Grid, Rows, pivot


class DistilledStudents(Grid):
    """Measures students by their teachers and languages, beside other models.

    --student are NAME=TEXTS=WORDS or NAME=TEXTS=WORDS=DIM, with files separated by commas as `train distill` reads
    them, such as both=a.parquet,b.parquet:0.5=words.parquet; for other models NAME=PATH, and for teachers
    NAME=python:MODULE:FUNCTION. --pairs are tables of two texts and a rating; --similarity word sets, each word of
    which is embedded as a text; --translations CSV files of a text and its translation: the share of distinct texts
    that it finds first. --documents are labelled tables, --retrieval folders of BEIR; teachers have no such scores.
    """

    results = "distillation/students"
    keys = ("student", "seed")
    defaults: ClassVar = {
        "student": [], "seed": [1], "pairs": [], "similarity": [], "documents": [], "retrieval": [], "translations": [],
        "threads": 1,
    }  # fmt: skip
    notes = """
- In percent: Spearman's correlations, accuracy, nDCG, and the share of texts whose translation is nearest. Means over
  the seeds; ± half their range. CPU seconds are those of reading and training, without the teacher, on {processor}.
"""

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """The names of the students with each seed, and of other models with 0."""
        self.students = {name: files for name, *files in (one.split("=") for one in self.options.student)}
        return ((name, seed * (len(files) > 1)) for seed in self.options.seed for name, files in self.students.items())

    def measure(self, student: str, seed: int) -> Iterator[tuple[str, str]]:
        """CPU seconds and held-out cosine of a student, and scores in percent."""
        texts, *others = self.students[student]
        if others:
            start, (words, *dim) = process_time(), others
            corpus = em.Corpus(*texts.split(","), vectors=em.corpora.VectorFormat())
            trainer = em.Distillation(word_vectors=words.split(","), dim=int(*dim))
            source = trainer.train(corpus, threads=self.options.threads, seed=seed)
            yield "CPU s", f"{process_time() - start:.1f}"
            yield "held-out cosine", f"{100 * source.record['held_out_cosine']:.2f}"
        else:
            source = em.training.load_teacher(texts) if texts.startswith("python:") else em.load(texts)
        encode = source if callable(source) else partial(em.embed, source)
        for name, *sides, ratings in self.texts():
            left, right = (normalize_rows(np.asarray(encode(list(side)), np.float32)) for side in sides)
            if ratings is None:
                value = float(np.mean(np.argmax(left @ right.T, axis=1) == np.arange(len(left))))
            else:
                value = correlation((left * right).sum(axis=1), np.array(ratings))[0] or 0.0
            yield name, f"{100 * value:.2f}"
        tasks = [{"documents": path} for path in self.options.documents]
        files = "queries.jsonl", "corpus.jsonl", "qrels.tsv"
        tasks += [{"retrieval": [f"{folder}/{file}" for file in files]} for folder in self.options.retrieval]
        for result in chain.from_iterable(em.evaluate(source, **task) for task in tasks if not callable(source)):
            if result.measure in ("accuracy", "ndcg@10") and result.section is result.method is None:
                yield f"{result.set}, {result.measure}", f"{100 * result.value:.2f}"

    def texts(self) -> Iterator[tuple[str, Any, Any, Any]]:
        """The name of each set of pairs of texts, both sides, and the ratings, or None for translations."""
        given = {name: sets for name in ("pairs", "similarity") if (sets := getattr(self.options, name))}
        for test in chain.from_iterable(task.sets for task in (Suite.read(**given).tasks if given else ())):
            sides = zip(*test.pairs, strict=True) if hasattr(test, "pairs") else (test.left, test.right)
            yield test.name, *sides, test.ratings
        for path in self.options.translations:
            table = pyarrow.csv.read_csv(path, pyarrow.csv.ReadOptions(autogenerate_column_names=True))
            pairs = dict(zip(table[0].to_pylist(), table[1].to_pylist(), strict=True))
            yield f"{path.rsplit('/', 1)[-1]}, of {len(pairs):,}", pairs, pairs.values(), None

    def table(self, rows: Rows) -> str:
        """The means over the seeds, as Markdown."""
        columns = dict.fromkeys(row["student"] for row in rows)
        turned = [{"": row["measure"], "measure": row["student"], "value": row["value"]} for row in rows]
        return pivot(turned, ("",), {name: (mean_and_spread, "") for name in columns})


def mean_and_spread(values: list[float]) -> str:
    """The mean, and half the range if it is not 0."""
    spread = (max(values) - min(values)) / 2
    return f"{mean(values):.1f}" + (f" ± {spread:.1f}" if spread else "")
