"""A stranger's package, installed as its users would: it is a trainer like ours, with no line changed here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import embeddings as em

PLUGIN = Path(__file__).parents[1] / "example_plugin"


def run(*command, site, code=0):
    """The output of Python with the stranger's package on its path."""
    found = subprocess.run(
        [sys.executable, *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=site,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == code, found.stdout + found.stderr
    return found.stderr if code else found.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where the package is installed: from a copy, without the network."""
    folder = tmp_path_factory.mktemp("stranger")
    shutil.copytree(PLUGIN, folder / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    run("-m", "pip", "install", *options, "--target", folder / "site", folder / "copy", site=folder)
    return folder / "site"


def test_it_is_listed(site):
    lines = run("-m", "embeddings", "trainers", site=site).splitlines()
    found = {line.split("\t")[0]: line.split("\t")[1:] for line in lines}
    assert found["ppmi"] == [
        "embeddings-stranger",
        "0.3",
        "Positive pointwise mutual information, factored (Levy and Goldberg 2014). For small vocabularies.",
    ]
    assert {"cbow", "skipgram"} <= set(found)


def test_it_is_in_the_help(site):
    assert "ppmi" in run("-m", "embeddings", "train", "--help", site=site)
    text = " ".join(run("-m", "embeddings", "train", "ppmi", "--help", site=site).split())
    assert "--dim INTEGER Components of a vector." in text
    assert "--window INTEGER Furthest context word on either side. [default: 2" in text
    assert "--min-count INTEGER Words that occur less often are left out. [default: 5" in text


def test_it_trains_and_saves(site, tmp_path):
    (tmp_path / "text.txt").write_text("the cat eats\nthe dog eats\nthe cat sleeps\nthe dog sleeps\n" * 20)
    command = [
        "train",
        "ppmi",
        tmp_path / "text.txt",
        "-o",
        tmp_path / "v",
        "--dim",
        "4",
        "--window",
        "1",
        "--seed",
        "9",
    ]
    run("-m", "embeddings", *command, site=site)
    model = em.Model.load(tmp_path / "v")
    assert model.name == "ppmi"
    assert model.settings == {"dim": 4, "window": 1, "min_count": 5}
    assert model.record["seed"] == 9
    assert model.vectors.most_similar("cat", top=1)[0][0] == "dog"
    near = json.loads(run("-m", "embeddings", "neighbours", tmp_path / "v", "cat", "--json", site=site))
    assert near[0]["neighbour"] == "dog"


def test_its_bounds_are_told(site, tmp_path):
    (tmp_path / "text.txt").write_text("a b\n")
    command = ["train", "ppmi", tmp_path / "text.txt", "-o", tmp_path / "v", "--window", "0"]
    assert "window must be at least 1, not 0" in run("-m", "embeddings", *command, site=site, code=2)
    assert not (tmp_path / "v").exists()


def test_it_is_there_in_python(site):
    code = """
import embeddings as em
model = em.PPMI(dim=2, min_count=1).train(em.Corpus([["a", "b", "c"]]))
print(model.vectors.matrix.shape, em.train("ppmi", [["a", "b"]], dim=3, min_count=1).vectors.dim)
"""
    assert run("-c", code, site=site) == "(3, 2) 3\n"


def test_it_keeps_the_contract(site):
    code = """
import embeddings as em
from embeddings.testing import check_trainer
check_trainer(em.PPMI)
check_trainer(em.PPMI, dim=50, window=1)
print("kept")
"""
    assert run("-c", code, site=site) == "kept\n"


def test_without_it_there_is_no_such_trainer(tmp_path):
    told = run("-m", "embeddings", "train", "ppmi", "x", "-o", "y", site=tmp_path, code=2)
    assert "no trainer called 'ppmi'; installed: " in told
