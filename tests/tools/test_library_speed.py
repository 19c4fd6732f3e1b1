"""Measurements of this package beside other libraries, on small files."""

import random

import numpy as np
import pytest
from optional_libraries import import_gensim, needs
from studies import library_speed
from studies.grid import read_rows
from studies.library_speed import READERS, Loading, TextVectors
from study import main


def test_every_reader_reads_a_small_file(tmp_path):
    import_gensim()
    main(["loading", "--words", "50", "--dim", "4", "--rounds", "1", "--out", str(tmp_path / "loading")])
    about, _, heads, _, *lines = (tmp_path / "loading.md").read_text().splitlines()
    assert "50 vectors of 4 components" in about
    assert heads.strip("| ").split(" | ")[2:] == list(Loading.columns)
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert [row[:2] for row in rows] == [
        [form, library] for form, libraries in READERS.items() for library in libraries
    ]
    assert all(float(value) >= 0 for row in rows for value in row[2:])


@pytest.mark.parametrize("texts", [pytest.param(70, marks=needs("tokenizers"))])
def test_text_vectors_of_a_small_file(texts, tmp_path):
    """Without peers there is one row, whose vectors are equal to themselves."""
    text = "".join(
        f"The {number}th paragraph is about the number {number} and about other numbers.\n" for number in range(90)
    )
    (tmp_path / "t.txt").write_text(text)
    arguments = ["--text", str(tmp_path / "t.txt"), "--texts", str(texts), "--dim", "8", "--rounds", "1"]
    main(["text-vectors", *arguments, "--out", str(tmp_path / "speed")])
    about, _, *lines = (tmp_path / "speed.md").read_text().splitlines()
    assert "70 paragraphs" in about
    heads, _, row, *_ = (line.strip("| ").split(" | ") for line in lines)
    assert heads == ["tool", *TextVectors.columns]
    assert row[0] == "embeddings"
    assert row[-2:] == ["1.000000", "0.000%"]


@pytest.mark.slow
def test_pairs_of_a_small_file(tmp_path, monkeypatch):
    """Without peers there is a row for each learning rate, which has learned from the pairs."""
    rng = random.Random(1)
    topics = [[f"word{topic}x{n}" for n in range(12)] for topic in range(8)]
    paragraphs = [" ".join(" ".join(rng.sample(topic, 8)).capitalize() + "." for _ in range(4)) for topic in topics * 5]
    (tmp_path / "t.txt").write_text("Title\n" + "\n".join(paragraphs) + "\n")
    monkeypatch.setattr(library_speed, "is_installed", lambda name, library: False)
    out = tmp_path / "speed"
    arguments = ["pair-speed", "--text", str(tmp_path / "t.txt"), "--out", str(out)]
    sizes = {"pairs": 100, "held-out": 8, "words": 6, "dim": 16, "batch-size": 8, "epochs": 8, "rounds": 1}
    arguments += [part for name, size in sizes.items() for part in (f"--{name}", str(size))]
    arguments += ["--learning-rate", "0.05", "0.2"]
    main(arguments)
    about, _, heads, _, *lines = out.with_suffix(".md").read_text().splitlines()
    assert "100 pairs of 6 and 6 words" in about
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert heads.strip("| ").split(" | ")[2:] == list(library_speed.PairSpeed.columns)
    assert [row[:2] for row in rows] == [[library_speed.OURS, "0.05"], [library_speed.OURS, "0.2"]]
    assert all(float(row[5]) < np.log(8) for row in rows)
    assert len(read_rows(out.with_suffix(".tsv"))) == 2 * len(library_speed.PairSpeed.columns)


def test_accuracy_counts_nearest_texts():
    rows = np.eye(4, 6)
    assert library_speed.accuracy(rows, np.array([[[0, 0], [0, 1]], [[2, 2], [2, 3]]])) == 1
    assert library_speed.accuracy(rows, np.array([[[0, 0], [1, 1]], [[2, 2], [0, 3]]])) == 0
