"""Analogies against a naive implementation: exclusions, case, ties, restriction, sections."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_sets import write_questions as write

from embeddings.errors import SettingError
from embeddings.eval import evaluate
from embeddings.eval.word_matching import CaseFolding
from embeddings.support.cosine import normalize
from embeddings.vectors.vectors import Vectors


def naive(vectors, questions, limit, method="3cosadd"):
    """Covered and correct questions, one at a time, in float64."""
    words = vectors.words[:limit]
    known = {}
    for index, word in enumerate(words):
        if vectors.matrix[index].any():  # zeros are no vector
            known.setdefault(word.upper(), index)
    seen = right = 0
    for question in questions:
        asked = [word.upper() for word in question]
        if not all(word in known for word in asked):
            continue
        seen += 1
        a, b, c = (vectors.unit_rows[known[word]].astype(float) for word in asked[:3])
        query = b - a + c
        query = query / (np.linalg.norm(query) or 1)
        best = None
        for index, word in enumerate(words):
            score = (vectors.unit_rows[index] * query).sum()
            if method == "3cosmul":
                near = [
                    (1 + np.clip((vectors.unit_rows[index] * normalize(word)).sum(), -1, 1)) / 2 for word in (a, b, c)
                ]
                score = near[1] * near[2] / (near[0] + 1e-6)
            if word.upper() not in asked[:3] and (best is None or score > best[0]):
                best = score, word.upper()
        right += best is not None and best[1] == asked[3]
    return seen, right


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_equals_the_naive_implementation(tmp_path_factory, data):
    names = data.draw(st.lists(st.text("abAB", min_size=1, max_size=2), unique=True, min_size=3, max_size=12))
    entries = data.draw(st.lists(st.integers(-2, 2), min_size=2 * len(names), max_size=2 * len(names)))
    vectors = Vectors(names, np.array(entries, np.float32).reshape(-1, 2))
    word = st.sampled_from([*names, "unknown"])
    questions = data.draw(st.lists(st.tuples(word, word, word, word), min_size=1, max_size=8))
    path = write(tmp_path_factory.getbasetemp() / "questions", questions)
    limits = [None, data.draw(st.integers(1, 14))]
    methods = ["3cosmul", "3cosadd"]
    found = evaluate(vectors, analogy=path, restrict=limits, method=methods)
    totals = [result for result in found if result.section is None]
    for result, (method, limit) in zip(totals, product(methods, distinct_limits(limits, len(names))), strict=True):
        seen, right = naive(vectors, questions, limit, method)
        assert result.method == method
        assert (result.restrict, result.covered, result.total) == (limit, seen, len(questions))
        assert result.value == (pytest.approx(right / seen) if seen else None)
        assert (result.reason is None) == (seen > 0)


def distinct_limits(limits, size):
    """Restrictions without those that leave the same words as one before."""
    found = {}
    for limit in limits:
        found.setdefault(min(limit or size, size), limit)
    return list(found.values())


@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
def test_more_near_ties_than_the_capacity(tmp_path, method):
    """Words on an orthogonal axis are equally near to the question: the first of them is the answer."""
    rng, angles = np.random.default_rng(1), np.linspace(0, 6, 40)
    matrix = np.zeros((44, 4))
    matrix[:4, :2] = [[1, 0], [1, 1], [0, 1], [-1, 0.2]]
    matrix[4:, 2:] = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # all at right angles to a, b and c
    matrix[3] = matrix[20]
    words = [f"w{row}" for row in range(44)]
    order = rng.permutation(44)
    vectors = Vectors([words[row] for row in order], matrix[order])
    questions = [["w2", "w1", "w0", word] for word in words[3:]]
    path = write(tmp_path / "q", questions)
    result = evaluate(vectors, analogy=path, restrict=None, method=method)[-1]
    assert result.value * result.covered == pytest.approx(naive(vectors, questions, None, method)[1])
    assert result.value > 0


def test_scores_that_float32_cannot_tell_apart(tmp_path):
    """Words differ by less than the rounding of float32, and the answers are those of exact cosines."""
    rng = np.random.default_rng(3)
    matrix = np.repeat(rng.standard_normal((6, 50)), 6, axis=0) + rng.normal(0, 1e-5, (36, 50))
    vectors = Vectors([f"w{row}" for row in range(36)], matrix)
    rows = np.stack([rng.choice(36, 4, replace=False) for _ in range(60)])
    questions = [[f"w{row}" for row in four] for four in rows]
    a, b, c = (vectors.unit_rows[rows[:, side]].astype(float) for side in range(3))
    scores = np.clip([vectors.unit_rows @ query for query in normalize(b - a + c)], -1, 1)
    for question, own, three in zip(questions, scores, rows[:, :3], strict=True):
        own[three] = -np.inf
        question[3] = f"w{own.argmax()}"
    path = write(tmp_path / "q", questions)
    assert evaluate(vectors, analogy=path, restrict=None)[-1].value == 1


def test_missing_answers_are_not_the_empty_word(tmp_path):
    (tmp_path / "p.txt").write_text("a\tb/c\nd\te\n")
    vectors = Vectors(["", "a", "b", "d"], np.array([[1, 1], [1, 0], [0, 1], [1, 0.0]]))
    assert evaluate(vectors, analogy=tmp_path / "p.txt", restrict=None)[-1].covered == 0  # nobody knows e


def test_limits_without_effect_are_skipped(tmp_path, random):
    path = write(tmp_path / "q", [["w1", "w2", "w3", "w4"]])

    def limits(restrict):
        return [one.restrict for one in evaluate(random, analogy=path, restrict=restrict) if one.section is None]

    assert limits((None, 30000)) == [None]
    assert limits((30000, None, 500)) == [30000]
    assert limits((None, np.int64(299), 299, 300)) == [None, 299]
    assert {one.restrict for one in evaluate(random, analogy=path)} == {None}
    assert limits(["all", "299"]) == [None, 299]
    for wrong in ("-5", 5.5, [2, "x"], True):
        with pytest.raises(SettingError, match="restrict"):
            evaluate(random, analogy=path, restrict=wrong)


def test_sections_kinds_and_restrictions(tmp_path, random):
    (tmp_path / "q").write_text(
        ": capitals\nw1 w2 w3 w4\n: gram1-x\nw1 w2 w3 w290\nw1 w2 w3 w5\n: gram2\nw1 w2 w3 nope\n"
    )
    results = evaluate(random, analogy=tmp_path / "q", restrict=(None, 100), name="r")
    assert [(r.section, r.restrict, r.covered, r.total) for r in results] == [
        ("capitals", None, 1, 1),
        ("gram1-x", None, 2, 2),
        ("gram2", None, 0, 1),
        ("semantic", None, 1, 1),
        ("syntactic", None, 2, 3),
        (None, None, 3, 4),
        ("capitals", 100, 1, 1),
        ("gram1-x", 100, 1, 2),
        ("gram2", 100, 0, 1),
        ("semantic", 100, 1, 1),
        ("syntactic", 100, 1, 3),
        (None, 100, 2, 4),
    ]
    assert {r.measure for r in results} == {"accuracy"}
    assert results[2].value is None
    assert results[2].reason == "no question has vectors for all four words"


def test_phrases_are_found_with_any_joiner():
    words = ["new_york", "St_Louis", "los angeles", "salt-lake-city", "_", "a_b.c", "A_BC", "x::y", "st."]
    found = CaseFolding(words).find(
        ["New_York", "St._Louis", "Los_Angeles", "Salt_Lake_City", "_", "a_b.c", "X_Y", "no_where"]
    )
    assert found.tolist() == [0, 1, 2, 3, 4, 5, 7, -1]
    assert CaseFolding(words).find(["__", "st", "new york"]).tolist() == [-1, -1, -1]
