"""Association tests against their definition, and broken files."""

from itertools import combinations
from statistics import mean, stdev

import numpy as np
import pytest

from embeddings.eval import compare, evaluate
from embeddings.vectors.vectors import Vectors

LISTS = {
    "X": ("target", ["x1", "x2", "x3", "X4"]), "Y": ("target", ["y1", "y2", "y3", "missing"]),
    "A": ("attribute", ["a1", "a2"]), "B": ("attribute", ["b1", "b2", "b3"]),
}  # fmt: skip


@pytest.fixture
def tests(tmp_path):
    path = tmp_path / "lists.tsv"
    rows = [f"one\t{name}\t{word}\t{role}\n" for name, (role, words) in LISTS.items() for word in words]
    path.write_text("Test\tList\tWord\tRole\n" + "".join(rows))
    return path


@pytest.fixture
def vectors():
    words = ["x1", "x2", "x3", "x4", "y1", "y2", "y3", "a1", "a2", "b1", "b2", "b3"]
    return Vectors(words, np.random.default_rng(2).standard_normal((12, 5)), counts=range(112, 100, -1))


def association(vectors, word):
    return mean(vectors.similarity(word, a) for a in ("a1", "a2")) - mean(
        vectors.similarity(word, b) for b in ("b1", "b2", "b3")
    )


def test_effect_size_and_p_equal_their_definitions(vectors, tests):
    effect, p = evaluate(vectors, association=tests)
    of_x = [association(vectors, word) for word in ("x1", "x2", "x3", "x4")]
    of_y = [association(vectors, word) for word in ("y1", "y2", "y3")]
    assert effect.value == pytest.approx((mean(of_x) - mean(of_y)) / stdev(of_x + of_y), abs=1e-6)
    everyone = of_x + of_y
    differences = [
        mean(everyone[n] for n in part) - mean(everyone[n] for n in range(7) if n not in part)
        for part in combinations(range(7), 4)
    ]
    observed = mean(of_x) - mean(of_y)
    assert p.value == pytest.approx(np.mean([one >= observed - 1e-9 for one in differences]))
    assert (effect.covered, effect.total, effect.section) == (7, 8, "one")
    assert "only 2 words" in effect.note


def test_random_divisions_agree_with_all_of_them(monkeypatch, vectors, tests):
    from embeddings.eval.tasks import word_association

    exact = evaluate(vectors, association=tests)[1].value
    monkeypatch.setattr(word_association, "EXACT", 1)
    assert evaluate(vectors, association=tests)[1].value == pytest.approx(exact, abs=0.01)


def test_an_interval_and_a_paired_test_are_over_target_words(tmp_path):
    rng = np.random.default_rng(3)
    names = [f"{side}{n}" for side in "xyab" for n in range(12)]
    base = np.repeat([[1.0, 0, 0], [0, 1, 0], [1, 0.2, 0], [0.2, 1, 0]], 12, axis=0)
    biased, neutral = (Vectors(names, one + 0.3 * rng.standard_normal((48, 3))) for one in (base, np.ones((48, 3))))
    path = tmp_path / "lists.csv"
    rows = [f"t,{name[0]},{name},{'target' if name[0] in 'xy' else 'attribute'}\n" for name in names]
    path.write_text("study,condition,word,role\n" + "".join(rows))
    effect = evaluate(biased, association=path)[0]
    assert 1 < effect.low < effect.value < effect.high
    (test,) = compare(biased, neutral, association=path)
    assert test.difference > 0.5
    assert test.p < 0.05


def test_a_test_of_another_shape_leaves_the_others_their_results(vectors, tests):
    alone = evaluate(vectors, association=tests)
    lines = tests.read_text().splitlines()
    tests.write_text("\n".join([lines[0], "single\tX\tx1\ttarget", *lines[1:]]))
    single, *others = evaluate(vectors, association=tests)
    assert (single.section, single.value) == ("single", None)
    assert "target" in single.reason
    assert [one.value for one in others] == [one.value for one in alone]
    assert [one.section for one in compare(vectors, vectors, association=tests)] == ["one"]


def test_degenerate_tests_have_a_reason(tmp_path, vectors, tests):
    """Equal attribute lists and parallel vectors leave rounding alone; nothing is NaN."""
    lists = {**LISTS, "B": ("attribute", ["a1", "a2"])}
    rows = [f"one\t{name}\t{word}\t{role}\n" for name, (role, words) in lists.items() for word in words]
    (tmp_path / "same.tsv").write_text("Test\tList\tWord\tRole\n" + "".join(rows))
    matrix = vectors.matrix.copy()
    matrix[:7] = matrix[0] * np.arange(1, 8)[:, None]
    for source, path in ((vectors, tmp_path / "same.tsv"), (Vectors(vectors.words, matrix), tests)):
        results = evaluate(source, association=path)
        assert [one.value for one in results] == [None, None]
        assert "same association" in results[0].reason


def test_there_is_no_interval_for_few_words_with_vectors(tmp_path, vectors, tests):
    """Words without a vector do not count."""
    unknown = "".join(f"one\t{name}\tunknown{n}\ttarget\n" for n in range(20) for name in "XY")
    tests.write_text(tests.read_text() + unknown)
    effect, _ = evaluate(vectors, association=tests)
    assert (effect.low, effect.high, effect.covered) == (None, None, 7)
    assert "no interval" in effect.note
