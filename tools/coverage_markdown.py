"""The table of coverage of `evidence_study.py` as Markdown."""

from collections.abc import Sequence
from typing import Any

import numpy as np

CHOSEN, ALL = "as in the command", "all"  # the method of `embeddings neighbours`, the group of all words


def markdown(rows: Sequence[dict[str, Any]], sizes: dict[str, tuple[int, int]]) -> str:
    """The coverage by group, and by method."""
    populations = list(sizes)
    chosen = [row for row in rows if row["method"] == CHOSEN]
    lines = [
        "| quantity | words or pairs | "
        + " | ".join(f"{name}: intervals | 95 % contain | width" for name in populations)
        + " |",
        "| --- | --- |" + " ---: | ---: | ---: |" * len(populations),
    ]
    for quantity, group in dict.fromkeys((row["quantity"], row["group"]) for row in chosen):
        cells = [find(chosen, name, quantity, group) for name in populations]
        lines.append(f"| {quantity} | {group} | " + " | ".join(map(coverage_cells, cells)) + " |")
    lines += ["", "Methods that were compared, over all words:", ""]
    lines += ["| quantity | method | " + " | ".join(populations) + " |", "| --- | --- |" + " ---: |" * len(populations)]
    everywhere = [row for row in rows if row["group"] == ALL]
    for quantity, method in dict.fromkeys((row["quantity"], row["method"]) for row in everywhere):
        cells = [
            find([row for row in everywhere if row["method"] == method], name, quantity, ALL) for name in populations
        ]
        lines.append(f"| {quantity} | {method} | " + " | ".join(percent(cell) for cell in cells) + " |")
    lines += ["", "Standard deviations of cosines and of ranks (of their logarithms):", ""]
    lines += [
        "| corpus | quantity | words | by documents | by seed | resamples / draws |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    ]
    for row in chosen:
        if row["quantity"] in ("cosine", "rank") and "cosine" not in row["group"]:
            numbers = f"{row['data_sd']:.3f} | {row['seed_sd']:.3f} | {row['sd_ratio']:.2f}"
            line = f"| {row['population']} | {row['quantity']} | {row['group']} | {numbers} |"
            lines += [line] if line not in lines else []
    lines += ["", *(f"- {name}: {one} repetitions, {other} independent draws." for name, (one, other) in sizes.items())]
    return "\n".join(lines) + "\n"


def find(rows: Sequence[dict[str, Any]], population: str, quantity: str, group: str) -> dict[str, Any] | None:
    """The row of a population, if there is one."""
    names = {"population": population, "quantity": quantity, "group": group}
    return next((row for row in rows if names.items() <= row.items()), None)


def coverage_cells(row: dict[str, Any] | None) -> str:
    """The number of intervals, their coverage and their width."""
    return " |  | " if row is None else f"{row['intervals']:,} | {percent(row)} | {row['width']:.3g}"


def percent(row: dict[str, Any] | None) -> str:
    """The coverage with its standard error."""
    if row is None:
        return ""
    error = f" ± {100 * row['error']:.1f}" if np.isfinite(row["error"]) else ""
    return f"{100 * row['coverage']:.1f}{error}"
