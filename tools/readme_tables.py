"""Writes the comparison table of the README from the results of `embeddings benchmark`.

Run from the root of the repository: `python tools/readme_tables.py`.
"""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "eval" / "results"
SHOWN = tuple((f"{folder}/results.csv", trainer) for folder, trainer in (
    ("comparison", "skipgram"), ("comparison", "cbow"), ("structured", "fasttext"),
))  # fmt: skip
SCORES = ("wordsim353", "simlex999", "google-analogies")
MARK, END = "<!-- comparison -->\n", "<!-- end of comparison -->\n"


def comparison() -> str:
    """One row for each model and tool: median CPU seconds and mean scores over the seeds."""
    lines = [
        "| model | tool | CPU s, training | WordSim-353 | SimLex-999 | Google analogies |",
        "|---|---|---|---|---|---|",
    ]
    for file, trainer in SHOWN:
        runs = defaultdict(list)
        with (RESULTS / file).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if (row["trainer"], row["dim"], row["negatives"]) == (trainer, "100", "5"):
                    runs[row["tool"]].append(row)
        seconds = {tool: median(float(row["training_cpu"]) for row in rows) for tool, rows in runs.items()}
        for tool, rows in runs.items():
            ratio = "" if tool == "embeddings" else f" ({seconds[tool] / seconds['embeddings']:.2g}x)"
            scores = [f"{fmean(float(row[name]) for row in rows):.3f}" for name in SCORES]
            lines.append("| " + " | ".join([f"`{trainer}`", tool, f"{seconds[tool]:.1f}{ratio}", *scores]) + " |")
    return "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(MARK)
    return before + MARK + comparison() + END + rest.split(END)[1]


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
