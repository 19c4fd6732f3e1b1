"""What a comparison of indexes found, as Markdown.

`python -m embeddings.eval.index_quality.recall_table eval/results/neighbours.json README.md` writes it between
the two marks in that file.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from embeddings.eval.benchmark.result_table import number
from embeddings.eval.index_quality.recall import Quality
from embeddings.eval.index_quality.recall_plot import families
from embeddings.eval.index_quality.recall_record import Judged, Record
from embeddings.support.markdown import between

ENOUGH = (0.9, 0.99)  # recall
SPEED = ("index", "recall", "95 %", "queries/s", "all at once", "rows compared", "s to build", "MB")


def markdown(record: Record) -> str:
    """A table for each vectors whose indexes were judged by speed, and one of ranks for all judged by these."""
    lines = [about(record), ""]
    for one in record.judged:
        if one.grid == "speed":
            lines += [*speed(one), ""]
    ranked = [one for one in record.judged if one.grid == "rank"]
    if ranked:
        lines += [*ranks(ranked), ""]
    return "\n".join([*lines, *reading()]) + "\n"


def about(record: Record) -> str:
    """The machine in a line."""
    machine = record.machine
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (
        f"{machine['processor']}, {machine['cores_available']} of {machine['cores']} cores; {machine['system']}; "
        f"{packages}; {machine['date']}."
    )


def speed(judged: Judged) -> Iterator[str]:
    """What was judged, and the table of what is worth to be chosen."""
    first = judged.found[0]
    yield f"{judged.vectors}: {first.rows:,} rows of {first.dim}, {first.queries:,} queries, {first.top} nearest."
    yield ""
    exact = next((one.per_second for one in judged.found if one.index == "exact"), None)
    yield from table(SPEED, [speed_row(one, exact) for one in chosen(judged.found)])


def chosen(found: Sequence[Quality]) -> list[Quality]:
    """Of each index built the fastest whose recall is one of `ENOUGH`; the one that finds most, if none is."""
    rows: list[Quality] = []
    for family in families(found).values():
        reached = [[one for one in family if one.recall is not None and one.recall >= recall] for recall in ENOUGH]
        fastest = [max(some, key=lambda one: one.per_second or 0) for some in reached if some]
        rows += dict.fromkeys(fastest or [max(family, key=lambda one: one.recall or 0)])
    return rows


def speed_row(one: Quality, exact: float | None) -> list[str]:
    """The cells of an index."""
    times = f" ({float(f'{one.per_second / exact:.2g}'):g}x)" if one.per_second and exact else ""
    return [
        f"`{one.index}`",
        number(one.recall, ".3f"),
        "-" if one.low is None else f"{one.low:.3f} to {one.high:.3f}",
        number(rounded(one.per_second), ",.0f") + times,
        number(rounded(one.per_second_many), ",.0f"),
        number(one.looked, ",.0f"),
        number(one.build_seconds, ".2f"),
        number(None if one.bytes is None else one.bytes / 1e6, ".1f"),
    ]


def rounded(value: float | None) -> float | None:
    """A speed with as many digits as it deserves."""
    return None if value is None else float(f"{value:.3g}")


def ranks(judged: Sequence[Judged]) -> list[str]:
    """The ranks of the best found, those of all vectors side by side, and the recall."""
    heads = ["index"]
    for one in judged:
        heads += [f"{Path(one.vectors).stem}: rank", "rows compared", f"recall of {one.found[0].top}"]
    rows = []
    for name in dict.fromkeys(found.index for one in judged for found in one.found):
        rows.append([f"`{name}`"])
        for one in judged:
            rows[-1] += rank_cells(next((found for found in one.found if found.index == name), None))
    return table(heads, rows)


def rank_cells(one: Quality | None) -> list[str]:
    """The cells of an index on some vectors."""
    if one is None:
        return ["-"] * 3
    digits = ".0f" if (one.rank or 0) >= 10 else ".2f"
    return [number(one.rank, digits), number(one.looked, ",.0f"), number(one.recall, ".2f")]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of Markdown."""
    return ["| " + " | ".join(cells) + " |" for cells in (heads, ["---"] * len(heads), *rows)]


def reading() -> list[str]:
    """How to read the tables."""
    return [
        "- Recall: how many of the true nearest are found, mean over the queries, with its 95 % interval. Rank: the "
        "mean true rank of the best found, 1 for the nearest.",
        "- Queries/s: one at a time, from the median time (times `exact`'s); all at once: the fastest of three runs. "
        "All use as many cores as they can. Of FAISS too the answers are put in order by exact cosines.",
        "- Rows compared: with the query, exactly. MB: beside the vectors themselves.",
        f"- Of each index that was built stands the fastest setting with a recall of at least {ENOUGH[0]}, and of "
        f"{ENOUGH[1]}; where none has, the one that finds most. All settings are drawn, and are in neighbours.json.",
    ]


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    text = target.read_text(encoding="utf-8")
    target.write_text(between(text, "neighbours figures", markdown(Record.read(source))), encoding="utf-8")
