"""Scores of one model for each choice of settings, corpus and seed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, ClassVar

import embeddings as em
from embeddings import registry
from embeddings.eval.tasks.linear_classifier import MAJORITY
from embeddings.indexes.index_spec import parse_spec
from embeddings.training.run_options import RunOptions
from studies.grid import Grid, Rows, markdown

Scores = dict[tuple[str, str], float]  # in percent, by model and seed


class Settings(Grid):
    """Trains one model for each choice of settings, corpus and seed on one thread, and scores it.

    --model TRAINER[:KEY=VALUE,...]...; --common has settings of all models. --corpus NAME=FILE... With --halves each
    half of a set is scored, as NAME-dev and NAME-test, and the table has the means over the sets of each half. Labelled
    documents, --documents TRAIN,TEST..., are tables with the columns id, text and label, which the corpus has too; with
    --category its documents also have the tags in these columns. Models with init_mode=MODE, and those with
    freeze=true, start from the vectors of --init.
    """

    results = "settings/choices"
    keys = ("corpus", "model", "seed")
    values = ("set", "value", "covered", "total")
    named = ("corpus",)
    defaults: ClassVar = {
        "corpus": [], "model": [], "seed": [1], "common": "epochs=3", "similarity": [], "analogy": [], "documents": [],
        "category": [], "halves": False, "init": None,
    }  # fmt: skip

    def measure(self, corpus: str, model: str, seed: int) -> Iterable[Sequence[Any]]:
        """The score of each set, and how many of its items have vectors."""
        options = self.options
        trainer, settings = parse_spec(f"{model}{',' if ':' in model else ':'}{options.common}", group="trainer")
        mode, freeze = settings.pop("init_mode", None), settings.pop("freeze", "") == "true"
        init = em.InitFrom(options.init, mode=mode or "initial", freeze=freeze) if mode or freeze else None
        columns = {"text_column": "text", "tag_column": ["id", *options.category]} if options.documents else {}
        text = em.Corpus(self.file("corpus", corpus), **columns)
        run = RunOptions(init=init) if init else None
        trained = registry.create("trainer", trainer, settings).train(text, threads=1, seed=seed, run_options=run)
        for one in self.scores(trained):
            if one.section is None and one.measure in ("spearman", "accuracy") and one.method != MAJORITY:
                yield one.set, f"{one.value or 0:.4f}", one.covered, one.total

    def scores(self, model: em.Model) -> Iterable[Any]:
        """The results of the test sets; of documents, if the model has vectors of documents."""
        options = self.options
        sets = {"similarity": options.similarity, "analogy": options.analogy}
        if options.analogy:
            sets["restrict"] = None
        if "documents" in model.tables:
            yield from em.evaluate(model, name="", documents=options.documents, name_column="id")
        elif options.documents:
            yield from em.evaluate(model, name="", documents=options.documents, **sets)
        elif options.halves:
            for half in ("dev", "test"):
                for one in em.evaluate(model.vectors, name="", half=half, **sets):
                    yield replace(one, set=f"{one.set.partition(' (')[0]}-{half}")
        else:
            yield from em.evaluate(model.vectors, name="", **sets)

    def table(self, rows: Rows) -> str:
        """Means over seeds in percent; if all sets are halves, means over the sets of each half."""
        values: dict[tuple[str, str], Scores] = defaultdict(dict)
        for row in rows:
            values[row["corpus"], row["set"]][row["model"], row["seed"]] = 100 * float(row["value"])
        return half_table(values) if {half_of(name) for _, name in values} <= {"dev", "test"} else set_table(values)


def set_table(values: dict[tuple[str, str], Scores]) -> str:
    """The mean over seeds of each score, and its mean over sets and corpora; best models first.

    The last column is the difference between the means of the best and the worst seed.
    """
    models = dict.fromkeys(model for scores in values.values() for model, _ in scores)
    columns = [by_model(scores) for scores in values.values()]
    overall = by_model(seed_means(list(values.values())))
    ranked = sorted(models, key=lambda model: (model.partition(":")[0], -fmean(overall.get(model, [0]))))
    heads = ["model", *(f"{corpus}: {test}" for corpus, test in values), "mean", "range of seeds"]
    columns += [overall, {model: [max(seeds) - min(seeds)] for model, seeds in overall.items()}]
    rows = [[f"`{model}`", *(format_mean(column.get(model)) for column in columns)] for model in ranked]
    return markdown(heads, rows, names=1)


def half_table(values: dict[tuple[str, str], Scores]) -> str:
    """The means over the sets of each half, by model and corpus."""
    cells: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for (corpus, name), scores in values.items():
        for model, seeds in by_model(scores).items():
            cells[model, corpus, half_of(name)] += seeds
    corpora = list(dict.fromkeys(corpus for _, corpus, _ in cells))
    rows = []
    for model in sorted(sorted({model for model, _, _ in cells}), key=sort_key):
        pairs = ([cells.get((model, corpus, half)) for half in ("dev", "test")] for corpus in corpora)
        rows.append([f"`{model}`", *(" / ".join(map(format_mean, pair)).strip(" /") for pair in pairs)])
    return markdown(["model", *corpora], rows, names=1)


def half_of(name: str) -> str:
    """The end of the name of a set: its half, if it is one."""
    return name.removesuffix(".csv").rpartition("-")[2]


def sort_key(model: str) -> tuple[str, list[float]]:
    """The trainer, then the values of its settings from the last on."""
    trainer, _, settings = model.partition(":")
    return trainer, [float(part.partition("=")[2]) for part in reversed(settings.split(","))]


def by_model(scores: Scores) -> dict[str, list[float]]:
    """The scores of each model, one for each seed."""
    lists: dict[str, list[float]] = defaultdict(list)
    for (model, _), value in scores.items():
        lists[model].append(value)
    return dict(lists)


def seed_means(columns: Sequence[Scores]) -> Scores:
    """The mean over all columns of each model and seed that every column has."""
    return {key: fmean(scores[key] for scores in columns) for key in columns[0] if all(key in one for one in columns)}


def format_mean(values: Sequence[float] | None) -> str:
    """The mean with one digit; empty if there are no values."""
    return "" if values is None else f"{fmean(values):.1f}"
