"""The README keeps its word: its reference, its code and its commands are those of the package."""

import re

import pytest

from embeddings import registry
from embeddings.cli import reference
from embeddings.eval.benchmark.readme import PLACES, inserted, shown

OFFERED = registry.available


def ours(kind):
    """What this package offers of a kind; others may be installed beside it."""
    found = OFFERED(kind)
    return {name: offers for name, offers in found.items() if registry.package(offers[0]) == "embeddings-toolkit"}


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def between(text, begin, end):
    return text.split(f"<!-- {begin} -->\n")[1].split(f"<!-- {end} -->\n")[0]


def words(text):
    return text.split()


def test_command_reference_is_that_of_the_commands(readme, monkeypatch):
    monkeypatch.setattr(registry, "available", ours)
    assert words(between(readme, "command reference", "end of command reference")) == words(reference.reference())


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


@pytest.mark.parametrize(("name", "folder"), PLACES.items())
def test_comparisons_are_what_was_written(root, readme, name, folder):
    assert between(readme, name, f"end of {name}").strip() == shown(root, folder).strip()
    assert (root / folder / "results.csv").is_file()
    assert inserted(readme, root) == readme




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


def test_links_to_files_lead_somewhere(root, readme):
    for link in re.findall(r"\]\(([^)#]+)\)", readme):
        assert link.startswith("http") or (root / link).exists(), link
