"""The measures of the study of recurrent networks against naive ones."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from studies.neural_study import TABLES, figures, means, ranks_of
from study import main

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
