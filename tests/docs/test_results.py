"""The result tables and pictures that the documentation shows come from the recorded measurements next to them."""

import csv
import json
import re
from operator import itemgetter
from pathlib import Path
from statistics import fmean

import benchmark_table
import numpy as np
import pytest
import readers
from benchmark_indexes import families, markdown_tables
from benchmark_programs import OURS, PEERS, Program
from drawn import drawn_points
from optional_libraries import import_gensim
from studies.grid import read_rows
from studies.page_tables import composition_tables
from studies.reproduction import FIGURES, Reproduction, verdict

from embeddings import registry

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "eval" / "results"


def test_the_page_says_where_a_model_is_behind():
    """CBOW after one epoch scores lower than gensim's in every setting."""
    scores = {}
    for one in benchmark_table.summaries(benchmark_table.read_rows(RESULTS / "results.csv")):
        setting = tuple(one.settings[name] for name in ("trainer", "dim", "negatives"))
        scores.setdefault(setting, {})[one.tool] = [one.scores[name][0] for name in benchmark_table.SETS]
    gains = {setting: np.subtract(ours["embeddings"], ours["gensim"]) for setting, ours in scores.items()}
    assert [trainer for (trainer, *_), gain in gains.items() if gain.max() < 0] == ["cbow"] * 4
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in ("docs/evidence/benchmarks.md", "README.md")]
    assert "**CBOW is behind gensim here**" in pages[0]
    assert "CBOW scores lower than with gensim" in pages[1]
    ours, theirs = (scores["cbow", 100, 5][tool][0] for tool in ("embeddings", "gensim"))
    assert f"{ours:.3f} against {theirs:.3f} on WordSim-353" in pages[0]


XEON = ("comparison", "documents", "structured")


@pytest.mark.parametrize(
    "name", ["", "comparison", "structured", "documents", "documents-speed", *(f"xeon/{one}" for one in XEON)]
)
def test_comparison_tables_are_those_of_the_runs(name):
    folder = RESULTS / name
    machine = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    programs = [Program.read(path) for path in sorted(folder.glob("*.toml"))]
    shown = [tool for tool in [OURS, *PEERS, *programs] if tool.name in machine["tools"]]
    shown.sort(key=lambda tool: list(machine["tools"]).index(tool.name))
    table = benchmark_table.markdown(benchmark_table.read_rows(folder / "results.csv"), machine, shown)
    assert (folder / "results.md").read_text(encoding="utf-8") == table


def test_neighbour_tables_and_plot_are_those_of_the_record():
    content = json.loads((RESULTS / "neighbours.json").read_text(encoding="utf-8"))
    assert (RESULTS / "neighbours.md").read_text(encoding="utf-8") == markdown_tables(content)
    points = drawn_points(RESULTS / "neighbours.svg")
    for name, members in families(content["grids"][0]["results"]).items():
        members = sorted(members, key=itemgetter("per_second"))
        x, y = np.array(points[name]).T
        assert len(x) == len(members)
        if len(x) > 1:
            assert np.corrcoef(x, np.log([one["per_second"] for one in members]))[0, 1] > 0.999999
            assert np.corrcoef(y, [one["recall"] for one in members])[0, 1] < -0.999999


def test_tagging_table_is_that_of_the_evaluation():
    accuracies = {}
    with (RESULTS / "structured" / "tagging.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            name, window, seed = row["vectors"].rsplit("-", 2)
            if row["section"] == "all":
                accuracies.setdefault((name, window), {})[seed] = float(row["value"])
    page = (ROOT / "docs" / "evidence" / "benchmarks.md").read_text(encoding="utf-8")
    table = page.split("<!-- tagging -->\n")[1].split("<!-- end of tagging -->")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` (\|.*) \|$", table, re.MULTILINE))
    assert {(name, window) for name in rows for window in ("w2", "w5")} == set(accuracies)
    for name, row in rows.items():
        values = [sorted(accuracies[name, window].values()) for window in ("w2", "w5")]
        assert row == " ".join(f"| {fmean(three):.3f} ({three[0]:.3f} to {three[-1]:.3f})" for three in values)


def test_composition_table_is_that_of_the_evaluation():
    """`python tools/study.py composition` writes it."""
    for name in ("composition", "composition-larger"):
        made = composition_tables(RESULTS / f"{name}.tsv")
        assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == made


def test_table_of_reproduced_figures_is_that_of_the_declared_ones():
    """`python tools/study.py reproduction` writes it, from the files that have the figures and from its own rows."""
    rows = read_rows(RESULTS / "reproduction" / "results.tsv")
    assert [row["name"] for row in rows] == [name for name, figure in FIGURES.items() if "run" in figure]
    written = (RESULTS / "reproduction" / "results.md").read_text(encoding="utf-8")
    assert written == Reproduction("reproduction", {}).table(rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["fasttext-hashes", "fasttext-file", "lsh-832-bits", "lsh-256-bits", "lee-corpus", "sembei-counts"]
)
def test_short_runs_give_the_reproduced_figures(name):
    if name in ("fasttext-file", "lee-corpus"):
        import_gensim()
    ((value, *_),) = Reproduction("reproduction", {}).measure(name)
    assert verdict(FIGURES[name], float(value), FIGURES[name]["published"]) in ("met", "better")


READERS = re.compile(
    r"^\| `([a-z0-9-]+)` \| ([a-z0-9-]+) \| [0-9][^|]* \| (.+) \| `(\w+\.py)::(\w+)` \|$", re.MULTILINE
)


def test_every_format_has_been_read_by_another_library():
    """`pytest --readers docs/evidence/formats.md` writes the page; each mark has its row in it."""
    page = (ROOT / "docs" / "evidence" / "formats.md").read_text(encoding="utf-8")
    read, written = (set(READERS.findall(part)) for part in page.split("## Libraries whose files"))
    offers = registry.find_all("format").items()
    ours = {name for name, [first, *_] in offers if registry.distribution_name(first) == "embeddings-toolkit"}
    assert {name for name, *_ in read} == ours
    marks = set()
    for path in (ROOT / "tests" / "formats").glob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        marks |= {(kind, *re.findall(r'"([^"]*)"', arguments)) for kind, arguments in readers.MARKS.findall(text)}
        assert all(f"\ndef {row[4]}(" in text for row in read | written if row[3] == path.name)
    assert marks == {("reads", *row[:3]) for row in read} | {("writes", *row[:3]) for row in written}
