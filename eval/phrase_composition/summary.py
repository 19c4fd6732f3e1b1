"""What `embeddings evaluate` tells of several models of composition, as tables in Markdown; and their curves.

python -m embeddings.eval.phrase_composition.summary results RESULTS.tsv
python -m embeddings.eval.phrase_composition.summary curve MODEL...
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from embeddings.errors import FormatError
from embeddings.eval.measures.held_out_phrases import HELD_OUT
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.composer import DEFAULT
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY

FUNCTIONS = ("additive", "weighted-additive", "multiplicative", "full-additive", "full-tensor", DEFAULT)
RATINGS = "ratings"  # Spearman's correlation with the mean rating of each pair
MEASURES = {
    "squared-error": "squared error",
    "cosine": "cosine",
    "mean-rank": "mean rank",
    "median-rank": "median rank",
    "reciprocal-rank": "reciprocal rank",
    RATINGS: "ratings",
}
SMALL = ("squared-error", "mean-rank", "median-rank")  # of which less is better
JUDGED = ("squared-error", "mean-rank", "reciprocal-rank", RATINGS)
Values = dict[tuple[str, str, str], dict[str, float]]  # by type, function and measure; then by the model's name


def read_results(path: Path) -> Values:
    """The values of every model; ratings averaged over types count for `ANY`.

    Raises:
        FormatError: these are no results of composition.
    """
    found: Values = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            rated = row.get("set") != HELD_OUT
            measure = RATINGS if rated and row.get("measure") == "spearman" else row.get("measure")
            if measure not in MEASURES or (rated and measure != RATINGS):
                continue
            type = ANY if rated and row["section"] == "all" else row["section"]
            if not row["value"].startswith("none"):
                found[type, row["method"], str(measure)][row["vectors"]] = float(row["value"])
    if not found:
        raise FormatError(f"{path} holds no results of models of composition")
    return found


def results(path: Path) -> str:
    """Two tables: the means over models, and in how many of these tensor indexing does better than others."""
    found = read_results(path)
    types = sorted({type for type, _, _ in found}, key=lambda type: (type == ANY, type))
    rows = [
        [type, function, *(shown(found.get((type, function, measure), {}), measure) for measure in MEASURES)]
        for type in types
        for function in FUNCTIONS
        if (type, function, "squared-error") in found
    ]
    better = [
        [type, other, *(wins(found, type, other, measure) for measure in JUDGED)]
        for type in types
        for other in ("additive", "full-additive")
    ]
    means = markdown(["type", "function", *MEASURES.values()], rows)
    return f"{means}\n\n{markdown(['type', f'{DEFAULT} against', *(MEASURES[one] for one in JUDGED)], better)}\n"


def shown(values: dict[str, float], measure: str) -> str:
    """The mean over models."""
    digits = {"squared-error": 2, "mean-rank": 1, "median-rank": 1}.get(measure, 3)
    return f"{mean(values.values()):.{digits}f}" if values else ""


def wins(found: Values, type: str, other: str, measure: str) -> str:
    """Whether tensor indexing does better than another function in the mean, and in how many models."""
    ours, theirs = found.get((type, DEFAULT, measure), {}), found.get((type, other, measure), {})
    both = [name for name in ours if name in theirs]
    if not both:
        return ""
    sign = -1 if measure in SMALL else 1
    gains = [sign * (ours[name] - theirs[name]) for name in both]
    verdict = "better" if mean(gains) > 0 else "worse"
    return f"{verdict}, in {sum(gain > 0 for gain in gains)} of {len(gains)}"


def curve(models: Iterable[str]) -> str:
    """The passes of tensor indexing for each type: error of train, as it went along, and of dev, and the rate."""
    rows = []
    for path in models:
        record = Model.load(path).record
        for type, functions in record["curve"].items():
            passes = functions[DEFAULT]
            best = min(range(len(passes)), key=lambda number: passes[number][1])
            for number, (train, dev, rate) in enumerate(passes):
                met = "" if train is None else f"{train:.4f}"
                rows.append([type, str(number), met, f"{dev:.5f}", f"{rate:.2g}", "taken" * (number == best)])
    return markdown(["type", "pass", "error of train", "error of dev", "rate", ""], rows) + "\n"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(what: str, *paths: str) -> None:
    """Write one of the two to standard output."""
    sys.stdout.write(results(Path(paths[0])) if what == "results" else curve(paths))


if __name__ == "__main__":
    main(*sys.argv[1:])
