"""What replicas cost: quality by their number, the interval of merges and the merge rule."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any, ClassVar, NamedTuple

import embeddings as em
from embeddings.errors import SettingError
from embeddings.support.plots import label_log_axis
from embeddings.training.replicas import ReplicaTables
from studies.grid import Grid, Rows, collect, markdown, scores

SCORE, SECONDS, MERGE_SECONDS = "score", "CPU seconds", "CPU seconds of merges"
LABELS = {SCORE: "mean score, percent", "questions-words": "Google analogies, accuracy in percent"}


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


class Summary(NamedTuple):
    """A cell without its seed, with means over the seeds; `loss` is None for one thread, `merging` if not recorded."""

    cell: Cell
    score: float
    seeds: int
    loss: float | None
    merging: float | None


class Replicas(Grid):
    """Measures what replicas cost: quality by their number, the interval of merges and the merge rule.

    Each cell has one thread; 0 replicas stand for one thread without replicas. --name is the name of the corpus in the
    results, --half is the half of the test sets to score, dev or test. With --documents TRAIN,TEST, tables with the
    columns name, label and text, models of documents learn from them, and --corpus is not read. --drawn is the measure
    of the picture: such as questions-words, the accuracy of analogies, which differs less between seeds than the score.
    With --no-times, for a machine that does other work too, seconds are not recorded.
    """

    results = "replicas/results"
    keys = Cell._fields
    defaults: ClassVar = {
        "corpus": None, "name": None, "model": ["skipgram"], "replicas": [0, 8], "merge_every": [200_000],
        "rule": ["coherence"], "learning_rate": [0.05], "seed": [1], "epochs": 3, "similarity": [], "analogy": [],
        "half": None, "documents": None, "no_times": False, "drawn": SCORE,
    }  # fmt: skip
    notes = """
- Score: the mean of Spearman's correlations and accuracies of all test sets, in percent, over the seeds.
- Loss: the part of the score of one thread at its best learning rate that is lost.
- Merging: the part of the CPU seconds of training that merges took; empty if the machine did other work too.
- Test sets: Google analogies within the 30,000 most frequent words; WordSim-353 with its halves for similarity and
  relatedness, SimLex-999 and Rare Words. For documents: the accuracy of logistic regression on IMDB, and on half of its
  test reviews for `imdb-dev`.
