"""The tables of the classifier study."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean

from classification_data import FOLDS
from study_rows import read_rows

from embeddings.eval.machine import processor

OURS, FASTTEXT, SKLEARN = "embeddings", "fastText", "TF-IDF + logistic regression"
MAJORITY = "the most frequent label"
COLUMNS = ("part", "dataset", "fold", "tool", "dim", "options", "measure", "value")
NOTES = """
- Word pairs, 5 epochs, learning rate 0.5; means over three seeds for SST and for IMDB with dimension 10, otherwise one.
  IMDB has 25,000 reviews for training and for testing, AG News 7,600 texts in 5 folds, SST 6,920 and 1,821 sentences;
  lower-cased, with punctuation separated. ± is one standard error.
- CPU seconds are of reading the text, training on one thread (unless another number is given) and writing the model;
  of AG News the sum over folds. Python has started and kernels are loaded. fastText is its C++ program.
- Lines per CPU second are those of the commands `predict` and `predict-prob` on the reviews for testing, without those
  of a single line.
- Quantised models are those of fastText for the first fold, and `--cutoff` is the number of rows that they keep.
- The search has 20 trials on one thread with seed 1. It trains on 20,000 reviews and scores 5,000 others; the best
  settings are those with the best score there.
"""
Values = Mapping[tuple[str, ...], Mapping[str, Sequence[float]]]


def table(path: Path) -> str:
    """The results as Markdown."""
    values: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(path):
        *key, options = (row[column] for column in ("part", "dataset", "tool", "dim", "options"))
        values[(*key, options.partition(" seed ")[0])][row["measure"]].append(float(row["value"]))
    parts = [training(values), predicting(values), quantising(values), loading(values), searching(values)]
    return "\n".join(part for part in parts if part) + NOTES + f"- Measured on {processor()}.\n"


def of_part(values: Values, part: str) -> Iterable[tuple[tuple[str, ...], Mapping[str, Sequence[float]]]]:
    """The keys (without the part) and measures of a part."""
    return [(key[1:], measures) for key, measures in values.items() if key[0] == part]


def training(values: Values) -> str:
    """Accuracy and CPU seconds, with the majority of each data set first."""
    rows, datasets = [], set()
    for (dataset, tool, dim, options), measures in of_part(values, "train"):
        if dataset not in datasets and "accuracy of the majority" in measures:
            datasets.add(dataset)
            share, macro = (fmean(measures[f"{name} of the majority"]) for name in ("accuracy", "macro-f1"))
            rows.append([dataset, MAJORITY, "", f"{share:.4f}", f"{macro:.4f}", ""])
        seeds = max(1, len(measures["texts"]) // FOLDS[dataset])
        accuracy, texts = fmean(measures["accuracy"]), sum(measures["texts"]) / seeds
        error = sqrt(accuracy * (1 - accuracy) / texts)
        name = tool + f", {options}" * (tool == FASTTEXT and options != "threads 1")
        times = measures.get("CPU seconds", [])
        seconds = f"{sum(times) / max(1, len(times) // FOLDS[dataset]):.1f}" if times else ""
        macro = f"{fmean(measures['macro-f1']):.4f}"
        rows.append([dataset, name, dim if dim != "0" else "", f"{accuracy:.4f} ± {error:.4f}", macro, seconds])
    order = list(dict.fromkeys(row[0] for row in rows))
    rows.sort(key=lambda row: (order.index(row[0]), row[1] != MAJORITY))
    return markdown(["texts", "classifier", "dim", "accuracy", "macro-F1", "CPU seconds"], rows, names=2)


def predicting(values: Values) -> str:
    """Lines per CPU second."""
    rows = [
        [f"`.{form}`", dim, tool, f"{max(measures['lines per CPU second']):,.0f}"]
        for (_, tool, dim, form), measures in sorted(of_part(values, "predict"), key=lambda one: (one[0][3], one[0][2]))
    ]
    return markdown(["model", "dim", "classifier", "lines per CPU second"], rows, names=3)


def quantising(values: Values) -> str:
    """Sizes and accuracies of quantised models."""
    models = sorted(of_part(values, "quantize"), key=lambda one: (one[0][0], -max(one[1]["bytes"]), one[0][3]))
    rows = [
        [dataset, f"`--qnorm {options}`".replace(" `", "`"), tool, f"{measures['bytes'][0]:,.0f}",
         f"{measures['accuracy'][0]:.4f}"]
        for (dataset, tool, _, options), measures in models
    ]  # fmt: skip
    return markdown(["texts", "options", "quantised by", "bytes", "accuracy"], rows, names=3)


def loading(values: Values) -> str:
    """Seconds until the first prediction."""
    rows = [
        [
            tool, dim, f"{measures['bytes'][0] / 1e6:,.0f}", f"{min(measures['seconds of the command']):.2f}",
            *(f"{min(seconds):.3f}" for seconds in [measures.get("seconds within Python")] if seconds),
        ]
        for (_, tool, dim, _), measures in of_part(values, "load")
    ]  # fmt: skip
    rows = [[*row, ""][:5] for row in rows]
    heads = ["classifier", "dim", "MB of the model", "seconds of a command with one line", "seconds within Python"]
    return markdown(heads, rows, names=1)


def searching(values: Values) -> str:
    """What a search gains."""
    rows = [
        [name, *(f"{measures[f'{side} {name}'][0]:.4f}" for side in ("validation", "test")), options.split()[1]]
        for (_, _, _, options), measures in of_part(values, "autotune")
        for name in ("default", "best")
    ]
    return markdown(["settings", "F1, validation", "F1, test", "trials"], rows, names=1)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], names: int) -> str:
    """A table whose columns behind the first `names` are aligned right; empty without rows."""
    aligned = [*["---"] * names, *["---:"] * (len(heads) - names)]
    lines = [f"| {' | '.join(line)} |" for line in [heads, aligned, *rows]]
    return "\n".join([*lines, ""]) if rows else ""
