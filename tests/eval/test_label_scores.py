"""Scores of predicted labels, compared with fastText's test and with scikit-learn's metrics; paired tests."""

import numpy as np
import pytest
from fixed_classifier import LABELS, FixedClassifier, evaluated, indicator, random_texts, values
from sklearn import metrics

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.statistics.confidence_intervals import wilson
from embeddings.eval.statistics.results import MCNEMAR, TEXTS
from embeddings.eval.tasks import label_scores
from embeddings.eval.tasks.label_scores import CONFUSION


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize(("k", "threshold"), [(1, 0.0), (2, 0.0), (-1, 0.25), (1, 0.6)])
def test_scores_equal_those_of_scikit_learn(most, k, threshold):
    lines, actual, predictions = random_texts(np.random.default_rng(1), 300, most)
    kept = [[name for name, p in row[: k if k > 0 else None] if p >= threshold] for row in predictions]
    scores = evaluated(lines, k=k, threshold=threshold)
    at = "@all" if k == -1 else f"@{k}"
    true, guessed = indicator(actual), indicator(kept)
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(true, guessed, average="micro")
    found = values(scores)
    assert (found["precision" + at], found["recall" + at], found["f1" + at]) == pytest.approx((precision, recall, f1))
    assert found["macro-f1" + at] == pytest.approx(metrics.f1_score(true, guessed, average="macro", zero_division=0))
    by_label = metrics.precision_recall_fscore_support(true, guessed, zero_division=0)
    for column, name in enumerate(LABELS):
        part = values(scores, name)
        assert [part[m + at] or 0 for m in ("precision", "recall", "f1")] == pytest.approx(
            [by_label[n][column] for n in range(3)]
        )


def test_calibration_error():
    lines, actual, predictions = random_texts(np.random.default_rng(2), 400)
    confidence = np.array([row[0][1] for row in predictions])
    correct = np.array([row[0][0] in names for row, names in zip(predictions, actual, strict=True)])
    naive = 0.0
    for low in np.arange(15) / 15:
        members = (confidence >= low) & (confidence < low + 1 / 15)
        if members.any():
            naive += members.mean() * abs(confidence[members].mean() - correct[members].mean())
    for threshold in (0.0, 0.99):  # a threshold does not change it
        scores = evaluated(lines, threshold=threshold)
        assert values(scores)["calibration error"] == pytest.approx(naive)


def confusions(results):
    """(label, prediction) and texts of each confusion."""
    found = (one for one in results if one.measure == CONFUSION)
    return [(*one.section.split(" -> "), one.covered) for one in found]


def test_confusion_matrix_of_single_labels():
    lines, actual, predictions = random_texts(np.random.default_rng(3), 200)
    expected = metrics.confusion_matrix([row[0] for row in actual], [row[0][0] for row in predictions], labels=LABELS)
    results, found = evaluated(lines), np.zeros_like(expected)
    for label, predicted, texts in confusions(results):
        found[LABELS.index(label), LABELS.index(predicted)] = texts
    assert (found == expected).all()
    shown = [one for one in results if one.measure == CONFUSION and not one.is_detail]
    errors = sorted(expected[~np.eye(len(LABELS), dtype=bool)])[::-1]
    assert [one.covered for one in shown] == errors[:10]
    assert all(one.value == one.covered / one.total for one in shown)


def test_confusions_of_several_labels():
    lines = ["__label__a __label__b a 0.9", "__label__a __label__b c 0.9", "__label__d c 0.1", "__label__z a 0.9"]
    assert sorted(confusions(evaluated(lines, threshold=0.5))) == [
        ("a", "a", 1), ("a", "c", 1), ("b", "c", 1), ("d", "no label", 1), ("z", "a", 1),
    ]  # fmt: skip


def test_majority():
    lines = [f"__label__{name} a 1" for name in "bbbac"]
    for k, most_frequent in ((1, ["b"]), (2, ["a", "b"]), (-1, ["b"])):  # of -1 as many as are predicted
        results = [r for r in evaluated(lines, k=k) if r.method]
        true, guessed = indicator([[name] for name in "bbbac"]), indicator([most_frequent] * 5)
        expected = metrics.precision_recall_fscore_support(true, guessed, average="micro")[:3]
        macro = metrics.f1_score(true, guessed, average=None, zero_division=0)[(true | guessed).any(axis=0)].mean()
        assert [r.value for r in results] == pytest.approx([*expected, macro])


