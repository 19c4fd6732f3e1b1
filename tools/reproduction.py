"""Compares published figures with figures measured here, as declared in `reproduction.toml`, and writes the table.

python tools/reproduction.py [--folder FOLDER] [--again NAME...]    (what the folder holds is not measured again)

A figure comes from a file of `eval/results` (`file`, `where`, `column`), or from a function of `reproduction_runs.py`
(`run`). A published figure is a range (`low`, `high`), or that of the original program in the same file
(`program_where`).
"""

import argparse
import csv
import runpy
import sys
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "eval" / "results"
DECLARATION = Path(__file__).with_suffix(".toml")
COLUMNS = ("name", "value", "program", "seeds")
HEADS = ("source", "figure", "published", "here", "same data", "seeds", "verdict")
DIGITS = 4


def measure(figure: Mapping[str, Any]) -> dict[str, str]:
    """The figure of this package, that of the original program, and how many seeds they are means of."""
    if "run" in figure:
        functions = runpy.run_path(str(DECLARATION.with_name("reproduction_runs.py")))
        value, seeds = functions[figure["run"]](**figure.get("arguments", {}))
        return {"name": figure["name"], "value": f"{value:.6g}", "program": "", "seeds": str(seeds)}
    values = read_values(figure, figure["where"])
    program = read_values(figure, figure["program_where"]) if "program_where" in figure else []
    return {
        "name": figure["name"],
        "value": f"{fmean(values):.6g}",
        "program": f"{fmean(program):.6g}" if program else "",
        "seeds": str(len(values)),
    }


def read_values(figure: Mapping[str, Any], where: Mapping[str, str]) -> list[float]:
    """The numbers in a column of the rows of a result file that match these patterns."""
    path = RESULTS / figure["file"]
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ","))
    selected = [row for row in rows if all(fnmatchcase(row[name], value) for name, value in where.items())]
    values = [float(row[figure["column"]]) for row in selected]
    if not values:
        raise SystemExit(f"{figure['name']}: {path} has no row with {dict(where)}")
    is_complement = figure.get("complement", False)
    return [1 - value if is_complement else value for value in values]


def verdict(figure: Mapping[str, Any], row: Mapping[str, str]) -> str:
    """How the figure compares: met within `tolerance` of the published range, or better or worse than it."""
    value, tolerance = float(row["value"]), figure.get("tolerance", 0.0)
    low, high = published_range(figure, row)
    if low - tolerance <= value <= high + tolerance:
        return "met" if figure["same_data"] else "within, on other data"
    is_better = (value > high) == (figure["better"] == "higher") and figure["better"] != "equal"
    if not figure["same_data"]:
        return f"{'better' if is_better else 'worse'}, on other data"
    return "better" if is_better else "**not met**"


def published_range(figure: Mapping[str, Any], row: Mapping[str, str]) -> tuple[float, float]:
    """The published figure as a range."""
    if row["program"]:
        return float(row["program"]), float(row["program"])
    return figure["low"], figure["high"]


def markdown(figures: list[Mapping[str, Any]], rows: Mapping[str, Mapping[str, str]]) -> str:
    """The table, one line for each figure; those that could not be measured have their reason as verdict."""
    lines = [HEADS, ("---",) * len(HEADS)]
    for figure in figures:
        cells = [figure["source"], figure["figure"]]
        if "missing" in figure:
            lines.append((*cells, figure["published"], "", "", "", f"not measured: {figure['missing']}"))
            continue
        row = rows[figure["name"]]
        low, high = published_range(figure, row)
        published = shown(low) if low == high else f"{shown(low)} to {shown(high)}"
        same = "yes" if figure["same_data"] else f"no: {figure['data']}"
        lines.append((*cells, published, shown(float(row["value"])), same, row["seeds"], verdict(figure, row)))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def shown(value: float) -> str:
    """A number without needless digits."""
    return f"{value:.{DIGITS}f}".rstrip("0").rstrip(".")


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    """The measured figures by name."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row for row in csv.DictReader(lines, delimiter="\t")}


def write_rows(path: Path, rows: Mapping[str, Mapping[str, str]]) -> None:
    """Write the measured figures, in the order of the declaration."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def read_figures() -> list[Mapping[str, Any]]:
    """The declared figures."""
    return list(tomllib.loads(DECLARATION.read_text(encoding="utf-8"))["figure"])


def main(arguments: list[str]) -> None:
    """Measure what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=RESULTS / "reproduction")
    parser.add_argument("--again", nargs="*", default=[], metavar="NAME", help="Measure these figures again.")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    path, figures = options.folder / "results.tsv", read_figures()
    rows = {name: row for name, row in read_rows(path).items() if name not in options.again}
    for figure in figures:
        if "missing" not in figure and (figure["name"] not in rows or "file" in figure):
            rows[figure["name"]] = measure(figure)
            write_rows(path, rows)
    rows = {figure["name"]: rows[figure["name"]] for figure in figures if figure["name"] in rows}
    write_rows(path, rows)
    (options.folder / "results.md").write_text(markdown(figures, rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
