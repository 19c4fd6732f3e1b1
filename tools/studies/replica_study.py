"""What replicas cost: quality by their number, the interval of merges and the merge rule."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any, ClassVar
from unittest.mock import patch

import pandas

import embeddings as em
from embeddings.errors import SettingError
from embeddings.support.plots import label_log_axis
from embeddings.training.replicas import ReplicaTables
from studies.grid import Grid, Rows, markdown, scores, timed

SCORE, SECONDS, MERGE_SECONDS = "score", "CPU seconds", "CPU seconds of merges"
LABELS = {SCORE: "mean score, percent", "questions-words": "Google analogies, accuracy in percent"}
PANEL = ["corpus", "model", "epochs"]
CELL = [*PANEL, "replicas", "merge_every", "rule", "learning_rate"]


class Replicas(Grid):
    """Measures what replicas cost: quality by their number, the interval of merges and the merge rule.

    Each cell has one thread; 0 replicas stand for one thread without replicas. --name is the name of the corpus in the
    results, --half is the half of the test sets to score, dev or test. With --documents TRAIN,TEST, tables with the
    columns name, label and text, models of documents learn from them, and --corpus is not read. --drawn is the measure
    of the picture: such as questions-words, the accuracy of analogies, which differs less between seeds than the score.
    With --no-times, for a machine that does other work too, seconds are not recorded.
    """

    results = "replicas/results"
    keys = (*CELL, "seed")
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
            yield corpus, model, options.epochs, replicas, *((every, rule) if replicas else (0, "")), rate, seed

    def measure(
        self, corpus: str, model: str, epochs: int, number: int, every: int, rule: str, rate: float, seed: int
    ) -> Iterable[Sequence[Any]]:
        """The score, that of each set, and the seconds of training and of merges."""
        options, merge, merging = self.options, ReplicaTables.merge, []
        documents = options.documents.split(",") if options.documents else []
        columns = {"text_column": "text", "tag_column": "name"} if documents else {}
        text = em.Corpus(*(documents or [options.corpus]), **columns)
        text.encode()
        replicas = em.training.Replicas(number, every, rule) if number else None
        settings = {"epochs": epochs, "learning_rate": rate, "threads": 1, "seed": seed}
        with patch.object(ReplicaTables, "merge", lambda tables: merging.append(timed(lambda: merge(tables))["CPU s"])):
            start = process_time()
            trained = em.train(model, text, replicas=replicas, **settings)
            seconds = {SECONDS: process_time() - start, MERGE_SECONDS: sum(merging)}
        sets = {"similarity": options.similarity, "analogy": options.analogy}
        sets |= {"half": options.half} if options.half else {}
        if documents:
            columns = {"text_column": "text", "label_column": "label", "name_column": "name"}
            sets |= {"documents": options.documents, **columns}
        elif options.analogy:
            sets["restrict"] = 30_000
        values = {one.set: 100 * (one.value or 0) for one in scores(trained, **sets)}
        rows = {SCORE: fmean(values.values()), **values, **({} if options.no_times else seconds)}
        return [(name, round(value, 4)) for name, value in rows.items()]

    def table(self, rows: Rows) -> str:
        """A row for each cell, with means over the seeds."""
        heads = ["corpus", "model", "epochs", "replicas", "merge every", "rule", "rate", "seeds", "score", "loss"]
        lines = []
        for one in summaries(rows).itertuples():
            replicas = (str(one.replicas), f"{one.merge_every:,}", f"`{one.rule}`") if one.replicas else [""] * 3
            numbers = [
                f"{one.learning_rate:g}",
                f"{one.seeds:.0f}",
                f"{one.score:.1f}",
                f"{one.loss:.1%}",
                f"{one.merging:.0%}",
            ]
            cells = [one.corpus, f"`{one.model}`", str(one.epochs), *replicas, *numbers]
            lines.append(["" if cell == "nan%" else cell for cell in cells])
        return markdown([*heads, "merging"], lines, names=(0, 1, 5))

    def figure(self, rows: Rows) -> Any:
        """Scores by interval for each corpus and model; one thread is a horizontal line.

        If several intervals were measured for some of them, the others are left out.
        """
        from matplotlib.figure import Figure

        means = summaries(rows, self.options.drawn)
        panels = [panel for panel in means.groupby(PANEL) if panel[1].merge_every.replace(0, pandas.NA).nunique() > 1]
        panels = panels or list(means.groupby(PANEL))
        whole = Figure(figsize=(4.8 * len(panels), 6), layout="constrained")
        for axes, ((corpus, model, _), cells) in zip(
            whole.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            for one in cells[cells.replicas == 0].itertuples():
                label = f"without replicas, learning rate {one.learning_rate:g}"
                axes.axhline(one.score, color="grey", linestyle="--", label=label)
            for (number, rule, rate), line in cells[cells.replicas > 0].groupby(
                ["replicas", "rule", "learning_rate"], sort=False
            ):
                axes.plot(
                    line.merge_every, line.score, "o-", label=f"{number} replicas, {rule}, learning rate {rate:g}"
                )
            label = LABELS.get(self.options.drawn, self.options.drawn)
            axes.set(title=f"{model} on {corpus}", xlabel="words between merges", ylabel=label, xscale="log")
            label_log_axis(axes.xaxis)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=5, fontsize="small", frameon=False)
        return whole


def summaries(rows: Rows, score: str = SCORE) -> Any:
    """A row for each cell without its seed: a measure as its score, the number of seeds, its loss and its merging."""
    numbers = {"epochs": int, "replicas": int, "merge_every": int, "learning_rate": float, "value": float}
    values = pandas.DataFrame(rows).astype(numbers).groupby([*CELL, "measure"])["value"]
    means = values.mean().unstack().reindex(columns=[score, SECONDS, MERGE_SECONDS])
    result = means.set_axis(["score", "seconds", "merging"], axis=1).reset_index()
    result["seeds"] = values.count().unstack()[score].to_numpy()
    has_replicas = result.replicas > 0
    best = result.score.mask(has_replicas).groupby([result[name] for name in PANEL]).transform("max")  # of one thread
    result["loss"] = (1 - result.score / best).where(has_replicas)
    result["merging"] = (result.merging / result.seconds).where(has_replicas)
    return result
