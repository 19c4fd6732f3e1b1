"""Studies of text vectors: tables, the retrieval sets of held-out articles, loss curves, and runs on a small text."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from studies import text_pair_study
from studies.grid import append_rows, read_rows
from studies.text_pair_study import TASKS, make_query
from study import main

import embeddings as em
from embeddings.training.run_log import HELD_OUT_LOSS, read_curves

ROWS = [
    ("skip-gram", 1, "", "", "CPU seconds", 9.4),
    ("skip-gram", 1, "sts", "mean", "spearman", 50.0),
    ("skip-gram", 1, "title", "mean", "recall@10", 40.0),
    ("skip-gram", 1, "sts", "SIF", "spearman", 60.0),
    ("skip-gram", 2, "", "", "CPU seconds", 8.6),
    ("skip-gram", 2, "sts", "mean", "spearman", 52.0),
    ("all pairs", 1, "sts", "mean", "spearman", 65.25),
]
TABLE = """Spearman's correlation with ratings:

| training | sts, mean | sts, SIF | CPU seconds |
| --- | ---: | ---: | ---: |
| skip-gram | 51.0 ± 1.0 | 60.0 | 9 |
| all pairs | 65.2 |  |  |

Recall at 10, of held-out articles among all:

| training | title, mean | CPU seconds |
| --- | ---: | ---: |
| skip-gram | 40.0 | 9 |
"""
PARAGRAPH = "Anarchism is a political philosophy. It holds the state to be undesirable; anarchism opposes authority."


def test_tables_are_means_over_seeds(tmp_path):
    columns = (*text_pair_study.TextPairs.keys, *text_pair_study.TextPairs.values)
    append_rows(tmp_path / "results.tsv", columns, ROWS)
    main(["text-pairs", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


def test_queries_of_an_article():
    article = ["Anarchism", "Heading.", PARAGRAPH, "Another paragraph that is not used for this, as it is the second."]
    rest = "It holds the state to be undesirable;  opposes authority."
    assert make_query("title", article) == ("Anarchism", PARAGRAPH)
    assert make_query("title-words", article) == ("Anarchism", f" is a political philosophy. {rest}")
    assert make_query("sentence", article) == ("Anarchism is a political philosophy.", rest)
    assert make_query("title", ["Title", "Heading."]) is None
    assert make_query("sentence", ["Title", "Only one sentence, which is long enough to be a paragraph."]) is None


@pytest.mark.slow
def test_a_run_holds_articles_out_and_skips_what_the_file_holds(tmp_path, capsys):
    rng = random.Random(1)
    words = [f"word{n}" for n in range(40)]

    def sentence():
        return " ".join(rng.sample(words, 9)).capitalize() + "."

    articles = [[f"Title{n}", *(" ".join(sentence() for _ in range(3)) for _ in range(3))] for n in range(40)]
    (tmp_path / "text.txt").write_text("\n\n".join("\n".join(article) for article in articles))
    rated = "".join(f"{sentence()}\t{sentence()}\t{n % 5}\n" for n in range(30))
    (tmp_path / "rated.txt").write_text(rated)
    path = tmp_path / "new" / "results.tsv"
    command = ["text-pairs", "--out", str(path.with_suffix("")), "--corpus", str(tmp_path / "text.txt")]
    command += ["--ratings-train", str(tmp_path / "rated.txt")]
    command += ["--ratings", str(tmp_path / "rated.txt"), "--held-out", "10", "--dim", "8", "--threads", "1"]
    command += ["--epochs", "1", "--pair-epochs", "1", "--training", "skip-gram, then all pairs, then rated pairs"]
    command += ["skip-gram, then all pairs, then some with hard negatives"]
    main(command)
    assert "then rated pairs 1: " in capsys.readouterr().err
    rows = read_rows(path)
    assert {row["set"] for row in rows} == {"", "rated", *TASKS}
    assert {row["pool"] for row in rows} == {"", *text_pair_study.POOLS}
    assert "| skip-gram, then all pairs, then rated pairs | " in path.with_suffix(".md").read_text(encoding="utf-8")
    first = path.read_text()
    main(command)
    assert path.read_text() == first


def test_held_out_pairs_share_no_text_with_the_others(tmp_path):
    lines = [f"a b{n}\tthe b{n}" for n in range(38)] + ["a b3\tc", "d e\tthe f"]
    (tmp_path / "pairs.tsv").write_text("one\tother\n" + "\n".join(lines) + "\n")
    study = text_pair_study.PairCandidates("pair-candidates", {"pairs": {"few": str(tmp_path / "pairs.tsv")}})
    study.folder = tmp_path
    study.prepare()
    assert [json.loads(line) for line in (tmp_path / "few.jsonl").read_text().splitlines()] == [
        {"a": "a b36", "b": "the b36"}, {"a": "a b37", "b": "the b37"}, {"a": "d e", "b": "the f"},
    ]  # fmt: skip


def test_recall_among_candidates(tmp_path):
    (tmp_path / "pairs.tsv").write_text("one\tother\n" + "".join(f"a b{n}\tthe b{n} c\n" for n in range(60)))
    (tmp_path / "rated.txt").write_text("".join(f"a b{n}\tthe b{3 * n}\t{n % 5}\n" for n in range(20)))
    command = ["pair-candidates", "--pairs", f"few={tmp_path / 'pairs.tsv'}", "--ratings", str(tmp_path / "rated.txt")]
    command += ["--candidates", "2", "--seed", "1", "--training", "defaults", text_pair_study.GUIDED, "--dim", "8"]
    main([*command, "--out", str(tmp_path / "out")])
    rows = {(row["training"], row["measure"]) for row in read_rows(tmp_path / "out.tsv")}
    assert rows == {
        (name, measure)
        for name in ("defaults", text_pair_study.GUIDED)
        for measure in ("CPU seconds", "1 in 2, recall@1", "rated")
    }


def test_held_out_articles_are_not_learned_from(tmp_path):
    (tmp_path / "text.txt").write_text("\n\n".join(f"T{n}\n{PARAGRAPH} Number{n}." for n in range(12)))
    options = {"corpus": str(tmp_path / "text.txt"), "held_out": 3}
    one = text_pair_study.TextPairs("text-pairs", options)
    one.folder = tmp_path / "folder"
    one.folder.mkdir()
    text = one.text.read_text()
    queries = [json.loads(line)["text"] for line in Path(one.retrieval["title"][0]).read_text().splitlines()]
    assert queries == ["T0", "T4", "T8"]
    assert len(Path(one.retrieval["title"][1]).read_text().splitlines()) == 12
    assert Path(one.retrieval["title"][2]).read_text().splitlines() == ["0\t0\t1", "4\t4\t1", "8\t8\t1"]
    assert [f"T{n}\n" in text for n in range(12)] == [n % 4 != 0 for n in range(12)]


def toy_articles(count, topics):
    """Articles whose sentences are words of one topic."""
    rng = random.Random(1)

    def sentence(topic):
        return " ".join(rng.sample([f"word{topic}x{n}" for n in range(12)], 8)).capitalize() + "."

    return [[f"Title{n}", " ".join(sentence(n % topics) for _ in range(5))] for n in range(count)]


def test_scores_of_a_batch():
    """Loss and accuracy are those of a softmax in both directions."""
    vectors = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32))
    loss, accuracy = text_pair_study.score_batch(vectors, [("a", "a"), ("b", "c"), ("c", "b")])
    cosines = np.array([[1, 0, 0.6], [0.6, 0.8, 1], [0, 1, 0.8]]) / text_pair_study.TEMPERATURE
    own = cosines.diagonal()
    expected = [np.log(np.exp(cosines).sum(axis)) - own for axis in (0, 1)]
    assert np.isclose(loss, np.mean(expected), rtol=1e-5)
    assert accuracy == 1 / 3


def test_the_curve_has_held_out_articles(tmp_path):
    articles = toy_articles(10, 10)
    (tmp_path / "t.txt").write_text("\n\n".join("\n".join(article) for article in articles))
    training, held_out = text_pair_study.split_pairs(tmp_path / "t.txt", 0.2)
    topics = [{text.split("x")[0].lower() for pair in part for text in pair} for part in (training, held_out)]
    assert [len(part) for part in (training, held_out)] == [32, 8]
    assert topics[1] == {"word0", "word5"}
    assert topics[0].isdisjoint(topics[1])


@pytest.mark.slow
def test_a_picture_of_a_small_text(tmp_path, monkeypatch):
    (tmp_path / "t.txt").write_text("\n\n".join("\n".join(article) for article in toy_articles(60, 12)))
    drawn, draw = [], text_pair_study.draw_loss_curve

    def draw_and_read(log, out, *, force):
        drawn.append(read_curves(log))
        draw(log, out, force=force)

    monkeypatch.setattr(text_pair_study, "draw_loss_curve", draw_and_read)
    arguments = ["--text", str(tmp_path / "t.txt"), "--out", str(tmp_path / "c"), "--dim", "16", "--epochs", "3"]
    main(["pair-curve", *arguments, "--learning-rate", "0.2"])
    assert drawn[0].unit == "pairs"
    losses = [loss for _, loss in drawn[0].scores[HELD_OUT_LOSS]]
    assert len(losses) == 3
    assert max(losses) < np.log(12)
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")
