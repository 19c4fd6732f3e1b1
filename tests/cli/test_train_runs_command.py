"""`embeddings train --runs`, and the commands that read groups of models."""

import json

import pytest
from commands import SMALL, expect, process, refused, table

import embeddings as em
from embeddings.training import ModelGroup

RUN = ["train", "skipgram", "text.txt", "-o", "group", *SMALL]
INTERRUPTED = """
import os, signal
from embeddings.cli import main, progress_bar
runs = []
def end(self, progress, total=None):
    if getattr(progress, "words", 0) and self not in runs:
        runs.append(self)
        if len(runs) == 2:
            os.kill(os.getpid(), signal.SIGINT)
progress_bar.Bar.__call__ = end
main()
"""


@pytest.fixture
def group(folder):
    """A group of two models."""
    return json.loads(expect(*RUN, "--runs", 2, "--json").stdout)


def test_runs_are_models_of_the_next_seeds(group):
    assert (group["out"], group["interrupted"]) == ("group", False)
    assert [run["out"] for run in group["runs"]] == ["group/seed-1", "group/seed-2"]
    expect("train", "skipgram", "text.txt", "-o", "one", *SMALL, "--seed", 2)
    one, run = em.load("one"), em.load("group/seed-2")
    assert one.matrix.tobytes() == run.matrix.tobytes()


def test_evaluate_and_compare_treat_a_group_as_runs_of_one_setting(folder, group):
    for seed in (5, 6):
        expect("train", "skipgram", "text.txt", "-o", f"other-{seed}", *SMALL, "--seed", seed)
    sets = ["--similarity", "pairs.tsv"]
    rows = table(expect("evaluate", "group", "B=other-*", "other-5", *sets).stdout)
    assert [(row["vectors"], row["measure"], row["runs"]) for row in rows if row["measure"] == "spearman"] == [
        ("group", "spearman", "2"), ("B", "spearman", "2"), ("other-5", "spearman", "1"),
    ]  # fmt: skip
    results = json.loads(expect("evaluate", "group", "group/seed-1", "A=group/seed-2", *sets, "--json").stdout)
    both, first, second = (one for one in results if one["measure"] == "pearson")
    assert both["value"] == pytest.approx((first["value"] + second["value"]) / 2)
    assert both["sd"] == pytest.approx(abs(first["value"] - second["value"]) / 2**0.5)
    assert (second["vectors"], second["sd"]) == ("A", None)
    rows = json.loads(expect("compare", "group", "B=other-5,other-6", *sets, "--json").stdout)
    assert [(row["first"], row["second"], row["measure"]) for row in rows] == [
        ("group", "B", "spearman"), ("group", "B", "pearson"),
    ]  # fmt: skip
    expect("evaluate", "group", *sets, "--report", "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<bdi>group</bdi>" in page
    assert "seed-1" not in page


def test_other_commands_say_which_model_to_name(group):
    for command in (
        ["neighbours", "group", "king"],
        ["export", "group", "v.txt"],
        ["explain", "group", "king", "queen", "text.txt"],
    ):
        assert refused(*command, code=1) == "group is a group of models: name one of them, such as group/seed-1"
    properties = json.loads(expect("info", "group", "--json").stdout)
    assert (properties["what"], properties["finished"], properties["trainer"]) == (
        "group of models",
        [1, 2],
        "skipgram",
    )


def test_an_interrupted_group_is_resumed(folder):
    long = [*RUN, "--epochs", 400, "--subsample", 0, "--runs", 3]
    result = process(*long, "--json", script=INTERRUPTED)
    assert result.returncode == 130, result.stderr
    state = json.loads(result.stdout)
    assert (state["interrupted"], [run["interrupted"] for run in state["runs"]]) == (True, [False, True])
    assert ModelGroup.load("group").finished == [1]
    rows = json.loads(expect("evaluate", "group", "--similarity", "pairs.tsv", "--json").stdout)
    assert {row["runs"] for row in rows} == {1}
    resumed = expect(*long, "--resume", "--json")
    assert "Resuming after" in resumed.stderr
    assert [run["out"][-1] for run in json.loads(resumed.stdout)["runs"]] == ["1", "2", "3"]
    assert ModelGroup.load("group").missing == []
