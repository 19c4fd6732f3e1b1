"""Writes two tables from runs of `embeddings benchmark`: the README's, and one of each tool at its best learning rate.

Run from the root of the repository: `python tools/readme_tables.py`.
"""

from pathlib import Path
from statistics import fmean

from embeddings.eval.benchmark.result_table import Summary, summaries
from embeddings.eval.benchmark.workspace import SETS, read_rows
from embeddings.support.markup import table_lines

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "eval" / "results"
BEST = RESULTS / "comparison" / "best.md"
SHOWN = (("comparison", "skipgram", 0.05), ("comparison", "cbow", 0.075), ("structured", "fasttext", 0.05))
MARK, END = "<!-- comparison -->\n", "<!-- end of comparison -->\n"


def comparison() -> str:
    """A row for each model and tool, at the default learning rates of this package."""
    shown = [
        one
        for folder, trainer, rate in SHOWN
        for one in summaries(read_rows(RESULTS / folder / "results.csv"))
        if (one.settings["trainer"], one.settings["learning_rate"]) == (trainer, rate)
    ]
    rows = [[model(one), one.tool, seconds(one), *scores(one)] for one in shown]
    return "\n".join(table_lines(["model", "tool", "CPU s", *SETS.values()], rows)) + "\n"


def best() -> str:
    """A row for each model and tool, at the learning rate with the highest mean score."""
    runs = summaries(read_rows(RESULTS / "comparison" / "results.csv"))
    found: dict[tuple[str, str], Summary] = {}
    for one in runs:
        key = one.settings["trainer"], one.tool
        if key not in found or mean_score(one) > mean_score(found[key]):
            found[key] = one
    heads = ["model", "tool", "learning rate", "CPU s", *SETS.values(), "mean"]
    rows = []
    for one in found.values():
        rate, mean = f"{one.settings['learning_rate']:g}", f"{mean_score(one):.3f}"
        rows.append([model(one), one.tool, rate, seconds(one), *scores(one), mean])
    return "\n".join(table_lines(heads, rows)) + "\n"


def model(one: Summary) -> str:
    """The name of a model."""
    return f"`{one.settings['trainer']}`"


def seconds(one: Summary) -> str:
    """The CPU seconds of a whole run, and their ratio to ours."""
    ratio = one.ratios["whole_cpu"]
    return f"{one.times['whole_cpu']:.1f}" + ("" if one.tool == "embeddings" else f" ({ratio:.2g}x)")


def scores(one: Summary) -> list[str]:
    """The mean scores over the seeds."""
    return [f"{one.scores[name][0]:.3f}" for name in SETS]


def mean_score(one: Summary) -> float:
    """The mean of all scores."""
    return fmean(one.scores[name][0] or 0.0 for name in SETS)


def with_table(page: str) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(MARK)
    return before + MARK + comparison() + END + rest.split(END)[1]


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
    BEST.write_text(best(), encoding="utf-8")
