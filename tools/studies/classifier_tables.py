"""The tables of the classifier study."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean

from embeddings.eval.machine import processor
from studies.classification_data import FOLDS
from studies.grid import Rows, markdown

OURS, FASTTEXT, SKLEARN = "embeddings", "fastText", "TF-IDF + logistic regression"
MAJORITY = "the most frequent label"
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
Measured = Mapping[tuple[str, ...], Mapping[str, Sequence[float]]]  # by dataset, tool, dim and options; by measure


def tables(rows: Rows) -> str:
    """The tables of all parts that were measured."""
    parts: dict[str, dict[tuple[str, ...], dict[str, list[float]]]] = {}
    for row in rows:
        values = parts.setdefault(row["part"], defaultdict(lambda: defaultdict(list)))
        key = row["dataset"], row["tool"], row["dim"], row["options"].partition(" seed ")[0]
        values[key][row["measure"]].append(float(row["value"]))
    makers = {"train": training, "predict": predicting, "quantize": quantising, "load": loading, "autotune": searching}
    made = [make(parts[part]) for part, make in makers.items() if part in parts]
    return "\n".join(made) + NOTES + f"- Measured on {processor()}.\n"


def training(values: Measured) -> str:
    """Accuracy and CPU seconds, with the majority of each data set first."""
    rows, datasets = [], set()
    for (dataset, tool, dim, options), measures in values.items():
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


def predicting(values: Measured) -> str:
    """Lines per CPU second."""
    rows = [
        [f"`.{form}`", dim, tool, f"{max(measures['lines per CPU second']):,.0f}"]
        for (_, tool, dim, form), measures in sorted(values.items(), key=lambda one: (one[0][3], one[0][2]))
    ]
    return markdown(["model", "dim", "classifier", "lines per CPU second"], rows, names=3)


def quantising(values: Measured) -> str:
    """Sizes and accuracies of quantised models."""
    models = sorted(values.items(), key=lambda one: (one[0][0], -max(one[1]["bytes"]), one[0][3]))
    rows = [
        [dataset, f"`--qnorm {options}`".replace(" `", "`"), tool, f"{measures['bytes'][0]:,.0f}",
         f"{measures['accuracy'][0]:.4f}"]
        for (dataset, tool, _, options), measures in models
    ]  # fmt: skip
    return markdown(["texts", "options", "quantised by", "bytes", "accuracy"], rows, names=3)


def loading(values: Measured) -> str:
    """Seconds until the first prediction."""
    rows = [
        [
            tool, dim, f"{measures['bytes'][0] / 1e6:,.0f}", f"{min(measures['seconds of the command']):.2f}",
            *(f"{min(seconds):.3f}" for seconds in [measures.get("seconds within Python")] if seconds),
        ]
        for (_, tool, dim, _), measures in values.items()
    ]  # fmt: skip
    rows = [[*row, ""][:5] for row in rows]
    heads = ["classifier", "dim", "MB of the model", "seconds of a command with one line", "seconds within Python"]
    return markdown(heads, rows, names=1)


def searching(values: Measured) -> str:
    """What a search gains."""
    rows = [
        [name, *(f"{measures[f'{side} {name}'][0]:.4f}" for side in ("validation", "test")), options.split()[1]]
        for (_, _, _, options), measures in values.items()
        for name in ("default", "best")
    ]
    return markdown(["settings", "F1, validation", "F1, test", "trials"], rows, names=1)
