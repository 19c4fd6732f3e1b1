"""Measures exact search beside FAISS's flat index, and analogies; says which index is the fastest at equal recall.

    python tools/search_speed.py vectors -o eval/results/search --neighbours eval/results/neighbours.json

Exact search and FAISS's flat index of inner products look up the 10 nearest of 1, 64 and 1,000 vectors, in turns, with
the same threads. Analogies answer all questions of google-analogies among 400,000 words: the vectors, and random
rows up to that number. The third table picks from the measurements of `embeddings benchmark-indexes --results` (its
neighbours.json): for each recall and each limit of the memory that an index takes besides the vectors, the one that
answers most queries per second, one at a time. Writes search.json and search.md. Measure on an otherwise idle machine.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import embeddings as em
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.machine import describe, environment
from embeddings.support.markup import table_lines

BATCHES = (1, 64, 1000)
TOP, ANALOGY_WORDS = 10, 400_000
RECALLS = (0.9, 0.95, 0.99)
LIMITS = (20, 40, 80, 500, 1000)  # bytes for each vector
Times = tuple[float, float]  # CPU and wall seconds


def timed(function: Callable[[], Any], repeats: int) -> Times:
    """The mean times of a call."""
    start = time.process_time(), time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.process_time() - start[0]) / repeats, (time.perf_counter() - start[1]) / repeats


def measure_exact(vectors: em.Vectors, rounds: int, calls: int) -> dict[str, dict[str, Times]]:
    """Medians of the times of a search, by number of queries and kind of index."""
    import faiss

    units = vectors.unit_rows.astype(np.float32)
    flat, exact = faiss.IndexFlatIP(units.shape[1]), em.build_index(vectors, "exact")
    flat.add(units)
    rows = np.random.default_rng(1).choice(len(units), BATCHES[-1], replace=len(units) < BATCHES[-1])
    results = {}
    for batch in BATCHES:
        queries = np.ascontiguousarray(units[rows[:batch]])
        kinds: dict[str, Callable[[], Any]] = {
            "exact": lambda queries=queries: exact.search(queries, top=TOP),  # type: ignore[misc]
            "FAISS": lambda queries=queries: flat.search(queries, TOP),  # type: ignore[misc]
        }
        repeats = max(1, calls // batch)
        runs = [{kind: timed(call, repeats) for kind, call in kinds.items()} for _ in range(rounds + 1)][1:]
        results[str(batch)] = {kind: middle([run[kind] for run in runs]) for kind in kinds}
    return results


def measure_analogies(vectors: em.Vectors, words: int, rounds: int) -> dict[str, Any]:
    """Medians of the times of google-analogies among a number of words, and how many questions have all words."""
    missing = max(0, words - len(vectors))
    scale = float(np.linalg.norm(vectors.matrix, axis=1).mean()) / vectors.dim**0.5
    noise = np.random.default_rng(2).normal(0, scale, (missing, vectors.dim)).astype(np.float32)
    names = [*vectors.words[:words], *(f"random {number}" for number in range(missing))]
    larger = em.Vectors(names, np.concatenate([vectors.matrix[:words], noise]))
    covered = 0

    def answer() -> None:
        nonlocal covered
        results = em.evaluate(larger, analogy="google-analogies", restrict=None)
        covered = next(result.covered for result in results if result.section is None)

    times = [timed(answer, 1) for _ in range(rounds + 1)][1:]
    return {"words": len(larger), "covered": covered, "times": middle(times)}


def middle(times: list[Times]) -> Times:
    """The median CPU time and the median wall time."""
    return median(one[0] for one in times), median(one[1] for one in times)


def exact_rows(results: dict[str, dict[str, Times]]) -> list[list[str]]:
    """Times of a query in microseconds, and ratios."""
    rows = []
    for batch, kinds in results.items():
        cells = [f"{seconds / int(batch) * 1e6:,.0f}" for kind in kinds.values() for seconds in kind]
        ratios = [f"{other / own:.2f}" for own, other in zip(kinds["exact"], kinds["FAISS"], strict=True)]
        rows.append([f"{int(batch):,}", *cells, *ratios])
    return rows


EXACT_HEADER = [
    "queries at once", "exact: CPU µs a query", "wall µs", "FAISS: CPU µs a query", "wall µs", "FAISS / exact: CPU",
    "wall",
]  # fmt: skip


def rounded(speed: float) -> float:
    """A number with three digits."""
    return float(f"{speed:.3g}")


def choice_rows(indexes: list[dict[str, Any]]) -> list[list[str]]:
    """The fastest index for each recall, within each limit of memory."""
    rows = []
    for recall in RECALLS:
        row = [f"{recall:g}"]
        for limit in LIMITS:
            fitting = [one for one in indexes if (one["recall"] or 0) >= recall and one["bytes"] <= limit * one["rows"]]
            best = max(fitting, key=lambda one: one["per_second"], default=None)
            row.append("-" if best is None else f"`{best['index']}` {rounded(best['per_second']):,.0f}")
        rows.append(row)
    return rows


def choice_table(neighbours: Path) -> list[str]:
    """The third table, with what it is made from."""
    content = json.loads(neighbours.read_text(encoding="utf-8"))
    grid = next(grid for grid in content["grids"] if grid["grid"] == "speed")
    indexes = [one for one in grid["results"] if one["recall"] is not None]
    header = ["recall of at least", *(f"up to {limit} bytes a vector" for limit in LIMITS)]
    about = (
        f"{indexes[0]['rows']:,} vectors of {indexes[0]['dim']} numbers; queries per second, one at a time, measured on"
    )
    return [f"{about} {content['machine']['date']}.", "", *table_lines(header, choice_rows(indexes))]


def markdown(record: dict[str, Any], neighbours: Path | None) -> str:
    """All tables."""
    analogies = record["analogies"]
    cpu, wall = analogies["times"]
    lines = [
        f"{describe(record['machine'], record['machine']['packages'])} {record['vectors']}",
        "",
        *table_lines(EXACT_HEADER, exact_rows(record["exact"])),
        "",
        f"google-analogies: {analogies['covered']:,} questions among {analogies['words']:,} words take {cpu:.1f} "
        f"CPU seconds, {wall:.1f} seconds of wall time.",
    ]
    return "\n".join([*lines, *(["", *choice_table(neighbours)] if neighbours else [])]) + "\n"


@click.command()
@click.argument("source", type=click.Path(exists=True))
@click.option("--neighbours", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Results of indexes.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Rounds of each measurement.")
@click.option("--calls", type=click.IntRange(1), default=500, show_default=True, help="Queries of a round, about.")
@click.option("--words", type=click.IntRange(1), default=ANALOGY_WORDS, show_default=True, help="Words of analogies.")
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Output folder.")
def main(source: str, neighbours: Path | None, rounds: int, calls: int, words: int, out: Path) -> None:
    """Measure search in vectors of any format."""
    vectors = em.load(source)
    out.mkdir(parents=True, exist_ok=True)
    record: dict[str, Any] = {
        "machine": environment(("embeddings-toolkit", "faiss-cpu", "numpy", "numba")),
        "vectors": f"{len(vectors):,} vectors of {vectors.dim} numbers.",
        "exact": measure_exact(vectors, rounds, calls),
        "analogies": measure_analogies(vectors, words, rounds),
    }
    write_text(json.dumps(record, indent=1) + "\n", out / "search.json")
    write_text(markdown(record, neighbours), out / "search.md")
    click.echo((out / "search.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
