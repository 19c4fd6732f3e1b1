"""Draws pictures of recorded results as dots and intervals: `python tools/result_plots.py`.

It reads the files of rows below eval/results and writes results.png beside them.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from benchmark_table import ERROR_OF, read_rows, summaries
from studies.grid import read_rows as read_measures

from embeddings.eval.statistics.confidence_intervals import wilson
from embeddings.support.dots import Dot
from embeddings.support.plots import draw

RESULTS = Path(__file__).parents[1] / "eval" / "results"
CORPORA = {
    "text8style": "Wikipedia on one line, exponents 3/4 and -1/8",
    "wikipedia": "Wikipedia, default exponents",
    "wikipedia-dev": "Wikipedia, dev halves",
}
SEEDS = "bar: lowest and highest seed"


def main() -> None:
    """Draw each picture."""
    pictures = {
        "replicas": replicas("replicas", "score", "mean of the test sets, percent"),
        "replica-intervals": replicas("replica-intervals", "questions-words", "Google analogies, percent correct"),
        "small-models": small_models(),
        "documents": documents(),
    }
    for name, dots in pictures.items():
        draw(list(dots), RESULTS / name / "results.png", force=True)


def replicas(folder: str, measure: str, axis: str) -> Iterator[Dot]:
    """The score of each number of replicas, interval between merges and learning rate, of the larger corpora."""
    cells: dict[tuple[str, ...], list[float]] = {}
    for row in read_measures(RESULTS / folder / "results.tsv"):
        if row["measure"] == measure and row["corpus"] in CORPORA and row["model"] in ("skipgram", "cbow"):
            key = ("model", "corpus", "replicas", "merge_every", "rule", "learning_rate")
            cells.setdefault(tuple(str(row[name]) for name in key), []).append(float(row["value"]))
    order = sorted(cells, key=lambda cell: (cell[0], cell[1], int(cell[2]), int(cell[3]), float(cell[5])))
    for cell in order:
        model, corpus, count, every, rule, rate = cell
        merged = f"{count} replicas, merged per {words(every)}, " if int(count) else "without replicas, "
        ending = "by Adasum" if rule == "adasum" else f"rate {rate}"
        yield seeds_dot(merged + ending, axis, cells[cell], f"{model}: {CORPORA[corpus]}")


def words(number: str) -> str:
    """A number of words in thousands or millions."""
    return f"{int(number) / 1e6:g}M" if int(number) >= 1_000_000 else f"{int(number) // 1000}k"


def seeds_dot(label: str, axis: str, values: list[float], title: str = "", remark: str = "") -> Dot:
    """The mean of several seeds with the range."""
    ends = (min(values), max(values)) if len(values) > 1 else (None, None)
    count = f"{len(values)} seed{'s' * (len(values) > 1)}"
    return Dot(label, f"{axis}; {SEEDS}", fmean(values), *ends, f"{remark}{count}", title=title)


def small_models() -> Iterator[Dot]:
    """The mean of the test sets of each copy, largest copies first, with its size."""
    values: dict[str, dict[str, dict[str, float]]] = {}
    for row in read_measures(RESULTS / "small-models" / "results.tsv"):
        of_copy = values.setdefault(str(row["copies"]), {}).setdefault(str(row["models"]), {})
        of_copy[str(row["measure"])] = float(row["value"])
    sizes = {copy: fmean(one.pop("bytes") for one in models.values()) / 1e6 for copy, models in values.items()}
    for copy in sorted(sizes, key=lambda name: -sizes[name]):
        means = [fmean(one.values()) for one in values[copy].values()]
        yield seeds_dot(copy, "mean of four test sets, percent", means, remark=f"{sizes[copy]:,.1f} MB, ")


def documents() -> Iterator[Dot]:
    """The error rate of each tool with the interval over test documents, and the CPU seconds of the whole run."""
    lines = summaries(read_rows(RESULTS / "documents" / "results.csv"))
    for one in lines:
        (name,) = (name for name in one.scores if name.startswith(ERROR_OF))
        share, _, total = one.scores[name]
        assert share is not None
        assert total is not None
        low, high = wilson(round(share * total), total)
        axis = "error rate on 25,000 film reviews, 95 % interval"
        yield Dot(str(one.settings["trainer"]), axis, share, low, high, f"{share:.3f}", one.tool)
    for one in lines:
        seconds = one.times["whole_cpu"]
        remark = f"{seconds:,.0f} s"
        yield Dot(
            str(one.settings["trainer"]), "CPU seconds of the whole run", seconds, seconds, seconds, remark, one.tool
        )


if __name__ == "__main__":
    main()
