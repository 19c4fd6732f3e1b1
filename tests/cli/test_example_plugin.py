"""A trainer of another package, installed as users install it, works like the built-in ones."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from commands import expect

import embeddings as em
from embeddings.cli.command_help import LINES
from embeddings.testing import check_trainer

PLUGIN = Path(__file__).parents[1] / "example_plugin"
SUMMARY = "Positive pointwise mutual information, factorised (Levy and Goldberg 2014). For small vocabularies."


@pytest.fixture(scope="module")
def site(tmp_path_factory, start_python):
    """A folder where the package is installed."""
    return install(PLUGIN, tmp_path_factory.mktemp("plugin"), start_python)


def install(plugin, folder, start_python):
    """Install a copy of a package without network access; returns where."""
    shutil.copytree(plugin, folder / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    start_python("-m", "pip", "install", *options, "--target", folder / "site", folder / "copy", cwd=folder)
    return folder / "site"


@pytest.fixture
def installed(site, monkeypatch):
    """The package on the path of this process."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(site)
    yield
    for name in set(sys.modules) - before:
        if str(site) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_it_is_listed(installed):
    listed = " ".join(expect("train", "--help").stdout.split())
    assert f"ppmi {SUMMARY.partition('. ')[0]}" in listed
    assert "skipgram" in listed


def test_its_help_has_what_it_supports(installed):
    text = " ".join(expect("train", "ppmi", "--help").stdout.split())
    assert "--dim INTEGER Dimension of the vectors." in text
    assert "--window INTEGER Maximum distance between a word and its context words. [default: 2" in text
    assert "--min-count INTEGER Drop words that occur less often. [default: 5" in text
    assert "Example: embeddings train ppmi" in text
    assert len(expect("train", "ppmi", "--help").stdout.splitlines()) <= LINES
    for option in ("--threads", "--checkpoint-every", "--resume", "--init", "--freeze", "--continue"):
        assert option not in text


def test_it_trains_and_saves(site, python, tmp_path):
    (tmp_path / "text.txt").write_text("the cat eats\nthe dog eats\nthe cat sleeps\nthe dog sleeps\n" * 20)
    options = ["--dim", "4", "--window", "1", "--seed", "9"]
    python("-m", "embeddings", "train", "ppmi", "text.txt", "-o", "v", *options, path=[site])
    model = em.Model.load(tmp_path / "v")
    assert model.name == "ppmi"
    assert model.settings == {"dim": 4, "window": 1, "min_count": 5}
    assert model.record["seed"] == 9
    assert json.loads(expect("info", tmp_path / "v", "--json").stdout)["packages"]["embeddings-ppmi"] == "0.3"
    assert model.vectors.most_similar("cat", top=1)[0][0] == "dog"
    near = json.loads(expect("neighbours", tmp_path / "v", "cat", "--json").stdout)
    assert near[0]["neighbour"] == "dog"


def test_it_is_an_attribute_of_the_package(installed):
    model = em.PPMI(dim=2, min_count=1).train(em.Corpus([["a", "b", "c"]]))
    assert model.vectors.matrix.shape == (3, 2)
    assert em.train("ppmi", [["a", "b"]], dim=3, min_count=1).vectors.dim == 3


def test_it_fulfils_the_contract(installed):
    check_trainer(em.PPMI)
    check_trainer(em.PPMI, dim=50, window=1)
