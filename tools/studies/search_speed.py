"""Exact search beside FAISS's flat index, analogies, and the fastest index at equal recall."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from studies.grid import Grid, Rows, markdown, pivot, timed

TOP, ANALOGIES = 10, "analogies"
RECALLS = (0.9, 0.95, 0.99)
LIMITS = (20, 40, 80, 500, 1000)  # bytes for each vector


class Search(Grid):
    """Measures exact search beside FAISS's flat index, and analogies; tells the fastest index at equal recall.

    Exact search and FAISS's flat index of inner products look up the 10 nearest of 1, 64 and 1,000 of --vectors, in
    turns, with the same threads. Analogies answer all questions of google-analogies among --words words: the vectors,
    and random rows up to that number. The third table picks from the measurements of `embeddings benchmark-indexes
    --results`, --neighbours: for each recall and each limit of the memory that an index takes besides the vectors, the
    one that answers most queries per second, one at a time.
    """

    results = "search/search"
    keys = ("queries",)
    values = ("run", "round", "measure", "value")
    packages = ("faiss-cpu", "numpy", "numba")
    requires = ("faiss",)
    defaults: ClassVar = {
        "vectors": str, "queries": ["1", "64", "1000", ANALOGIES], "neighbours": "eval/results/neighbours.json",
        "rounds": 5, "calls": 500, "words": 400_000,
    }  # fmt: skip

    about = "{rows:,} vectors of {dim} numbers."

    def prepare(self) -> None:
        """Read the vectors."""
        self.vectors = em.load(self.options.vectors)
        self.facts = {"rows": len(self.vectors), "dim": self.vectors.dim}

    def runs(self, queries: str) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        """The seconds of a query by kind of index, or of all analogies."""
        if queries == ANALOGIES:
            return {ANALOGIES: partial(time_analogies, self.vectors, self.options.words)}
        import faiss

        batch, units = int(queries), self.vectors.unit_rows.astype(np.float32)
        flat, exact = faiss.IndexFlatIP(units.shape[1]), em.build_index(self.vectors, "exact")
        flat.add(units)
        rows = np.random.default_rng(1).choice(len(units), batch, replace=len(units) < batch)
        asked, calls = np.ascontiguousarray(units[rows]), max(1, self.options.calls // batch)

        def run(search: Callable[[], Any]) -> dict[str, float]:
            seconds = timed(lambda: [search() for _ in range(calls)])
            return {name: value / (calls * batch) for name, value in seconds.items()}

        kinds = {"exact": partial(exact.search, asked, top=TOP), "FAISS": partial(flat.search, asked, TOP)}
        return {kind: partial(run, search) for kind, search in kinds.items()}

    def table(self, rows: Rows) -> str:
        """Exact search, analogies, and the choice of an index."""
        columns = [f"{kind}: {unit} µs" for kind in ("exact", "FAISS") for unit in ("CPU", "wall")]
        of_queries = [
            {**row, "measure": f"{row['run']}: {row['measure'][:-1]}µs", "value": str(1e6 * float(row["value"]))}
            for row in rows
            if row["run"] != ANALOGIES
        ]
        text = pivot(of_queries, ("queries",), dict.fromkeys(columns, ",.0f"))
        of_analogies = [row for row in rows if row["run"] == ANALOGIES]
        whole = {"words": ",.0f", "questions": ",.0f", "CPU s": ".1f", "wall s": ".1f"}
        text += f"\n{pivot(of_analogies, ('run',), whole)}"
        neighbours = Path(self.options.neighbours)
        return text + ("\n" + choice_table(neighbours) if neighbours.exists() else "")


def time_analogies(vectors: em.Vectors, words: int) -> dict[str, float]:
    """The seconds of google-analogies, how many questions have all words, and among how many."""
    missing = max(0, words - len(vectors))
    scale = float(np.linalg.norm(vectors.matrix, axis=1).mean()) / vectors.dim**0.5
    noise = np.random.default_rng(2).normal(0, scale, (missing, vectors.dim)).astype(np.float32)
    names = [*vectors.words[:words], *(f"random {number}" for number in range(missing))]
    larger = em.Vectors(names, np.concatenate([vectors.matrix[:words], noise]))
    results: list[Any] = []
    seconds = timed(lambda: results.extend(em.evaluate(larger, analogy="google-analogies", restrict=None)))
    covered = next(result.covered for result in results if result.section is None)
    return {**seconds, "questions": covered, "words": len(larger)}


def choice_table(neighbours: Path) -> str:
    """The fastest index for each recall, within each limit of memory, with what they are chosen from."""
    content = json.loads(neighbours.read_text(encoding="utf-8"))
    grid = next(grid for grid in content["grids"] if grid["grid"] == "speed")
    indexes = [one for one in grid["results"] if one["recall"] is not None]
    rows = []
    for recall in RECALLS:
        row = [f"{recall:g}"]
        for limit in LIMITS:
            fitting = [one for one in indexes if one["recall"] >= recall and one["bytes"] <= limit * one["rows"]]
            best = max(fitting, key=lambda one: one["per_second"], default=None)
            speed = best and f"{float(format(best['per_second'], '.3g')):,.0f}"  # three digits
            row.append(f"`{best['index']}` {speed}" if best else "-")
        rows.append(row)
    heads = ["recall of at least", *(f"up to {limit} bytes a vector" for limit in LIMITS)]
    size = f"{indexes[0]['rows']:,} vectors of {indexes[0]['dim']} numbers"
    about = f"{size}; queries per second, one at a time, measured on {content['machine']['date']}."
    return f"{about}\n\n{markdown(heads, rows)}"
