"""Retrieval by vectors, by words and by both: nDCG@10 of vectors on retrieval sets."""

from collections.abc import Iterator
from statistics import fmean
from typing import ClassVar

from embeddings.eval.evaluation import Suite
from studies.grid import Grid, Rows, markdown

RANKINGS = ("vectors", "lexical", "fused")


class Retrieval(Grid):
    """Measures vectors on retrieval sets by each ranking, with a test of the fused ranking against the lexical one.

    --models are NAME=PATH, or NAME=PATH,POOL,COMPONENTS for a pool other than the mean and components that are removed.
    --sets are NAME=FOLDER, with queries.jsonl, corpus.jsonl and qrels.tsv. --stemming is a language.
    """

    results = "retrieval/results"
    keys = ("models", "sets", "stemming")
    defaults: ClassVar = {"models": [], "sets": [], "stemming": "english"}
    notes = """
- nDCG@10 in percent. Words: BM25 with the weights of the model for common words; both: the fused ranking of
  `embeddings search`. An asterisk marks a difference of both and words with p < .05 in a paired bootstrap over queries.
"""

    def cells(self) -> Iterator[tuple[str, str, str]]:
        """The names of the models with each set."""
        models, sets = (dict(one.split("=") for one in part) for part in (self.options.models, self.options.sets))
        self.paths = models | sets
        return ((model, each, self.options.stemming) for model in models for each in sets)

    def measure(self, models: str, sets: str, stemming: str) -> Iterator[tuple[str, str]]:
        """The score of each ranking, and the p value of the difference of the fused and the lexical one."""
        path, pool, components = (self.paths[models] + ",mean,0" * ("," not in self.paths[models])).split(",")
        files = [f"{self.paths[sets]}/{name}" for name in ("queries.jsonl", "corpus.jsonl", "qrels.tsv")]
        options = {"pool": pool, "remove_components": int(components), "stemming": stemming}
        suite = Suite.read(retrieval=[files], ranking=RANKINGS, **options)
        scores = [one for one in suite.score(suite.load(path), models) if one.key.measure == "ndcg@10"]
        yield from ((one.key.method, f"{100 * one.result().value:.2f}") for one in scores)
        yield "p", f"{scores[2].compare(scores[1]).p:.4f}"

    def table(self, rows: Rows) -> str:
        """The rows as Markdown."""
        cells: dict[str, dict[str, dict[str, float]]] = {}
        for row in rows:
            cells.setdefault(row["models"], {}).setdefault(row["sets"], {})[row["measure"]] = float(row["value"])
        for of_sets in cells.values():
            of_sets["mean"] = {ranking: fmean(one[ranking] for one in of_sets.values()) for ranking in RANKINGS}
        lines = [[model, *map(triple, of_sets.values())] for model, of_sets in cells.items()]
        first, *others = of_sets
        return markdown(["vectors", f"{first}: vectors / words / both", *others], lines, 1)


def triple(scores: dict[str, float]) -> str:
    """The scores of all rankings."""
    return " / ".join(f"{scores[ranking]:.1f}" for ranking in RANKINGS) + "*" * (scores.get("p", 1) < 0.05)
