"""The measurement of training on pairs, on a small file."""

import random

import numpy as np
import pytest
from studies import text_pair_speed
from studies.grid import read_rows
from study import main


@pytest.mark.slow
def test_a_small_file(tmp_path, monkeypatch):
    """Without peers there is a row for each learning rate, which has learned from the pairs."""
    rng = random.Random(1)
    topics = [[f"word{topic}x{n}" for n in range(12)] for topic in range(8)]
    paragraphs = [" ".join(" ".join(rng.sample(topic, 8)).capitalize() + "." for _ in range(4)) for topic in topics * 5]
    (tmp_path / "t.txt").write_text("Title\n" + "\n".join(paragraphs) + "\n")
    monkeypatch.setattr(text_pair_speed, "installed", lambda python, modules: [])
    out = tmp_path / "speed"
    arguments = [
        "pair-speed",
        "--text",
        str(tmp_path / "t.txt"),
        "--pairs",
        "100",
        "--held-out",
        "8",
        "--words",
        "6",
        "--dim",
        "16",
    ]
    arguments += ["--batch-size", "8", "--epochs", "8", "--rounds", "1", "--out", str(out)]
    arguments += ["--learning-rate", "0.05", "0.2"]
    main(arguments)
    about, _, heads, _, *lines = out.with_suffix(".md").read_text().splitlines()
    assert "100 pairs of 6 and 6 words" in about
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert heads.strip("| ").split(" | ")[2:] == list(text_pair_speed.PairSpeed.columns)
    assert [row[:2] for row in rows] == [[text_pair_speed.OURS, "0.05"], [text_pair_speed.OURS, "0.2"]]
    assert all(float(row[5]) < np.log(8) for row in rows)
    assert len(read_rows(out.with_suffix(".tsv"))) == 2 * len(text_pair_speed.PairSpeed.columns)


def test_accuracy_counts_nearest_texts():
    rows = np.eye(4, 6)
    assert text_pair_speed.accuracy(rows, np.array([[[0, 0], [0, 1]], [[2, 2], [2, 3]]])) == 1
    assert text_pair_speed.accuracy(rows, np.array([[[0, 0], [1, 1]], [[2, 2], [0, 3]]])) == 0
