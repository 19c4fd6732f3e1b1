"""The table and the figure of a benchmark."""

import pytest

from embeddings.eval.benchmark import runner, tools, workspace

MACHINE = {
    "processor": "a processor",
    "cores": 2,
    "cores_available": 2,
    "system": "a system",
    "tools": {"embeddings": "0.1.0"},
    "date": "2025-01-01",
    "corpus": {"sources": ["text.txt"], "words": 100, "types": 10},
}


def test_document_runs_show_errors():
    judged = {"documents": "auto", "error of test": 0.25, "error of test covered": 4, "error of test total": 4}
    runs = [row("embeddings", 1, 1.0, **judged), row("gensim", 1, 4.0, **{**judged, "error of test": 0.5})]
    lines = runner.markdown(runs, MACHINE, [tools.OURS]).splitlines()
    heads = next(line for line in lines if line.startswith("| model"))
    assert "error of test (covered of 4)" in heads
    assert "WordSim-353" not in heads
    assert "| 0.500 (4) |" in next(line for line in lines if "| gensim |" in line)
    assert any("logistic regression" in line for line in lines)


def test_parts_of_a_set_are_columns_if_all_lines_have_them():
    whole = {"google-analogies": 0.25, "google-analogies covered": 8, "google-analogies total": 9}
    part = {f"google-analogies semantic{end}": value for end, value in (("", 0.5), (" covered", 3), (" total", 4))}
    both, one = row("embeddings", 1, 1.0, **whole, **part), row("gensim", 1, 4.0, **whole)

    def shown(*runs):
        return any("semantic" in line for line in runner.markdown(runs, MACHINE, [tools.OURS]).splitlines())

    assert shown(both, {**one, **part})
    assert not shown(both, one)
    assert shown(both, {**row("gensim", 1, None), "error": "it broke"})


def row(tool, seed, cpu, **more):
    times = dict.fromkeys(workspace.TIMES, cpu)
    shape = {"trainer": "cbow", "dim": 10, "negatives": 5, "epochs": 2, "threads": 1}
    return {**shape, "corpus_words": 100, "tool": tool, "version": "1", "seed": seed, **times, "error": "", **more}


def test_additional_sets_have_columns(tmp_path):
    judged = {"rare words": 0.4, "rare words covered": 10, "rare words total": 20}
    runs = [row("embeddings", seed, 1.0, wordsim353=0.5, **judged) for seed in (1, 2)]
    workspace.write_rows(runs, tmp_path / "r.csv")
    (ours,) = runner.summaries(workspace.read_rows(tmp_path / "r.csv"))
    assert ours.scores["rare words"] == (pytest.approx(0.4), 10, 20)
    assert not {"rare words", "rare words covered"} & set(ours.settings)
    assert list(ours.scores)[:3] == list(workspace.SETS)


def test_times_are_medians_and_scores_are_means():
    runs = [row("embeddings", seed, cpu, wordsim353=cpu / 10) for seed, cpu in enumerate([1.0, 2.0, 6.0])]
    runs += [row("gensim", seed, cpu) for seed, cpu in enumerate([30.0, 10.0, 20.0])]
    ours, theirs = runner.summaries(runs)
    assert ours.times["training_cpu"] == 2
    assert ours.scores["wordsim353"][0] == pytest.approx(0.3)
    assert ours.ranges["wordsim353"] == (0.1, 0.6)
    assert ours.words_per_second == 100 * 2 / 2
    assert theirs.ratios == dict.fromkeys(workspace.TIMES, 10)
    assert theirs.scores["wordsim353"] == (None, None, None)


def test_failures_and_incomplete_reading_are_remarks():
    failed = {**row("gensim", 1, None), "error": "it | broke"}
    lazy = row("fasttext", 1, 1.0, words_read=20)
    lines = runner.markdown([row("embeddings", 1, 1.0), failed, lazy], MACHINE, [tools.OURS, *tools.PEERS]).splitlines()
    assert next(line for line in lines if "| gensim |" in line).endswith("| 0 | 1 failed: it \\| broke |")
    assert next(line for line in lines if "| fasttext |" in line).endswith("| 1 | read only 10 % of the words |")


def test_varying_settings_are_columns():
    runs = [row("embeddings", 1, 1.0), {**row("embeddings", 1, 1.0), "dim": 300, "combine": "mean"}]
    lines = runner.markdown(runs, MACHINE, [tools.OURS]).splitlines()
    assert "Common settings: negatives 5, epochs 2, threads 1, combine mean." in lines
    assert next(line for line in lines if line.startswith("| model")).startswith("| model | dim | tool |")


def test_settings_of_other_objectives_are_not_shown():
    run = {**row("embeddings", 1, 1.0), "objective": "hierarchical-softmax", "tree": "huffman", "proposals": "unigram"}
    lines = runner.markdown([run], MACHINE, [tools.OURS]).splitlines()
    assert "Common settings: dim 10, epochs 2, threads 1, objective hierarchical-softmax, tree huffman." in lines


def test_the_legend_fits_into_the_figure():
    shapes = [{"dim": dim, "negatives": negatives} for dim in (100, 300) for negatives in (5, 15, 100)]
    runs = [row(tool, 1, 1.0, wordsim353=0.5, **shape) for shape in shapes for tool in ("embeddings", "gensim")]
    figure = runner.quality_figure(runs)
    figure.canvas.draw()
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 2 + len(shapes)
    box, whole = legend.get_window_extent(), figure.bbox
    assert whole.x0 <= box.x0 < box.x1 <= whole.x1
    assert whole.y0 <= box.y0 < box.y1 <= whole.y1


def test_every_point_has_its_mark_in_the_legend():
    """Settings that differ only between models have no mark; one that differs within a model has, with a line."""
    rates = [{"trainer": "skipgram", "learning_rate": 0.05}, *({"learning_rate": rate} for rate in (0.05, 0.075))]
    figure = runner.quality_figure([row("embeddings", 1, 1.0, wordsim353=0.5, **each) for each in rates])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "embeddings", "learning rate 0.05", "learning rate 0.075",
    ]  # fmt: skip
    marks = [line.get_marker() for axes in figure.axes for line in axes.lines]
    assert sorted(marks) == sorted(["None", "o", "None", "o", "s"])
    figure = runner.quality_figure([row("embeddings", 1, 1.0, wordsim353=0.5, **each) for each in rates[:2]])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["embeddings"]
    assert all(line.get_marker() == "o" for axes in figure.axes for line in axes.lines)


def test_tools_of_unknown_training_time_are_drawn_by_whole_runs():
    runs = [row(tool, 1, 1.0, wordsim353=0.5) for tool in ("embeddings", "gensim")]
    (axes,) = [axes for axes in runner.quality_figure(runs).axes if axes.get_xlabel()]
    assert "whole" not in axes.get_xlabel()
    runs[1] |= {"training_cpu": None, "training_wall": None}
    (axes,) = [axes for axes in runner.quality_figure(runs).axes if axes.get_xlabel()]
    assert "whole" in axes.get_xlabel()
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() != "None"]
    assert drawn == [one["corpus_words"] * one["epochs"] / one["whole_cpu"] for one in runs]
