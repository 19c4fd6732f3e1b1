"""`embeddings evaluate` of text vectors: pairs, retrieval, clustering and probes."""

import itertools
import json
import random

import numpy as np
import pytest
from commands import expect, table

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