"""

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """The chosen cells; one thread has no interval and no rule."""
        options = self.options
        if not options.corpus and not options.documents:
            raise SettingError("replicas requires --corpus or --documents")
        corpus = options.name or Path(options.corpus or options.documents).stem
        for seed, model, rate, replicas, every, rule in product(
            options.seed, options.model, options.learning_rate, options.replicas, options.merge_every, options.rule
        ):
            merging = (every, rule) if replicas else (0, "")
            yield Cell(corpus, model, options.epochs, replicas, *merging, rate, seed)

    def measure(self, *values: Any) -> Iterable[Sequence[Any]]:
        """The score, that of each set, and the seconds of training and of merges."""
        cell, options = Cell(*values), self.options
        documents = options.documents.split(",") if options.documents else []
        columns = {"text_column": "text", "tag_column": "name"} if documents else {}
        text = em.Corpus(*(documents or [options.corpus]), **columns)
        text.encode()
        replicas = em.training.Replicas(cell.replicas, cell.merge_every, cell.rule) if cell.replicas else None
        settings = {"epochs": cell.epochs, "learning_rate": cell.learning_rate, "threads": 1, "seed": cell.seed}
        merging = measured_merges()
        start = process_time()
        model = em.train(cell.model, text, replicas=replicas, **settings)
        seconds = {SECONDS: process_time() - start, MERGE_SECONDS: sum(merging)}
        sets = {kind: getattr(options, kind) for kind in ("similarity", "analogy")}
        sets |= {"half": options.half} if options.half else {}
        if documents:
            columns = {"text_column": "text", "label_column": "label", "name_column": "name"}
            sets |= {"documents": options.documents, **columns}
        elif options.analogy:
            sets["restrict"] = 30_000
        values = {one.set: 100 * (one.value or 0) for one in scores(model, **sets)}
        rows = {SCORE: fmean(values.values()), **values, **({} if options.no_times else seconds)}
        return [(name, round(value, 4)) for name, value in rows.items()]

    def table(self, rows: Rows) -> str:
        """A row for each cell, with means over the seeds."""
        heads = ["corpus", "model", "epochs", "replicas", "merge every", "rule", "rate", "seeds", "score", "loss"]
        lines = []
        for cell, score, seeds, loss, merging in summaries(rows):
            replicas = (str(cell.replicas), f"{cell.merge_every:,}", f"`{cell.rule}`") if cell.replicas else [""] * 3
            numbers = [f"{cell.learning_rate:g}", str(seeds), f"{score:.1f}", percent(loss, 1), percent(merging, 0)]
            lines.append([cell.corpus, f"`{cell.model}`", str(cell.epochs), *replicas, *numbers])
        return markdown([*heads, "merging"], lines, names=(0, 1, 5))

    def figure(self, rows: Rows) -> Any:
        """Scores by interval for each corpus and model; one thread is a horizontal line.

        If several intervals were measured for some of them, the others are left out.
        """
        from matplotlib.figure import Figure

        means, intervals = summaries(rows, self.options.drawn), {}
        for one in means:
            intervals.setdefault(one.cell[:3], set()).update({one.cell.merge_every} - {0})
        panels = [panel for panel, values in intervals.items() if len(values) > 1] or list(intervals)
        whole = Figure(figsize=(4.8 * len(panels), 6), layout="constrained")
        for axes, panel in zip(whole.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            lines: dict[str, list[Summary]] = {}
            for one in (one for one in means if one.cell[:3] == panel):
                rate = f"learning rate {one.cell.learning_rate:g}"
                if one.cell.replicas:
                    lines.setdefault(f"{one.cell.replicas} replicas, {one.cell.rule}, {rate}", []).append(one)
                else:
                    axes.axhline(one.score, color="grey", linestyle="--", label=f"without replicas, {rate}")
            for label, line in lines.items():
                axes.plot([one.cell.merge_every for one in line], [one.score for one in line], "o-", label=label)
            label = LABELS.get(self.options.drawn, self.options.drawn)
            axes.set(title=f"{panel[1]} on {panel[0]}", xlabel="words between merges", ylabel=label, xscale="log")
            label_log_axis(axes.xaxis)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=5, fontsize="small", frameon=False)
        return whole


def measured_merges() -> list[float]:
    """A list that receives the CPU seconds of each merge from now on."""
    merge, seconds = ReplicaTables.merge, []

    def measured(tables: ReplicaTables) -> None:
        start = process_time()
        merge(tables)
        seconds.append(process_time() - start)

    ReplicaTables.merge = measured  # type: ignore[method-assign]
    return seconds


def summaries(rows: Rows, score: str = SCORE) -> list[Summary]:
    """The cells in order, with a measure as their score; those of one thread come first for each corpus and model."""
    values = {
        Cell(*key[:2], *map(int, key[2:5]), key[5], float(key[6]), 0): measures
        for key, measures in collect(rows, *Cell._fields[:7]).items()
    }
    best: dict[tuple[Any, ...], float] = {}
    for cell, measures in values.items():
        if cell.replicas == 0:
            best[cell[:3]] = max(best.get(cell[:3], 0.0), fmean(measures[score]))
    result = []
    for cell, measures in sorted(values.items()):
        mean, alone, merging = fmean(measures[score]), best.get(cell[:3]), None
        if cell.replicas and SECONDS in measures:
            merging = sum(measures[MERGE_SECONDS]) / sum(measures[SECONDS])
        loss = 1 - mean / alone if cell.replicas and alone else None
        result.append(Summary(cell, mean, len(measures[score]), loss, merging))
    return result


def percent(share: float | None, digits: int) -> str:
    """A share in percent; empty if there is none."""
    return "" if share is None else f"{share:.{digits}%}"
