"""Categories of names, beside scikit-learn: its folds' predictions, its F1."""

import json
import subprocess
import sys

import numpy as np
import pytest
from naive_resamples import interval, times_drawn

from embeddings.errors import SettingError
from embeddings.eval import Suite, compare, evaluate
from embeddings.eval.categories import read_categories
from embeddings.eval.category_prediction import predicted, prediction
from embeddings.eval.cross_validation import FOLDS, folds
from embeddings.eval.word_matching import Folded
from embeddings.vectors.vectors import Vectors

KINDS = ("person", "place", "thing")


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Sixty names of persons, thirty of places, a few of things; a fifth of them has no vector."""
    path = tmp_path_factory.mktemp("categories") / "names.tsv"
    listed = [(f"{kind}{i}", kind) for kind, count in zip(KINDS, (60, 30, 12), strict=True) for i in range(count)]
    np.random.default_rng(0).shuffle(listed)
    path.write_text("".join(f"{word}\t{kind}\n" for word, kind in listed))
    return path


@pytest.fixture(scope="module")
def vectors(names):
    rng = np.random.default_rng(1)
    centres = 0.9 * rng.standard_normal((3, 8))
    test = read_categories(names)
    known = [(word, kind) for word, kind in zip(test.words, test.categories, strict=True) if not word.endswith("5")]
    rows = [centres[KINDS.index(kind)] + rng.standard_normal(8) for _, kind in known]
    return Vectors([word for word, _ in known], np.array(rows, np.float32))


def test_equals_scikit_learn_fold_by_fold(names, vectors):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score

    test = read_categories(names)
    asked, fold = (
        np.array(test.categories),
        folds(test.words, np.array([KINDS.index(kind) for kind in test.categories])),
    )
    seen = np.array([word in vectors for word in test.words])
    told = np.full(len(asked), "nothing")
    for number in range(FOLDS):
        train, other = seen & (fold != number), seen & (fold == number)
        rows = np.array([vectors[word] for word in np.array(test.words)[train]], np.float64)
        mean, (_, spread, turn) = rows.mean(axis=0), np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        white = np.sqrt(len(rows)) * turn.T / spread
        model = LogisticRegression(C=1, tol=1e-8, max_iter=5000).fit((rows - mean) @ white, asked[train])
        asking = np.array([vectors[word] for word in np.array(test.words)[other]], np.float64)
        told[other] = model.predict((asking - mean) @ white)
    found = {(result.measure, result.section): result for result in evaluate(vectors, categories=names)}
    assert 0.3 < found["macro-f1", None].value < 0.95
    values = f1_score(asked, told, labels=KINDS, average=None)
    for kind, value in zip(KINDS, values, strict=True):
        assert found["f1", kind].value == pytest.approx(value)
    assert found["macro-f1", None].value == pytest.approx(values.mean())
    assert found["micro-f1", None].value == pytest.approx(f1_score(asked, told, labels=KINDS, average="micro"))
    assert found["accuracy", None].value == pytest.approx(accuracy_score(asked[seen], told[seen]))
    assert (found["micro-f1", None].seen, found["micro-f1", None].total) == (seen.sum(), 102)
    assert found["f1", "thing"].total == 12


def test_folds_hold_every_category_in_proportion():
    asked = np.repeat([0, 1, 2], [50, 25, 3])
    words = [f"w{i}" for i in range(78)]
    fold = folds(words, asked)
    for number in range(FOLDS):
        counts = np.bincount(asked[fold == number], minlength=3)
        assert counts[:2].tolist() == [10, 5]
        assert counts[2] <= 1
    np.testing.assert_array_equal(folds(words, asked), fold)
    words[10] = words[70] = words[3]
    assert len(set(folds(words, asked)[[3, 10, 70]])) == 1


def test_a_name_is_never_told_by_what_was_learned_from_itself():
    """Names that each are all there is of their direction cannot be told better than by chance."""
    rng = np.random.default_rng(2)
    asked = rng.integers(0, 2, 100)
    fold = folds([f"w{i}" for i in range(100)], asked)
    told, converged = predicted(np.eye(100, dtype=np.float32), np.ones(100, bool), asked, fold)
    assert converged
    assert (told == asked).mean() < 0.7


def test_interval_by_an_obvious_twin(names, vectors):
    judged = prediction(vectors, read_categories(names), Folded(vectors.words), name="v")
    macro = next(outcome for outcome in judged if outcome.key.measure == "macro-f1")

    values = []
    for times in times_drawn(102):
        asked, told = np.repeat(macro.asked, times, axis=0), np.repeat(macro.told, times, axis=0)
        sums = asked.sum(axis=0) + told.sum(axis=0)
        values.append(np.mean(2 * (asked & told).sum(axis=0)[sums > 0] / sums[sums > 0]))
    result = macro.result()
    assert (result.low, result.high) == pytest.approx(interval(values))
    assert result.low < result.value < result.high


def test_paired_tests(names, vectors):
    suite = Suite.read(categories=names)
    noise = Vectors(vectors.words, np.random.default_rng(3).standard_normal((len(vectors), 8)).astype(np.float32))
    better, same = suite.judge(vectors, "v"), suite.judge(vectors, "again")
    found = {one.measure: one for one in compare([better, suite.judge(noise, "noise")]) if one.section is None}
    for measure in ("micro-f1", "macro-f1", "accuracy"):
        assert found[measure].difference > 0.1
        assert found[measure].p < 0.05
    assert all(one.difference == 0 and one.p == 1 for one in compare([better, same]))


def test_no_name_has_a_vector(names):
    results = [one for one in evaluate(Vectors(["x"], np.ones((1, 3), np.float32)), categories=names) if one.method]
    assert {result.reason for result in results} == {"no word has a vector"}
    assert {result.value for result in results} == {None}


def test_few_names_and_vectors_all_alike(tmp_path):
    (tmp_path / "names").write_text("a\tx\nb\ty\n")
    results = evaluate(Vectors(["a", "b"], np.ones((2, 3), np.float32)), categories=tmp_path / "names")
    assert all(result.value is None or 0 <= result.value <= 1 for result in results)


def test_vectors_that_are_no_numbers(names, vectors):
    broken = Vectors(vectors.words, np.full((len(vectors), 2), np.nan, np.float32))
    with pytest.raises(SettingError, match="NaN"):
        evaluate(broken, categories=names)


def test_command(names, vectors, tmp_path):
    vectors.save(tmp_path / "v.txt")
    command = [sys.executable, "-m", "embeddings", "evaluate", "v.txt", "--categories", str(names)]
    lines = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout.splitlines()
    assert [line.split("\t")[4] for line in lines[1:]] == ["micro-f1", "macro-f1", "accuracy", "purity"]
    every = subprocess.run([*command, "--json"], capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert {one["section"] for one in json.loads(every)} == {None, *KINDS}
