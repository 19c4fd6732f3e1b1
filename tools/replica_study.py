"""Measures what replicas cost: quality by their number, the interval of merges and the merge rule.

python tools/replica_study.py run FOLDER --corpus FILE [--name NAME] [--model MODEL...] [--replicas N...]
    [--merge-every WORDS...] [--rule RULE...] [--learning-rate RATE...] [--seed N...] [--epochs N] [--processes N]
    [--similarity SET...] [--analogy SET...] [--half dev|test] [--documents TRAIN,TEST] [--no-times]
python tools/replica_study.py table FOLDER [--drawn MEASURE]

`table` draws the score by interval or, with --drawn, another measure, such as questions-words, the accuracy of
analogies, which differs less between seeds. `run` trains each cell in a process of its own on one thread, adds its rows
to FOLDER/results.tsv, skips cells that are in it, and writes FOLDER/results.md and results.png, as `table` does.
Replicas 0 stand for one thread without replicas. Give several of an option by repeating it. With --documents, --corpus
is not read: models of documents learn from TRAIN and TEST, tables with the columns name, label and text. With
--no-times, for a machine that does other work too, seconds are not recorded.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Any, NamedTuple

from study_rows import append_rows, read_rows

import embeddings as em
from embeddings import registry
from embeddings.training.replica_tables import ReplicaTables

COLUMNS = ("corpus", "model", "epochs", "replicas", "merge_every", "rule", "learning_rate", "seed", "measure", "value")
SCORE, SECONDS, MERGE_SECONDS = "score", "CPU seconds", "CPU seconds of merges"
PERCENT = ("spearman", "accuracy")
NOTES = """
- Score: the mean of Spearman's correlations and accuracies of all test sets, in percent, over the seeds.
- Loss: the part of the score of one thread at its best learning rate that is lost.
- Merging: the part of the CPU seconds of training that merges took; empty if the machine did other work too.
- Test sets: Google analogies within the 30,000 most frequent words; WordSim-353 with its halves for similarity and
  relatedness, SimLex-999 and Rare Words. For documents: the accuracy of logistic regression on IMDB, and on half of its
  test reviews for `imdb-dev`.
