"""The README shows what was measured and what exists."""

import re
import tomllib
from pathlib import Path

import pytest
from processes import with_part
from studies import page_tables

import embeddings as em
from embeddings import registry

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "eval" / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert README.count("\n") <= 150


def test_the_comparison_is_that_of_the_results():
    """`python tools/study.py readme` writes it, and the table of the best learning rates."""
    assert with_part(README, "comparison", page_tables.comparison()) == README
    assert page_tables.best() == (RESULTS / "comparison" / "best.md").read_text(encoding="utf-8")


def ends(trainer, tool=None):
    """The lowest and highest ratio of a trainer over processors, to a program or to the fastest one of each."""
    found = {key: value for key, value in page_tables.ratios().items() if key[1] == trainer}
    if tool:
        values = [value for (_, _, program), one in found.items() if program == tool for value in one]
    else:
        processors = {processor for processor, *_ in found} - {"comparison"}  # where the fastest program is left out
        values = [min(min(one) for key, one in found.items() if key[0] == each) for each in processors]
    return tuple(f"{end:#.2g}".rstrip(".") for end in (min(values), max(values)))


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/evidence/benchmarks.md"])
def test_the_speed_of_training_is_what_was_measured(page):
    pattern = (
        r"Skip-gram takes (\S+) to (\S+) times less CPU time than pSGNScc and (\S+) to (\S+) times less than gensim; "
        r"CBOW (\S+) to (\S+) times less than the best other program; "
        r"fastText (\S+) to (\S+) times less than the original"
    )
    stated = re.search(pattern, " ".join((ROOT / page).read_text(encoding="utf-8").split()))
    assert stated is not None
    measured = ends("skipgram", "pSGNScc") + ends("skipgram", "gensim") + ends("cbow")
    assert stated.groups() == measured + ends("fasttext", "fasttext")


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


def test_all_places_cite_the_same_version():
    files = ("pyproject.toml", "CITATION.cff", "docs/cite.md")
    pattern = r'^\s*version\s*[=:]\s*[{"]?([\d.]+)'
    versions = [re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)[1] for file in files]
    assert set(versions) == {em.__version__}


def test_every_extra_has_a_row():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    table = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").split("## Optional extras")[1].split("\n## ")[0]
    assert [name for name in extras if f"`{name}`" not in table] == []