def test_intervals():
    lines, actual, predictions = random_texts(np.random.default_rng(4), 120)
    results = {(one.measure, one.section): one for one in evaluated(lines) if one.method is None}
    hits = sum(row[0][0] == names[0] for row, names in zip(predictions, actual, strict=True))
    for measure in ("precision@1", "recall@1", "f1@1"):
        assert (results[measure, None].low, results[measure, None].high) == wilson(hits, 120)
    for result in results.values():
        assert result.low <= result.value <= result.high
    macro = []
    rng = np.random.default_rng(0)
    true, guessed = np.array([row[0] for row in actual]), np.array([row[0][0] for row in predictions])
    for _ in range(500):
        rows = rng.integers(120, size=120)
        macro.append(metrics.f1_score(true[rows], guessed[rows], average="macro"))
    ends = np.quantile(macro, [0.025, 0.975])
    np.testing.assert_allclose([results["macro-f1@1", None].low, results["macro-f1@1", None].high], ends, atol=0.02)


def test_very_many_texts_are_resampled_in_groups(monkeypatch):
    lines, *_ = random_texts(np.random.default_rng(5), 600, 3)
    single = {r.measure: r for r in evaluated(lines, k=2) if r.section is None}
    monkeypatch.setattr(label_scores, "MAX_CACHED", 200)
    grouped = {r.measure: r for r in evaluated(lines, k=2) if r.section is None}
    for measure, result in single.items():
        assert grouped[measure].value == result.value
        width = result.high - result.low
        np.testing.assert_allclose(
            [grouped[measure].low, grouped[measure].high], [result.low, result.high], atol=0.25 * width
        )


def test_unknown_labels_and_words():
    lines = ["__label__a a 0.9", "__label__z b 0.9", "__label__a __label__z a 0.9", "__label__b", "a 0.5", "", "\n"]
    scores = evaluated(lines)
    assert "3 texts without labels" in scores[-1 - len(confusions(scores))].note
    assert values(scores)["recall@1"] == 2 / 5
    assert values(scores)["precision@1"] == 2 / 3
    known = values(scores, label_scores.KNOWN)
    assert (known["precision@1"], known["recall@1"]) == (1, 1)  # as fastText's test
    assert values(scores, "z")["recall@1"] == 0
    assert values(scores, "z")["precision@1"] is None
    (result,) = [r for r in scores if (r.measure, r.section, r.method) == ("recall@1", None, None)]
    assert (result.covered, result.total) == (3, 4)


def test_one_label_and_nothing_predicted():
    found = values(evaluated(["__label__b a 0.9"] * 3, threshold=0.95))
    assert (found["precision@1"], found["recall@1"], found["f1@1"]) == (None, 0, 0)
    assert values(evaluated(["__label__b"]))["calibration error"] is None


