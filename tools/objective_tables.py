"""The table of `objective_study.py`."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from study_rows import read_rows

from embeddings.eval.machine import processor

MODELS = ("skipgram", "cbow", "structured-skipgram", "continuous-window", "paragraph-dbow", "paragraph-dm")
FULL = "full-softmax"
OBJECTIVES: dict[str, dict[str, Any]] = {  # our settings of each
    "negative-sampling": {},
    "nce": {"objective": "nce"},
    "nce --nce-normalizer trained": {"objective": "nce", "nce_normalizer": "trained"},
    "sampled-softmax": {"objective": "sampled-softmax"},
    "sampled-softmax --proposals log-uniform": {"objective": "sampled-softmax", "proposals": "log-uniform"},
    "hierarchical-softmax": {"objective": "hierarchical-softmax"},
    "hierarchical-softmax --tree clusters": {"objective": "hierarchical-softmax", "tree": "clusters"},
    "adaptive-softmax": {"objective": "adaptive-softmax"},
    FULL: {"objective": FULL},
}
SECONDS, PERPLEXITY, REFUSED = "CPU seconds", "perplexity", "refused"
NOTES = """
- Scores are Spearman's correlations and accuracies in percent, means over the seeds; ± half the range of the seeds.
- CPU seconds are those of training alone, on one thread, without reading the text; the fastest seed. Those of
  word2vec.c include its table of random words with negative sampling.
- `full-softmax` is trained on fewer words where the column says so: its scores and perplexity are those of that text.
- Perplexities of different models cannot be compared, see `docs/guide/objectives.md`.
"""


def table(path: Path) -> str:
    """The results as Markdown: a table with a row for each model, objective and tool, and the refused ones."""
    values: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    refused = {}
    for row in read_rows(path):
        if row["measure"] == REFUSED:
            refused[row["model"], row["objective"]] = row["value"]
        else:
            key = tuple(row[column] for column in ("model", "objective", "tool", "words", "epochs"))
            values[key][row["measure"]].append(float(row["value"]))
    measures = list(dict.fromkeys(name for scores in values.values() for name in scores if name != PERPLEXITY))
    heads = ["model", "objective", "tool", "words", "epochs", *measures, PERPLEXITY]
    rows = [
        [f"`{key[0]}`", f"`{key[1]}`", key[2], f"{int(key[3]):,}", key[4]]
        + [format_values(name, scores.get(name, [])) for name in (*measures, PERPLEXITY)]
        for key, scores in sorted(values.items(), key=lambda item: order(item[0]))
    ]
    aligned = [*["---"] * 3, *["---:"] * (len(heads) - 3)]
    lines = [f"| {' | '.join(line)} |" for line in [heads, aligned, *rows]]
    if refused:
        lines += ["", "Refused combinations:", ""]
        lines += [f"- `{model}` with `{objective}`: {reason}" for (model, objective), reason in refused.items()]
    return "\n".join(lines) + "\n" + NOTES + f"- Measured on {processor()}.\n"


def order(key: tuple[str, ...]) -> tuple[int, int, str]:
    """Where a row of the table stands."""
    return MODELS.index(key[0]), list(OBJECTIVES).index(key[1]), key[2]


def format_values(measure: str, values: Sequence[float]) -> str:
    """The values of a measure over seeds in one field; empty if there are none."""
    if not values:
        return ""
    if measure == SECONDS:
        return f"{min(values):.1f}"
    if measure == PERPLEXITY:
        return f"{fmean(values):.0f}"
    spread = f" ± {(max(values) - min(values)) / 2:.1f}" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{spread}"
