"""The README keeps its word: its reference, its code and its commands are those of the package."""

import csv
import json
import re
from statistics import fmean

import numpy as np
import pytest
import readers
from drawn import drawn_points

from embeddings import figures, registry
from embeddings.cli import reference
from embeddings.eval.benchmark import result_rows, result_table, tools
from embeddings.eval.index_quality.recall_plot import families
from embeddings.eval.index_quality.recall_record import Record
from embeddings.eval.index_quality.recall_table import markdown

FACTORIES = ("Flat", "HNSW", "IVF", "LSH", "PQ")
RULE_OF_THUMB = "lsh:mode=tables,bits=8,tables=4,probes=1,orthogonal=false"
OFFERED = registry.available


def ours(kind):
    """What this package offers of a kind; others may be installed beside it."""
    found = OFFERED(kind)
    return {name: offers for name, offers in found.items() if registry.package(offers[0]) == "embeddings-toolkit"}


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def guide(root):
    """The pages that hold what is too long for the README."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / "docs" / "guide").iterdir()))


def between(text, begin, end):
    return text.split(f"<!-- {begin} -->\n")[1].split(f"<!-- {end} -->\n")[0]


def words(text):
    return text.split()


def test_command_reference_is_that_of_the_commands(root, monkeypatch):
    """`python -m embeddings.cli.reference .` writes it, and the table of the README."""
    monkeypatch.setattr(registry, "available", ours)
    assert words((root / reference.PAGE).read_text(encoding="utf-8")) == words(reference.reference())


def test_every_command_has_a_row(readme, root, monkeypatch):
    monkeypatch.setattr(registry, "available", ours)
    assert between(readme, "commands", "end of commands") == reference.table()
    anchors = re.findall(r"^## `([a-z -]+)`$", (root / reference.PAGE).read_text(encoding="utf-8"), re.M)
    linked = re.findall(rf"\({reference.PAGE}#([a-z-]+)\)", reference.table())
    assert len(linked) > 10
    assert set(linked) <= {anchor.replace(" ", "-") for anchor in anchors}


def test_plugin_is_the_one_that_is_tested(root, readme):
    plugin = root / "tests" / "example_plugin"
    code = (plugin / "stranger.py").read_text(encoding="utf-8").strip()
    entry = re.search(r"\[project.entry-points.*?\n\n", (plugin / "pyproject.toml").read_text(encoding="utf-8"), re.S)
    assert entry is not None
    shown = between(readme, "example plugin", "end of example plugin")
    assert f"```python\n{code}\n```" in shown
    assert f"```toml\n{entry.group().strip()}\n```" in shown


def test_python_runs_as_written(readme, root, monkeypatch, tmp_path):
    code = re.search(r"<!-- python -->\n```python\n(.*?)```", readme, re.S)
    assert code is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    made = {}
    exec(compile(code.group(1), "README.md", "exec"), made)
    assert made["vectors"].dim == 50
    assert made["model"].settings["min_count"] == 1
    assert (tmp_path / "model" / "model.json").is_file()


SHOWN = ("results.md", "structured/results.md", "neighbours.md", "composition.md", "composition-curve.md")
SHOWN += ("composition-phrases.txt", "composition-neighbours.txt", "unspaced/results.md", "unspaced/neighbours.txt")
SHOWN += ("documents/results.md", "documents/beside.txt", "documents-speed/results.md", "documents/million.txt")
SHOWN += ("loading.md",)


def test_figures_are_what_was_written(root):
    """`python -m embeddings.figures .` puts the files that commands wrote into the pages."""
    found = []
    for page in figures.pages(root):
        text = page.read_text(encoding="utf-8")
        assert text == figures.filled(text, root), f"{page.name} shows other figures than the files hold"
        found += [name for name, _ in figures.MARK.findall(text)]
    assert sorted(found) == sorted(SHOWN)
    assert (root / "eval" / "results" / "results.png").is_file()


@pytest.mark.parametrize("name", ["", "structured", "documents", "documents-speed"])
def test_comparisons_are_of_the_runs_beside_them(root, name):
    folder = root / "eval" / "results" / name
    machine = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    written = result_table.markdown(result_rows.read(folder / "results.csv"), machine, [tools.OURS, *tools.PEERS])
    assert (folder / "results.md").read_text(encoding="utf-8") == written


def test_the_lead_says_what_was_measured(root, readme):
    told = re.search(
        r"Skip-gram learns in (\S+) to (\S+) times fewer .*?CBOW in (\S+) to (\S+), fastText in (\S+),", readme, re.S
    )
    assert told is not None
    ratios = {}
    for name in ("", "structured"):
        for one in result_table.summaries(result_rows.read(root / "eval" / "results" / name / "results.csv")):
            if one.tool == "gensim" and (one.shape["trainer"], name) != ("skipgram", "structured"):
                ratios.setdefault(one.shape["trainer"], []).append(one.ratios["training_cpu"])
    least = {trainer: f"{min(found):.2g}" for trainer, found in ratios.items()}
    most = {trainer: f"{max(found):.2g}" for trainer, found in ratios.items()}
    assert told.groups() == (least["skipgram"], most["skipgram"], least["cbow"], most["cbow"], most["fasttext"])


def test_the_lead_says_how_fast_files_were_read(root, readme):
    told = re.search(r"binary files are\s+read (\S+) times\s+faster than by gensim, its text files\s+(\S+)", readme)
    assert told is not None
    lines = (root / "eval" / "results" / "loading.md").read_text(encoding="utf-8").splitlines()
    ratios = {cells[0]: cells[-1] for cells in (line.strip("| ").split(" | ") for line in lines) if "gensim" in cells}
    assert told.groups() == (ratios["word2vec-binary"], ratios["word2vec-text"])


def test_other_figures_are_replaced(tmp_path):
    folder = tmp_path / "eval" / "results" / "a"
    folder.mkdir(parents=True)
    (folder / "b.md").write_text("| 1 |\n")
    (folder / "c.txt").write_text("two\n")
    page = "x\n<!-- figures a/{0} -->\n{1}<!-- end of a/{0} -->\ny\n"
    for file, before, after in (("b.md", "", "| 1 |\n"), ("c.txt", "old\n", "```text\ntwo\n```\n")):
        assert figures.filled(page.format(file, before), tmp_path) == page.format(file, after)


def test_figures_of_neighbours_are_of_one_record(root):
    """The tables hold the figures, and so does the picture."""
    folder = root / "eval" / "results"
    record = Record.read(folder / "neighbours.json")
    written = (folder / "neighbours.md").read_text(encoding="utf-8")
    assert written == markdown(record)
    (judged,) = [one for one in record.judged if one.grid == "speed"]
    points = drawn_points(folder / "neighbours.svg")
    for name, found in families(judged.found).items():
        found = sorted(found, key=lambda one: one.per_second)
        x, y = np.array(points[name]).T
        assert len(x) == len(found)
        if len(x) > 1:
            assert np.corrcoef(x, np.log([one.per_second for one in found]))[0, 1] > 0.999999
            assert np.corrcoef(y, [one.recall for one in found])[0, 1] < -0.999999


def test_figures_of_neighbours_are_of_every_kind(root, guide):
    record = Record.read(root / "eval" / "results" / "neighbours.json")
    table = between(guide, "figures neighbours.md", "end of neighbours.md")
    for kind in ("exact", "lsh:bits=", "lsh:mode=tables", *(f"faiss:factory={kind}" for kind in FACTORIES)):
        assert f"| `{kind}" in table
    ranked = {one.vectors: one.found for one in record.judged if one.grid == "rank"}
    assert list(ranked) == ["wikipedia-skipgram.bin", "random:10000x128"]
    (best,) = [one for one in ranked["random:10000x128"] if one.index == RULE_OF_THUMB]
    assert 15 <= best.rank <= 30


def test_tagging_is_what_evaluate_printed(root, readme):
    found = {}
    with (root / "eval" / "results" / "structured" / "tagging.tsv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            name, window, seed = line["vectors"].rsplit("-", 2)
            if line["section"] == "all":
                found.setdefault((name, window), {})[seed] = float(line["value"])
    shown = dict(re.findall(r"^\| `([a-z-]+)` (\|.*) \|$", between(readme, "tagging", "end of tagging"), re.M))
    assert {(name, window) for name in shown for window in ("w2", "w5")} == set(found)
    for name, told in shown.items():
        values = [sorted(found[name, window].values()) for window in ("w2", "w5")]
        cells = [f"| {fmean(three):.3f} ({three[0]:.3f} to {three[-1]:.3f})" for three in values]
        assert told == " ".join(cells)


def test_composition_is_what_the_evaluation_wrote(root):
    from embeddings.eval.phrase_composition.summary import results

    folder = root / "eval" / "results"
    assert (folder / "composition.md").read_text(encoding="utf-8") == results(folder / "composition.tsv")


def test_every_command_it_shows_exists(readme):
    from embeddings.cli import main

    shown = set(re.findall(r"(?:^|\n|\| |`|&& \.venv/bin/)embeddings ([a-z]+)\b", readme))
    assert {"train", "export", "evaluate", "benchmark"} <= shown
    assert shown <= set(main.commands)


def test_every_trainer_has_a_row(readme):
    models = readme.split("## Models\n")[1].split("\n## ")[0]
    rows = set(re.findall(r"^\| `([a-z-]+)` \|", models, re.M))
    assert rows == set(ours("trainer"))


def test_scikit_learn_runs_as_written(readme):
    code = re.search(r"<!-- scikit-learn -->\n```python\n(.*?)```", readme, re.S)
    assert code is not None
    made = {}
    exec(compile(code.group(1), "README.md", "exec"), made)
    assert made["search"].predict(["a bad film", "a good film"]).tolist() == [0, 1]


def test_links_to_files_lead_somewhere(root):
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs" / "guide").iterdir()]
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page}: {link}"


READERS = re.compile(r"^\| `([a-z0-9-]+)` \| ([a-z0-9-]+) \| [0-9][^|]* \| (.+) \| `(\w+\.py)::(\w+)` \|$", re.M)


def test_every_format_has_been_read_by_another_library(root):
    """`pytest --readers docs/formats.md` writes the page from tests that passed; each mark has its row in it."""
    page = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    read, written = (set(READERS.findall(part)) for part in page.split("## What they write"))
    assert {form for form, *_ in read} == set(ours("format"))
    marks = set()
    for path in (root / "tests" / "formats").glob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        marks |= {(kind, *re.findall(r'"([^"]*)"', said)) for kind, said in readers.MARKS.findall(text)}
        rows = [row for row in read | written if row[3] == path.name]
        assert all(f"\ndef {test}(" in text for *_, test in rows)
    assert marks == {("reads", *row[:3]) for row in read} | {("writes", *row[:3]) for row in written}


def test_every_format_has_a_row(readme):
    rows = set(re.findall(r"^\| `([a-z0-9-]+)` \|", readme.split("## Formats\n")[1].split("\n### ")[0], re.M))
    assert rows == set(ours("format"))
