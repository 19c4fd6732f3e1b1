"""The README shows what was measured and what exists."""

import re
from pathlib import Path

import benchmark_table
import pytest
from commands import expect
from studies import page_tables

from embeddings import registry

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "eval" / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert README.count("\n") <= 150


def test_the_comparison_is_that_of_the_results():
    """`python tools/study.py readme` writes it, and the table of the best learning rates."""
    assert page_tables.with_table(page_tables.README, "comparison", page_tables.comparison()) == README
    assert page_tables.best() == (RESULTS / "comparison" / "best.md").read_text(encoding="utf-8")


def test_the_speed_of_training_is_what_was_measured():
    ratios = {}
    for folder in ("comparison", "structured"):
        for row in benchmark_table.summaries(benchmark_table.read_rows(RESULTS / folder / "results.csv")):
            ratios.setdefault((row.settings["trainer"], row.tool), []).append(row.ratios["whole_cpu"])
    pattern = (
        r"Skip-gram takes (\S+) to (\S+) times fewer CPU seconds than with gensim and (\S+) to (\S+) times fewer than "
        r"with pSGNScc, CBOW (\S+) to\s+(\S+) times fewer than with word2vec\+\+, fastText (\S+) times fewer than with "
        r"fastText"
    )
    stated = re.search(pattern, README)
    assert stated is not None
    ends = [ratios["skipgram", "gensim"], ratios["skipgram", "pSGNScc"], ratios["cbow", "word2vec++"]]
    measured = [f"{end:.2g}" for values in ends for end in (min(values), max(values))]
    assert stated.groups() == (*measured, f"{ratios['fasttext', 'fasttext'][0]:.2g}")


def test_the_speed_of_loading_is_what_was_measured():
    stated = re.search(r"binary files load (\S+) times faster than in gensim, its text files\s+(\S+) times", README)
    assert stated is not None
    rows = [line.strip("| ").split(" | ") for line in (RESULTS / "loading.md").read_text(encoding="utf-8").splitlines()]
    seconds = {tuple(cells[:2]): float(cells[2]) for cells in rows if cells[1:2] in (["gensim"], ["embeddings"])}
    forms = ("word2vec-binary", "word2vec-text")
    assert stated.groups() == tuple(f"{seconds[form, 'gensim'] / seconds[form, 'embeddings']:.1f}" for form in forms)


def test_every_trainer_has_a_row():
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \| [^|]+ \| [^|]*\|$", README.split("## Models\n")[1].split("\n## ")[0], re.MULTILINE
    )
    offers = registry.find_all("trainer").items()
    assert set(rows) == {
        name for name, [first, *_] in offers if registry.distribution_name(first) == "embeddings-toolkit"
    }


def test_the_quick_start_is_valid():
    """Its commands parse; running them takes too long here."""
    start = README.split("<!-- quick start -->\n")[1].split("```")[1]
    commands = re.findall(r"embeddings ((?:train|evaluate|neighbours) [^&\n]+)", start)
    assert len(commands) == 3
    for command in commands:
        options = re.findall(r"--[a-z-]+", command)
        names = command.split()
        text = expect(*names[: 2 if names[0] == "train" else 1], "--help").output
        assert all(option in text for option in options)


@pytest.mark.parametrize("file", ["results.png", "neighbours.svg", "structured/results.png", "documents/results.png"])
def test_pictures_exist(file):
    assert (RESULTS / file).stat().st_size > 1000
