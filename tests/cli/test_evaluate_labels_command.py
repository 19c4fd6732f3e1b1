"""`embeddings evaluate --labels`."""

import json

import pytest
from commands import expect, run, table
from supervised_models import supervised_model

LINES = ["__label__a the where", "naïve a a __label__é", "__label__c __label__d 北海道", "the"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.ftz").write_bytes(supervised_model(quantised=True, pruned=11).data)
    (tmp_path / "t.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path


def test_table():
    result = expect("evaluate", "m.ftz", "m.ftz", "--labels", "t.txt", "-k", 2)
    rows = table(result.stdout)
    assert "t.txt: 1 text without labels" in result.stderr
    measures = [*["precision@2", "recall@2", "f1@2", "macro-f1@2"] * 2, "calibration error"]
    assert [row["measure"] for row in rows if row["measure"] != "confusion"] == measures * 2
    assert {row["section"] for row in rows if row["measure"] != "confusion"} == {"all"}
    assert {row["total"] for row in rows if row["section"] == "all"} == {"3"}
    rows = table(expect("evaluate", "m.ftz", "--labels", "t.txt", "--sections").stdout)
    assert {"a", "é", "c", "d"} <= {row["section"] for row in rows}


def test_metrics():
    result = expect("evaluate", "m.ftz", "--labels", "t.txt", "--metric", "precisionAtRecall:30:__label__a", "-k", -1)
    (row,) = [row for row in table(result.stdout) if row["measure"] == "precision-at-recall:30@all"]
    assert row["section"] == "a"
    assert "'zz'" in run("evaluate", "m.ftz", "--labels", "t.txt", "--metric", "f1:zz").stderr


def test_single_labels_are_shown_once_and_unknown_ones_are_named(folder):
    """Precision and recall equal F1, so the table leaves them out; --sections and --json have them."""
    (folder / "single.txt").write_text("__label__a the where\n__label__é naïve a\n__label__pos, a\n")
    result = expect("evaluate", "m.ftz", "--labels", "single.txt")
    rows = [row for row in table(result.stdout) if row["section"] == "all"]
    assert [row["measure"] for row in rows] == ["f1@1", "macro-f1@1", "f1@1", "macro-f1@1", "calibration error"]
    assert result.stderr.count("'pos,'") == 1
    everything = {
        row["measure"] for row in json.loads(expect("evaluate", "m.ftz", "--labels", "single.txt", "--json").stdout)
    }
    assert {"precision@1", "recall@1", "confusion"} <= everything
