"""Retrieval by vectors, by words and by both: nDCG@10 of vectors on retrieval sets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from embeddings.eval.evaluation import Suite, load_evaluable
from studies.grid import Grid, Rows, collect, markdown

FILES = ("queries.jsonl", "corpus.jsonl", "qrels.tsv")
RANKINGS = ("vectors", "lexical", "fused")


class Retrieval(Grid):
    """Measures vectors on retrieval sets by each ranking, with a test of the fused ranking against the lexical one.

    --models are NAME=PATH, or NAME=PATH,POOL,COMPONENTS for a pool other than the mean and components that are removed.
    --sets are NAME=FOLDER, with queries.jsonl, corpus.jsonl and qrels.tsv. --stemming is a language, or none.
    """

    results = "retrieval/results"
    keys = ("models", "sets", "stemming")
    defaults: ClassVar = {"models": {}, "sets": {}, "stemming": ["english"]}
    notes = """
- nDCG@10 in percent. Words: BM25 with the weights of the model for common words; both: the fused ranking of
  `embeddings search`. An asterisk marks a difference of both and words with p < .05 in a paired bootstrap over queries.
"""

    def measure(self, models: str, sets: str, stemming: str) -> Iterator[Sequence[Any]]:
        """The score of each ranking, and the p value of the difference of the fused and the lexical one."""
        path, *own = self.options.models[models].split(",")
        pool, components = (*own, *("mean", "0")[len(own) :])
        settings = {
            "retrieval": [[Path(self.options.sets[sets]) / name for name in FILES]], "pool": pool,
            "remove_components": int(components), "stemming": None if stemming == "none" else stemming,
        }  # fmt: skip
        suite = Suite.read(**settings, ranking=RANKINGS)
        scores = [one for one in suite.score(load_evaluable(path), models) if one.key.measure == "ndcg@10"]
        for one in scores:
            yield one.key.method, f"{100 * one.result().value:.2f}"
        yield "p", f"{scores[2].compare(scores[1]).p:.4f}"

    def table(self, rows: Rows) -> str:
        """The rows as Markdown."""
        names = list(dict.fromkeys(row["sets"] for row in rows))
        cells = collect(rows, *self.keys)
        lines = []
        for model, stemming in dict.fromkeys((row["models"], row["stemming"]) for row in rows):
            of_sets = [{name: one[0] for name, one in cells[model, name, stemming].items()} for name in names]
            mean = {ranking: fmean(one[ranking] for one in of_sets) for ranking in RANKINGS}
            lines.append([model, *map(triple, of_sets), triple(mean)])
        heads = [f"{name}: vectors / words / both" if not number else name for number, name in enumerate(names)]
        return markdown(["vectors", *heads, "mean"], lines, 1)


def triple(scores: dict[str, float]) -> str:
    """The scores of all rankings."""
    sign = "*" if scores.get("p", 1) < 0.05 else ""
    return " / ".join(f"{scores[ranking]:.1f}" for ranking in RANKINGS) + sign
