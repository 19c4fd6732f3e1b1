"""The evaluation of several composition models as tables, and their learning curves."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import ClassVar

from embeddings.errors import FormatError
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.tasks.phrase_composition import HELD_OUT
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.fitting import MIXTURE
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from studies.grid import Study, beside, markdown, read_rows

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


class Composition(Study):
    """Summarises the evaluation of several models: the output of `embeddings evaluate --phrases`, in OUT.tsv."""

    results = "composition"

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the tables."""
        write_text(results(beside(out, ".tsv")), beside(out, ".md"))


class CompositionCurve(Study):
    """Shows the learning curve of each of --models."""

    results = "composition-curve"
    defaults: ClassVar = {"models": []}

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the table."""
        write_text(curve(self.options.models), beside(out, ".md"))


def read_results(path: Path) -> Values:
    """The values of every model; ratings averaged over types count for `ANY`.

    Raises:
        FormatError: the file has no results of composition.
    """
    values: Values = defaultdict(dict)
    for row in read_rows(path):
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
    return f"{means}\n{markdown(['type', f'{MIXTURE} against', *(MEASURES[one] for one in COMPARED)], wins)}"


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
    return markdown(["type", "epoch", "train error", "dev error", "learning rate", ""], rows)
