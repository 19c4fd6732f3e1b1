"""Plots: every label, value and interval is in its place, nothing overlaps, and files are written as asked."""

from itertools import combinations

import numpy as np
import pytest
from commands import expect, refused

import embeddings as em
from embeddings.analysis.confidence import ConfidentNeighbour, ConfidentNeighbours, ConfidentSimilarity
from embeddings.analysis.usage_change import ChangedWord, ChangedWords
from embeddings.errors import OutputError
from embeddings.eval.statistics.results import Result, Scores
from embeddings.vectors.search import Neighbours

pytest.importorskip("matplotlib")


def marks(figure):
    """The label, the place of the mark and the interval of each row, panel by panel."""
    rows = []
    for axes in figure.axes:
        names = dict(zip(axes.get_yticks().tolist(), (one.get_text() for one in axes.get_yticklabels()), strict=True))
        bars = {}
        for bar in (one for one in axes.collections if one.get_linewidth()[0] > 1):  # not the lines of the rows
            for (x, y), (end, _) in bar.get_segments():
                bars[round(y, 6)] = (x, end)
        for line in axes.lines:
            if line.get_marker() not in ("None", None):
                x, y = line.get_xdata()[0], line.get_ydata()[0]
                rows.append((names[min(names, key=lambda place: abs(place - y))], x, bars.get(round(y, 6))))
    return rows


def result(name, value, **more):
    one = {"vectors": "a", "measure": "accuracy", "low": value - 0.1, "high": value + 0.1} | more
    return Result(set=name, value=value, covered=8, total=9, **one)


TABLES = {
    "neighbours": Neighbours([("cat", 0.7), ("$x_1$", 0.5), ("long" * 20, 0.1)]),
    "confidence": ConfidentNeighbours(
        [ConfidentNeighbour("dog", ConfidentSimilarity(0.6, 0.2, 0.7, 0.1, 0.1), 0.9, 1, 2, 0.3, 0.8)]
    ),
    "shift": ChangedWords([ChangedWord("cell", 0.9, 0.4, 2.5, 0.01, 0.2, (20, 30), ([], []), ())]),
    "scores": Scores(
        [
            result("one", 0.5),
            result("one", 0.2, vectors="a long/path/" * 9),
            result("two", -1.5, measure="effect size", section="maths"),
        ]
    ),
}
EXPECTED = {
    "neighbours": [("cat", 0.7), ("$x_1$", 0.5), ("long" * 9 + "lon…", 0.1)],
    "confidence": [("dog", 0.6, (0.2, 0.7))],
    "shift": [("cell", 0.9, (0.0, 0.8)), ("cell", 0.4, (0.0, 0.8))],
    "scores": [("one", 0.5, (0.4, 0.6)), ("one", 0.2, (0.1, 0.3)), ("maths", -1.5, (-1.6, -1.4))],
}


@pytest.mark.parametrize("name", TABLES)
def test_values_and_intervals_are_in_their_places(name):
    for found, expected in zip(marks(TABLES[name].plot()), EXPECTED[name], strict=True):
        assert found[0] == expected[0]
        assert np.allclose(np.hstack(found[1 : len(expected)]), np.hstack(expected[1:]))


@pytest.mark.parametrize("name", TABLES)
def test_no_text_overlaps_another_or_leaves_the_figure(name):
    figure = TABLES[name].plot(title="a long title " * 9)
    figure.draw_without_rendering()
    texts = [
        one
        for axes in figure.axes
        for one in (*axes.get_yticklabels(), *axes.texts, axes.xaxis.label, axes._left_title)
    ]
    boxes = [one.get_window_extent() for one in texts if one.get_text()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_files_are_the_same_each_time_and_replaced_with_force(tmp_path):
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
        for path in paths:
            TABLES["neighbours"].plot(path)
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert paths[0].read_bytes().startswith(start)
    assert ">cat<" in (tmp_path / "0.svg").read_text(encoding="utf-8")
    with pytest.raises(OutputError, match="exists"):
        TABLES["neighbours"].plot(tmp_path / "0.svg")
    TABLES["neighbours"].plot(tmp_path / "0.svg", force=True)
    with pytest.raises(OutputError, match=r"\.svg"):
        TABLES["neighbours"].plot(tmp_path / "0.jpg")
    assert TABLES["neighbours"].plot()._repr_svg_().startswith("<?xml")


def test_a_long_table_is_cut_and_says_so(caplog):
    figure = Neighbours([(f"w{number}", 0.5) for number in range(100)]).plot()
    assert len(figure.axes[0].get_yticks()) == 60
    assert "60 of 100" in caplog.text


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(em.EmbeddingsError, match=r"embeddings-toolkit\[plot\]"):
        TABLES["neighbours"].plot()


def test_commands_draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = em.Vectors([f"w{number}" for number in range(20)], np.random.default_rng(0).normal(size=(20, 4)))
    vectors.save("a.txt")
    vectors.normalize().save("b.txt")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"w{one}\tw{(3 * one + 1) % 20}\t{one % 7}\n" for one in range(20)))
    both = ("a.txt", "b.txt")
    for command, words in (
        (("neighbours", both[0], "w0", "w1"), ("w0", "w1", "cosine")),
        (("evaluate", *both, "--similarity", pairs), (">a.txt<", ">b.txt<", "20 of 20 items")),
        (("compare", *both, "--similarity", pairs), ("a.txt minus b.txt", "corrected p")),
    ):
        path = tmp_path / f"{command[0]}.svg"
        expect(*command, "--plot", path)
        assert all(word in path.read_text(encoding="utf-8") for word in words)
        assert "exists" in refused(*command, "--plot", path, code=1)
        expect(*command, "--plot", path, "--force")


def test_a_table_without_rows_is_refused():
    vectors = em.Vectors(["a", "b"], [[0, 0], [1, 0]])
    with pytest.raises(em.EmbeddingsError, match="no rows"):
        vectors.most_similar("a").plot()