def test_errors(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\na 0.5,\n")
    for source, error, fact in (
        (["a 0.5", ""], CorpusError, "no labels"),
        (tmp_path / "t.csv", CorpusError, "t.csv has no labels"),
        (tmp_path / "none.csv", CorpusError, "none.csv"),
    ):
        with pytest.raises(error, match=fact):
            evaluated(source)
    with pytest.raises(SettingError, match="prefix"):
        evaluated(["a"], label_prefix="")


def test_blocks_do_not_change_scores(monkeypatch):
    lines, *_ = random_texts(np.random.default_rng(6), 50, 3)
    expected = evaluated(lines, k=-1)
    monkeypatch.setattr("embeddings.classifier.classifier.MAX_PREDICTIONS", 12)
    assert evaluated(lines, k=-1) == expected


@pytest.mark.golden
@pytest.mark.parametrize("loss", ["softmax", "ova", "hs", "ns"])
def test_scores_equal_those_of_fasttext(tmp_path, loss):
    fasttext = pytest.importorskip("fasttext")
    rng = np.random.default_rng(7)
    words = {name: [f"{name}{n}" for n in range(30)] for name in LABELS}

    def line(labels):
        drawn = [str(rng.choice(words[name] if rng.random() < 0.3 else words["a"])) for name in labels * 4]
        return " ".join([*(f"__label__{name}" for name in labels), *drawn])

    lines = [line(list(rng.choice(LABELS, rng.integers(1, 3), replace=False))) for _ in range(400)]
    (tmp_path / "train.txt").write_text("\n".join(lines[:200]) + "\n")
    odd = ["no label", "", "__label__z a1", "__label__a __label__z b1", "__label__b"]
    (tmp_path / "test.txt").write_text("\n".join([*lines[200:], *odd]) + "\n")
    model = fasttext.train_supervised(
        str(tmp_path / "train.txt"),
        loss=loss,
        dim=8,
        epoch=10,
        lr=0.5,
        minn=2,
        maxn=3,
        bucket=1000,
        thread=12,
        verbose=0,
    )
    model.save_model(str(tmp_path / "m.bin"))
    requests = [(-1, 0.4)]  # ova and ns have tied probabilities, which fastText puts in another order
    if loss in ("softmax", "hs"):
        requests += [(1, 0.0), (2, 0.0), (3, 0.3)]
    for k, threshold in requests:
        scores = em.evaluate(tmp_path / "m.bin", labels=tmp_path / "test.txt", k=k, threshold=threshold)
        _, precision, recall = model.test(str(tmp_path / "test.txt"), k, threshold)
        found = list(values(scores, label_scores.KNOWN).values())
        assert found[:2] == pytest.approx([precision, recall], rel=1e-6)


def test_models_are_classifiers_if_they_have_labels(tmp_path):
    (tmp_path / "t.txt").write_text("__label__a x y\n__label__b y z\n" * 20)
    model = em.train("classifier", tmp_path / "t.txt", dim=2, epochs=1, min_count=1, threads=1)
    scores, expected = (em.evaluate(one, labels=tmp_path / "t.txt", name="m") for one in (model, model.classifier))
    assert scores == expected
    with pytest.raises(SettingError, match="labels"):
        em.evaluate(em.train("skipgram", ["a b c " * 9] * 9, dim=2, epochs=1, threads=1), labels=tmp_path / "t.txt")


class Shifted(FixedClassifier):
    """Predicts the next label for some texts; its labels are in another order, and one has no text."""

    labels = ("__label__zz", *FixedClassifier.labels[::-1])

    def rank(self, text, starts, k=1, threshold=0.0, *, threads=None):
        ids, probabilities = FixedClassifier.rank(self, text, starts, k, threshold)
        lengths = np.diff(starts)
        shifted = (ids + (lengths % 3 == 0)[:, None]) % len(LABELS)
        return np.where(ids < 0, -1, len(LABELS) - shifted), probabilities


def test_classifiers_of_one_label_are_compared_by_the_texts_they_get_right():
    lines, actual, predictions = random_texts(np.random.default_rng(1), 300)
    lines = [line + " " * n for n, line in enumerate(lines)]
    pair = FixedClassifier(), Shifted()
    precision, recall, f1, macro = em.compare(*pair, names=["first", "second"], labels=[lines])
    own = values(evaluated(lines, Shifted()))
    for comparison in (precision, recall, f1, macro):
        assert (comparison.value_second, comparison.items) == (pytest.approx(own[comparison.measure]), 300)
    hits = np.mean([row[0][0] == names[0] for row, names in zip(predictions, actual, strict=True)])
    assert (precision.value_first, precision.test, macro.test) == (pytest.approx(hits), MCNEMAR, TEXTS)
    assert precision.p == recall.p == f1.p
    assert (macro.first, macro.second, macro.measure) == ("first", "second", "macro-f1@1")
    (back, *_) = em.compare(*pair[::-1], labels=[lines])
    assert (back.difference, back.p) == (pytest.approx(-precision.difference), precision.p)


class Cautious(FixedClassifier):
    """Predicts no labels with a probability below 0.3."""

    def rank(self, text, starts, k=1, threshold=0.0, *, threads=None):
        return FixedClassifier.rank(self, text, starts, k, max(threshold, 0.3))


def test_classifiers_of_several_labels_are_compared_by_a_bootstrap():
    lines, actual, predictions = random_texts(np.random.default_rng(2), 200, 3)
    comparisons = em.compare(FixedClassifier(), Cautious(), labels=[lines], k=2)
    kept = [[[name for name, p in row[:2] if p >= threshold] for row in predictions] for threshold in (0, 0.3)]
    rng, differences = np.random.default_rng(0), []
    true, *guessed = (indicator(one) for one in (actual, *kept))
    for _ in range(400):
        rows = rng.integers(200, size=200)
        sums = [((true & side)[rows].sum(), true[rows].sum() + side[rows].sum()) for side in guessed]
        differences.append(2 * sums[0][0] / sums[0][1] - 2 * sums[1][0] / sums[1][1])
    f1 = comparisons[2]
    np.testing.assert_allclose([f1.low, f1.high], np.quantile(differences, [0.025, 0.975]), atol=0.02)
    assert [one.test for one in comparisons] == [TEXTS] * 4
    same = em.compare(FixedClassifier(), FixedClassifier(), labels=[lines], k=2)
    assert all((one.difference, one.p) == (0, 1) for one in same)
