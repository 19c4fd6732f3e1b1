"""Trains one model for each choice of settings, corpus and seed, scores them, and summarises the scores as a table.

python tools/settings_study.py run RESULTS.tsv --corpus NAME=FILE... --similarity NAME|FILE... --analogy NAME|FILE
    [--documents TRAIN.csv,TEST.csv... [--category COLUMN...]] [--seed N...] [--halves] [--common KEY=VALUE,...]
    [--init VECTORS] TRAINER[:KEY=VALUE,...]...
    (runs that the file holds are skipped; with --halves each half of a set is scored, as NAME-dev and NAME-test;
    models with init_mode=MODE, and those with freeze=true, start from VECTORS)
python tools/settings_study.py table RESULTS.tsv
python tools/settings_study.py halves RESULTS.tsv    (of sets whose names end with -dev and -test)
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

from study_rows import append_rows, read_rows

import embeddings as em
from embeddings import registry
from embeddings.eval.tasks.linear_classifier import MAJORITY
from embeddings.indexes.index_spec import parse_spec
from embeddings.training.run_options import RunOptions

COLUMNS = ("corpus", "model", "seed", "set", "value", "covered", "total")
Scores = dict[tuple[str, str], float]  # by model and seed


def run(path: Path, arguments: argparse.Namespace) -> None:
    """Train and score what the file does not hold yet; each model's rows are appended at once."""
    done = {(row["corpus"], row["model"], row["seed"]) for row in read_rows(path)} if path.exists() else set()
    for seed, corpus, model in product(arguments.seed, arguments.corpus, arguments.models):
        name, _, file = corpus.partition("=")
        if (name, model, str(seed)) not in done:
            results = scores(model, file, seed, arguments)
            append_rows(path, COLUMNS, [[name, model, str(seed), *result] for result in results])


def scores(model: str, file: str, seed: int, arguments: argparse.Namespace) -> list[list[str]]:
    """Train one model on one thread; returns the score of each set, and how many of its items have vectors.

    Labelled documents are tables with the columns id, text and label, which the corpus has too, with or without labels.
    With categories, its documents also have the tags in these columns.
    """
    trainer, settings = parse_spec(f"{model},{arguments.common}" if ":" in model else f"{model}:{arguments.common}",
                                   group="trainer")  # fmt: skip
    columns = {"text_column": "text", "tag_column": ["id", *arguments.category]} if arguments.documents else {}
    mode, freeze = settings.pop("init_mode", "initial"), settings.pop("freeze", "") == "true"
    has_init = freeze or "init_mode=" in model
    options = RunOptions(init=em.InitFrom(arguments.init, mode=mode, freeze=freeze)) if has_init else None
    corpus = em.Corpus(file, **columns)
    trained = registry.create("trainer", trainer, settings).train(corpus, threads=1, seed=seed, run_options=options)
    sets = {"similarity": arguments.similarity, "analogy": arguments.analogy}
    if "documents" in trained.tables:
        results = em.evaluate(trained, name=model, documents=arguments.documents, name_column="id")
    elif arguments.documents:
        results = em.evaluate(trained, name=model, documents=arguments.documents, restrict=None, **sets)
    elif arguments.halves:
        results = []
        for half in ("dev", "test"):
            scored = em.evaluate(trained.vectors, name=model, restrict=None, half=half, **sets)
            results += [replace(one, set=f"{one.set.partition(' (')[0]}-{half}") for one in scored]
    else:
        results = em.evaluate(trained.vectors, name=model, restrict=None, **sets)
    totals = [
        result
        for result in results
        if result.section is None and result.measure in ("spearman", "accuracy") and result.method != MAJORITY
    ]
    return [[one.set, f"{one.value or 0:.4f}", str(one.covered), str(one.total)] for one in totals]


def read_values(path: Path) -> dict[tuple[str, str], Scores]:
    """The scores in percent, by corpus and set."""
    values: dict[tuple[str, str], Scores] = defaultdict(dict)
    for row in read_rows(path):
        values[row["corpus"], row["set"]][row["model"], row["seed"]] = 100 * float(row["value"])
    return values


def table(path: Path) -> str:
    """The mean over seeds of each score in percent, and its mean over sets and corpora, as Markdown; best models first.

    The last column is the difference between the means of the best and the worst seed.
    """
    values = read_values(path)
    models = dict.fromkeys(model for scores in values.values() for model, _ in scores)
    columns = [by_model(scores) for scores in values.values()]
    overall = by_model(seed_means(list(values.values())))
    ranked = sorted(models, key=lambda model: (model.partition(":")[0], -fmean(overall.get(model, [0]))))
    heads = ["model", *(f"{corpus}: {test}" for corpus, test in values), "mean", "range of seeds"]
    columns += [overall, {model: [max(seeds) - min(seeds)] for model, seeds in overall.items()}]
    rows = [[f"`{model}`", *(format_mean(column.get(model)) for column in columns)] for model in ranked]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def halves(path: Path) -> str:
    """The means over the sets that end with -dev and over those that end with -test, by model and corpus."""
    cells: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for (corpus, name), scores in read_values(path).items():
        half = name.removesuffix(".csv").rpartition("-")[2]
        for model, values in by_model(scores).items():
            cells[model, corpus, half] += values
    corpora = list(dict.fromkeys(corpus for _, corpus, _ in cells))
    rows = [["model", *corpora], ["---", *["---:"] * len(corpora)]]
    for model in sorted(sorted({model for model, _, _ in cells}), key=sort_key):
        pairs = ([cells.get((model, corpus, half)) for half in ("dev", "test")] for corpus in corpora)
        rows.append([f"`{model}`", *(" / ".join(map(format_mean, pair)).strip(" /") for pair in pairs)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


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


def main(arguments: Sequence[str]) -> None:
    """Run the study, or write its table to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table", "halves"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--init", help="pretrained vectors")
    for name in ("corpus", "similarity", "analogy", "documents", "category"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--seed", action="append", type=int, default=[])
    parser.add_argument("--common", default="epochs=3", help="settings of all models")
    parser.add_argument("--halves", action="store_true", help="score the halves of each set")
    parser.add_argument("models", nargs="*", metavar="TRAINER[:KEY=VALUE,...]")
    options = parser.parse_intermixed_args(arguments)
    if options.command != "run":
        sys.stdout.write({"table": table, "halves": halves}[options.command](options.results))
    else:
        run(options.results, options)


if __name__ == "__main__":
    main(sys.argv[1:])
