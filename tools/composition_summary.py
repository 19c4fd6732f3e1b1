"""Summarises the evaluation of several composition models as Markdown tables, and their learning curves.

python tools/composition_summary.py results RESULTS.tsv    (the output of `embeddings evaluate --phrases`)
python tools/composition_summary.py curve MODEL...
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from embeddings.errors import FormatError
from embeddings.eval.tasks.phrase_composition import HELD_OUT
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.fitting import MIXTURE
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY

FUNCTIONS = (
    "additive",
    "weighted-additive",
    "multiplicative",
    "full-additive",
    "pair-features",
    "neural-tensor",
    "full-tensor",
    "tensor-indexing",
    MIXTURE,
)
RATINGS = "ratings"  # Spearman's correlation with the mean rating of each pair
MEASURES = {
    "squared-error": "squared error",
    "cosine": "cosine",
    "mean-rank": "mean rank",
    "median-rank": "median rank",
    "reciprocal-rank": "reciprocal rank",
    RATINGS: "ratings",
}
LESS_IS_BETTER = ("squared-error", "mean-rank", "median-rank")
COMPARED = ("squared-error", "mean-rank", "reciprocal-rank", RATINGS)
Values = dict[tuple[str, str, str], dict[str, float]]  # by type, function and measure; then by the model's name


def read_results(path: Path) -> Values:
    """The values of every model; ratings averaged over types count for `ANY`.

    Raises:
        FormatError: the file has no results of composition.
    """
    values: Values = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            has_ratings = row.get("set") != HELD_OUT
            measure = RATINGS if has_ratings and row.get("measure") == "spearman" else row.get("measure")
            if measure not in MEASURES or (has_ratings and measure != RATINGS):
                continue
            type = ANY if has_ratings and row["section"] == "all" else row["section"]
            if not row["value"].startswith("none"):
                values[type, row["method"], str(measure)][row["vectors"]] = float(row["value"])
    if not values:
        raise FormatError(f"{path} contains no results of composition models")
    return values


def results(path: Path) -> str:
    """Two tables: means over models, and in how many of them tensor indexing is better than other functions."""
    values = read_results(path)
    types = sorted({type for type, _, _ in values}, key=lambda type: (type == ANY, type))
    rows = [
        [type, function, *(format_mean(values.get((type, function, measure), {}), measure) for measure in MEASURES)]
        for type in types
        for function in FUNCTIONS
        if (type, function, "squared-error") in values
    ]
    wins = [
        [type, other, *(count_wins(values, type, other, measure) for measure in COMPARED)]
        for type in types
        for other in ("additive", "full-additive")
    ]
    means = markdown(["type", "function", *MEASURES.values()], rows)
    return f"{means}\n\n{markdown(['type', f'{MIXTURE} against', *(MEASURES[one] for one in COMPARED)], wins)}\n"


def format_mean(values: dict[str, float], measure: str) -> str:
    """The mean over models."""
    digits = {"squared-error": 2, "mean-rank": 1, "median-rank": 1}.get(measure, 3)
    return f"{mean(values.values()):.{digits}f}" if values else ""


def count_wins(values: Values, type: str, other: str, measure: str) -> str:
    """Whether tensor indexing is better than another function on average, and in how many models."""
    ours, theirs = values.get((type, MIXTURE, measure), {}), values.get((type, other, measure), {})
    both = [name for name in ours if name in theirs]
    if not both:
        return ""
    sign = -1 if measure in LESS_IS_BETTER else 1
    gains = [sign * (ours[name] - theirs[name]) for name in both]
    verdict = "better" if mean(gains) > 0 else "worse"
    return f"{verdict}, in {sum(gain > 0 for gain in gains)} of {len(gains)}"


def curve(models: Iterable[str]) -> str:
    """The epochs of tensor indexing for each type: error on train and dev, and the learning rate."""
    rows = []
    for path in models:
        for type, functions in Model.load(path).record["curve"].items():
            epochs = functions[MIXTURE]
            best = min(range(len(epochs)), key=lambda number: epochs[number][1])
            for number, (train, dev, rate) in enumerate(epochs):
                train_error = "" if train is None else f"{train:.4f}"
                rows.append([type, str(number), train_error, f"{dev:.5f}", f"{rate:.2g}", "best" * (number == best)])
    return markdown(["type", "epoch", "train error", "dev error", "learning rate", ""], rows) + "\n"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(command: str, *paths: str) -> None:
    """Write one of the two to standard output."""
    sys.stdout.write(results(Path(paths[0])) if command == "results" else curve(paths))


if __name__ == "__main__":
    main(*sys.argv[1:])
