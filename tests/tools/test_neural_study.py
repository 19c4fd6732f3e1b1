"""The measures of the study of recurrent networks against naive ones."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from studies.neural_study import (
    TABLES,
    SubstitutionItem,
    figures,
    means,
    precision,
    ranks_of,
    read_completions,
    read_substitution,
    substitution_scores,
)
from study import main

import embeddings as em

UNKNOWN = 4
RESULTS = Path(__file__).parents[2] / "eval" / "results" / "neural"


def test_tables_of_the_documentation_are_those_of_the_rows(tmp_path):
    for name in TABLES:
        shutil.copy(RESULTS / f"{name}.tsv", tmp_path)
    main(["neural", "--only-table", "--table", *TABLES, "--out", str(tmp_path / "tables")])
    for name in TABLES:
        assert (tmp_path / f"{name}.md").read_text("utf-8") == (RESULTS / f"{name}.md").read_text("utf-8")


def test_ranks_count_the_words_with_a_higher_product():
    rng = np.random.default_rng(0)
    outputs, sentences = rng.normal(size=(UNKNOWN, 3)), [np.array([2, UNKNOWN, 0]), np.array([UNKNOWN]), np.array([3])]
    contexts = [rng.normal(size=(len(one), 3)) for one in sentences]
    expected = []
    for ids, rows in zip(sentences, contexts, strict=True):
        for word, row in zip(ids.tolist(), rows, strict=True):
            if word != UNKNOWN:
                order = sorted(range(UNKNOWN), key=lambda one: -float(outputs[one] @ row))
                expected.append(1 + order.index(word))
    assert np.concatenate(list(ranks_of(sentences, contexts, outputs))).tolist() == expected


def test_means_are_over_the_known_words_around_a_word():
    matrix = np.random.default_rng(1).normal(size=(UNKNOWN, 2))
    model = SimpleNamespace(settings={"window": 2}, vectors=SimpleNamespace(matrix=matrix))
    ids = [0, 1, UNKNOWN, 3, 2, 0]
    for window in (None, 1, 9):
        [rows] = means(model, [np.array(ids)], window=window)
        size = window or 2
        for place, row in enumerate(rows):
            around = [ids[at] for at in range(len(ids)) if 0 < abs(at - place) <= size and ids[at] != UNKNOWN]
            np.testing.assert_allclose(row, matrix[around].mean(axis=0))


def test_figures_of_ranks():
    assert figures(np.array([1, 2, 4, 100])) == ["4", "0.440", "0.750", "3"]


def test_substitutes_are_scored_by_the_people_who_gave_them():
    words = ["bright", "clever", "smart", "dull", "x1"]
    model = SimpleNamespace(vectors=em.Vectors(words, np.eye(5, dtype=np.float32)))
    item = SubstitutionItem(
        "bright", "a [] boy", {"clever": 3, "smart": 1, "not dull": 1}, ["dull", "clever", "smart", "rare"]
    )
    gap, best, oot = substitution_scores(model, item, np.array([9.0, 1, 2, 3, 8]))
    assert gap == pytest.approx((1 / 2 + 4 / 3) / (3 + 4 / 2))  # dull, smart, clever
    assert best == 0
    assert oot == pytest.approx(4 / 5)
    assert substitution_scores(model, item, np.array([9.0, 7, 2, 3, 8]))[:2] == [
        pytest.approx(1.0 - (2 - 4 / 3) / 5),
        0.6,
    ]
    assert substitution_scores(model, SubstitutionItem("x", "[]", {"a b": 1}, []), np.arange(5.0))[0] is None


def test_precision_is_the_sum_of_means_at_gains():
    assert precision([0, 2, 0, 1]) == pytest.approx(2 / 2 + 3 / 4)


def test_substitution_and_completion_are_read(tmp_path):
    (tmp_path / "lst.gold.candidates").write_text("side.n::part;for us;left-hand;team\n")
    (tmp_path / "lst_test.gold").write_text("side.n 301 :: team 5;\nside.n 302 :: for us 1;part 2;\n")
    (tmp_path / "lst_test.preprocessed").write_text("side.n\t302\t1\tour side :\nside.n\t9\t0\tside without answers\n")
    (tmp_path / "sentence-completion.csv").write_text('id,question,a),b),c),d),e)\n1,"I am _____, too.",a,b,c,d,e\n')
    (tmp_path / "sentence-completion-answers.csv").write_text("id,answer\n1,c\n")
    [item] = read_substitution(tmp_path)
    assert item == SubstitutionItem("side", "our [] :", {"for us": 1, "part": 2}, ["part", "team"])
    assert read_completions(tmp_path) == [("I am [], too.", ["a", "b", "c", "d", "e"], 2)]
