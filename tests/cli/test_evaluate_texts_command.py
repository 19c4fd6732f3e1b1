"""`embeddings evaluate` of text vectors: pairs, retrieval, clustering and probes."""

import itertools
import json
import random

import numpy as np
import pytest
from commands import expect, refused, table

import embeddings as em

RNG = random.Random(1)
WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(1).standard_normal((30, 6))
    em.Vectors(WORDS, rows, counts=range(60, 30, -1)).save("v", format="arrow")
    texts = [" ".join(RNG.sample(WORDS, 5)) for _ in range(60)]
    lines = [f"{a}\t{b}\t{n % 6}\n" for n, (a, b) in enumerate(itertools.pairwise(texts))]
    (tmp_path / "rated.txt").write_text("".join(lines))
    (tmp_path / "labelled.tsv").write_text(
        "text\tlabel\n" + "".join(f"{t}\t{'ab'[n % 2]}\n" for n, t in enumerate(texts))
    )
    (tmp_path / "queries.jsonl").write_text("".join(f'{{"_id": "{n}", "text": "{texts[n]}"}}\n' for n in range(12)))
    (tmp_path / "corpus.jsonl").write_text("".join(f'{{"_id": "{n}", "text": "{texts[-n]}"}}\n' for n in range(30)))
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"{n}\t{n + 5}\t1\n" for n in range(12))
    )
    return tmp_path


SETS = [
    "--pairs", "rated.txt", "--retrieval", "queries.jsonl", "corpus.jsonl", "qrels.tsv", "--clustering", "labelled.tsv",
    "--probe", "labelled.tsv",
]  # fmt: skip


def test_all_kinds_in_one_command():
    rows = json.loads(expect("evaluate", "v", *SETS, "--pool", "sif", "--remove-components", "1", "--json").stdout)
    whole = [(row["set"], row["measure"], row["method"]) for row in rows if not row["is_detail"]]
    assert whole == [
        ("rated", "spearman", None), ("rated", "pearson", None), ("rated", "word coverage", None),
        *((rows[3]["set"], measure, None) for measure in ("ndcg@10", "recall@10", "recall@100", "mrr@10")),
        (rows[3]["set"], "word coverage", None),
        ("labelled", "v-measure", None), ("labelled", "word coverage", None),
        *(("labelled", measure, "logistic regression") for measure in ("macro-f1", "accuracy")),
        *(("labelled", measure, "most frequent label") for measure in ("macro-f1", "accuracy")),
        ("labelled", "word coverage", None),
    ]  # fmt: skip
    assert all("pool sif, remove_components 1" in row["protocol"] for row in rows if row["low"] and not row["method"])
    lines = table(expect("compare", "v", "v", *SETS).stdout)
    assert {float(line["difference"]) for line in lines} == {0}


def test_index_and_columns(folder):
    retrieval = SETS[2:6]
    exact, indexed = (table(expect("evaluate", "v", *retrieval, *more).stdout) for more in ([], ["--index", "exact"]))
    assert exact == indexed
    columns = ["--left-column", "2", "--right-column", "1", "--rating-column", "3"]
    same, swapped = (table(expect("evaluate", "v", *SETS[:2], *more).stdout) for more in ([], columns))
    assert same == swapped


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        (["--pool", "sif"], 2, ["--pool", "--pairs"]),
        (["--pairs", "rated.txt", "--index", "lsh"], 2, ["--index", "--retrieval"]),
        (["--pairs", "missing.txt"], 1, ["missing.txt"]),
        (["--pairs", "same.txt"], 1, ["same.txt", "same"]),
        (["--pairs", "equal.txt"], 1, ["equal.txt", "ratings", "vary"]),
        (["--pairs", "words.txt"], 1, ["words.txt", "line 2", "number"]),
        (["--pairs", "empty.txt"], 1, ["empty.txt", "no pairs of texts"]),
        (["--pairs", "rated.txt", "--left-column", "9", "--right-column", "1"], 1, ["'9'", "1, 2, 3"]),
        (
            ["--retrieval", "queries.jsonl", "corpus.jsonl", "bad.tsv"],
            1,
            ["line 2", "'nine'", "queries.jsonl"],
        ),
        (["--probe", "labelled.tsv", "--label-column", "topic"], 1, ["topic", "text, label"]),
        (["--clustering", "one.tsv"], 1, ["one.tsv", "two"]),
    ],
)
def test_bad_input_is_one_line(folder, arguments, code, facts):
    (folder / "same.txt").write_text("w1\tw2\t1\n" * 4)
    (folder / "equal.txt").write_text("w1\tw2\t1\nw3\tw4\t1\n")
    (folder / "words.txt").write_text("w1\tw2\t1\nw3\tw4\tbad\n")
    (folder / "empty.txt").write_text("\tw2\t1\nw3\t\t2\n")
    (folder / "bad.tsv").write_text("1\t2\t1\nnine\t2\t1\n")
    (folder / "one.tsv").write_text("text\tlabel\nw1\ta\nw2\ta\n")
    message = refused("evaluate", "v", *arguments, code=code)
    assert all(fact in message for fact in facts), message