"""


class Cell(NamedTuple):
    """One training run."""

    corpus: str
    model: str
    epochs: int
    replicas: int
    merge_every: int
    rule: str
    learning_rate: float
    seed: int

    @property
    def key(self) -> tuple[str, ...]:
        """The cell in the table of results."""
        return tuple(map(str, self))


def run(folder: Path, options: argparse.Namespace) -> None:
    """Train and score the cells that the results do not hold yet, and write the tables."""
    path, lock = folder / "results.tsv", Lock()
    folder.mkdir(parents=True, exist_ok=True)
    done = {tuple(row[column] for column in COLUMNS[:8]) for row in read_rows(path)} if path.exists() else set()
    sets = {name: getattr(options, name) for name in ("similarity", "analogy", "documents") if getattr(options, name)}
    sets |= {} if options.half is None else {"half": options.half}
    unwanted = (SECONDS, MERGE_SECONDS) if options.no_times else ()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def measure(cell: Cell) -> None:
        task = json.dumps([cell, options.corpus, sets])
        command = [sys.executable, __file__, "cell", task]
        process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        lines = (process.stdout if process.returncode == 0 else process.stderr).strip().splitlines() or [""]
        with lock:
            if process.returncode == 0:
                values = [one for one in json.loads(lines[-1]) if one[0] not in unwanted]
                append_rows(path, COLUMNS, [[*cell.key, *map(str, one)] for one in values])
            sys.stderr.write(f"{' '.join(cell.key)}: {lines[-1]}\n")

    with ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(measure, [cell for cell in iter_cells(options) if cell.key not in done]))
    write_tables(folder)


def iter_cells(options: argparse.Namespace) -> Iterator[Cell]:
    """The chosen cells, without repetition: one thread has no interval and no rule."""
    cells = (
        Cell(options.name or Path(options.corpus).stem, model, options.epochs, replicas, every, rule, rate, seed)
        for seed, model, rate, replicas, every, rule in product(
            options.seed or [1], options.model, options.learning_rate, options.replicas, options.merge_every,
            options.rule,
        )
    )  # fmt: skip
    yield from dict.fromkeys(cell if cell.replicas else cell._replace(merge_every=0, rule="") for cell in cells)


def run_cell(cell: Cell, corpus: str, sets: dict[str, Any]) -> list[tuple[str, float]]:
    """Train and score a cell; returns measures and values."""
    settings: dict[str, Any] = {"epochs": cell.epochs, "learning_rate": cell.learning_rate}
    documents = sets.get("documents")
    columns = {"text_column": "text", "tag_column": "name"} if documents else {}
    text = em.Corpus(*(documents.split(",") if documents else [corpus]), **columns)
    text.encode()
    trainer = registry.create("trainer", cell.model, settings)
    replicas = em.Replicas(cell.replicas, cell.merge_every, cell.rule) if cell.replicas else None  # type: ignore[arg-type]
    merging = measured_merges()
    start = time.process_time()
    model = trainer.train(text, threads=1, seed=cell.seed, run_options=em.RunOptions(replicas=replicas))
    seconds = time.process_time() - start
    if documents:
        sets = {**sets, "text_column": "text", "label_column": "label", "name_column": "name"}
    results = em.evaluate(model, name="", **({} if documents else {"restrict": 30_000}), **sets)
    scores = {one.set: 100 * (one.value or 0) for one in results if one.section is None and one.measure in PERCENT}
    values = {SCORE: fmean(scores.values()), **scores, SECONDS: seconds, MERGE_SECONDS: sum(merging)}
    return [(name, round(value, 4)) for name, value in values.items()]


def measured_merges() -> list[float]:
    """A list that receives the CPU seconds of each merge from now on."""
    merge, seconds = ReplicaTables.merge, []

    def measured(tables: ReplicaTables) -> None:
        start = time.process_time()
        merge(tables)
        seconds.append(time.process_time() - start)

    ReplicaTables.merge = measured  # type: ignore[method-assign]
    return seconds


def write_tables(folder: Path, drawn: str = SCORE) -> None:
    """Write the table and the picture, of some measure, next to the results."""
    rows = read_rows(folder / "results.tsv")
    (folder / "results.md").write_text(table(summaries(rows)), encoding="utf-8")
    if rows:
        figure(summaries(rows, drawn), drawn).savefig(folder / "results.png", dpi=150)


class Summary(NamedTuple):
    """A cell without its seed, with means over the seeds; `loss` is None for one thread, `merging` if not recorded."""

    cell: Cell
    score: float
    seeds: int
    loss: float | None
    merging: float | None


def summaries(rows: list[dict[str, str]], score: str = SCORE) -> list[Summary]:
    """The cells in order, with a measure as their score; those of one thread come first for each corpus and model."""
    values: dict[Cell, dict[str, list[float]]] = {}
    for row in rows:
        words = [row[column] for column in COLUMNS[:8]]
        cell = Cell(*words[:2], *map(int, words[2:5]), words[5], float(words[6]), 0)  # type: ignore[call-arg,arg-type]
        values.setdefault(cell, {}).setdefault(row["measure"], []).append(float(row["value"]))
    best: dict[tuple[str, str, int], float] = {}
    for cell, measures in values.items():
        if cell.replicas == 0:
            best[cell[:3]] = max(best.get(cell[:3], 0.0), fmean(measures[score]))
    return [
        Summary(
            cell,
            fmean(measures[score]),
            len(measures[score]),
            1 - fmean(measures[score]) / best[cell[:3]] if cell.replicas and best.get(cell[:3]) else None,
            sum(measures[MERGE_SECONDS]) / sum(measures[SECONDS]) if cell.replicas and SECONDS in measures else None,
        )
        for cell, measures in sorted(values.items())
    ]


def table(rows: Sequence[Summary]) -> str:
    """The results as Markdown."""
    heads = [
        "corpus",
        "model",
        "epochs",
        "replicas",
        "merge every",
        "rule",
        "rate",
        "seeds",
        "score",
        "loss",
        "merging",
    ]
    lines = [heads, [*["---"] * 2, *["---:"] * 3, "---", *["---:"] * 5]]
    for cell, score, seeds, loss, merging in rows:
        shared = [cell.corpus, f"`{cell.model}`", str(cell.epochs)]
        replicas = [str(cell.replicas), f"{cell.merge_every:,}", f"`{cell.rule}`"] if cell.replicas else ["", "", ""]
        numbers = [f"{score:.1f}", "" if loss is None else f"{loss:.1%}", "" if merging is None else f"{merging:.0%}"]
        lines.append([*shared, *replicas, f"{cell.learning_rate:g}", str(seeds), *numbers])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n" + NOTES


def figure(rows: Sequence[Summary], drawn: str = SCORE) -> Any:
    """The matplotlib figure: scores by interval for each corpus and model; one thread is a horizontal line.

    If several intervals were measured for some of them, the others are left out.
    """
    from matplotlib.figure import Figure

    intervals: dict[tuple[str, str, int], set[int]] = {}
    for row in rows:
        intervals.setdefault(row.cell[:3], set()).update({row.cell.merge_every} - {0})
    panels = [panel for panel, values in intervals.items() if len(values) > 1] or list(intervals)
    whole = Figure(figsize=(4.5 * len(panels), 4), layout="constrained")
    for axes, panel in zip(whole.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        own = [row for row in rows if row.cell[:3] == panel]
        for cell, score, *_ in own:
            if cell.replicas == 0:
                axes.axhline(score, color="grey", linestyle=":", label=f"one thread, rate {cell.learning_rate:g}")
        for kind in dict.fromkeys((row.cell.replicas, row.cell.rule, row.cell.learning_rate) for row in own):
            line = [row for row in own if (row.cell.replicas, row.cell.rule, row.cell.learning_rate) == kind]
            if kind[0]:
                label = f"{kind[0]} replicas, {kind[1]}, rate {kind[2]:g}"
                axes.plot([row.cell.merge_every for row in line], [row.score for row in line], "o-", label=label)
        axes.set(title=f"{panel[1]}, {panel[0]}", xlabel="words between merges", ylabel=drawn, xscale="log")
        axes.legend(fontsize="x-small", frameon=False)
    return whole


def main(arguments: Sequence[str]) -> None:
    """Run the study, write its tables, or run one cell for `run`."""
    if arguments[:1] == ["cell"]:
        cell, corpus, sets = json.loads(arguments[1])
        sys.stdout.write(json.dumps(run_cell(Cell(*cell), corpus, sets)) + "\n")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus")
    parser.add_argument("--name", help="of the corpus in the results")
    parser.add_argument("--model", nargs="+", default=["skipgram"])
    parser.add_argument("--rule", nargs="+", default=["coherence"])
    for name, default in (("replicas", [0, 8]), ("merge-every", [200_000]), ("seed", [1])):
        parser.add_argument(f"--{name}", nargs="+", type=int, default=default)
    parser.add_argument("--learning-rate", nargs="+", type=float, default=[0.05])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    for name in ("similarity", "analogy"):
        parser.add_argument(f"--{name}", nargs="+", default=[])
    parser.add_argument("--half", choices=["dev", "test"], help="score only this half of the test sets")
    parser.add_argument("--documents")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--drawn", metavar="MEASURE", default=SCORE)
    options = parser.parse_args(arguments)
    if options.command == "table":
        write_tables(options.folder, options.drawn)
    else:
        run(options.folder, options)


if __name__ == "__main__":
    main(sys.argv[1:])
