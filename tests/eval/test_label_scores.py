"""Scores of predicted labels, compared with fastText's test and with scikit-learn's metrics."""

import numpy as np
import pytest
from fixed_classifier import LABELS, FixedClassifier, indicator, random_texts, values
from sklearn import metrics

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval import evaluate_classifier
from embeddings.eval.statistics.confidence_intervals import wilson
from embeddings.eval.tasks import label_scores


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize(("k", "threshold"), [(1, 0.0), (2, 0.0), (-1, 0.25), (1, 0.6)])
def test_scores_equal_those_of_scikit_learn(most, k, threshold):
    lines, actual, predictions = random_texts(np.random.default_rng(1), 300, most)
    kept = [[name for name, p in row[: k if k > 0 else None] if p >= threshold] for row in predictions]
    scores = evaluate_classifier(FixedClassifier(), lines, k=k, threshold=threshold)
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
        scores = evaluate_classifier(FixedClassifier(), lines, threshold=threshold)
        assert values(scores)["calibration error"] == pytest.approx(naive)


def test_confusion_matrix_of_single_labels():
    lines, actual, predictions = random_texts(np.random.default_rng(3), 200)
    scores = evaluate_classifier(FixedClassifier(), lines)
    expected = metrics.confusion_matrix([row[0] for row in actual], [row[0][0] for row in predictions], labels=LABELS)
    found = np.zeros_like(expected)
    for label, predicted, texts in scores.confusion_matrix:
        found[LABELS.index(label), LABELS.index(predicted)] = texts
    assert (found == expected).all()
    counts = [one.texts for one in scores.confusions]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == expected.sum() - np.trace(expected)


def test_confusions_of_several_labels():
    lines = ["__label__a __label__b a 0.9", "__label__a __label__b c 0.9", "__label__d c 0.1", "__label__z a 0.9"]
    scores = evaluate_classifier(FixedClassifier(), lines, threshold=0.5)
    assert sorted(scores.confusion_matrix, key=str) == [
        ("a", "a", 1), ("a", "c", 1), ("b", "c", 1), ("d", None, 1), ("z", "a", 1),
    ]  # fmt: skip


def test_majority():
    lines = [f"__label__{name} a 1" for name in "bbbac"]
    for k, most_frequent in ((1, ["b"]), (2, ["a", "b"]), (-1, ["b"])):  # of -1 as many as are predicted
        results = [r for r in evaluate_classifier(FixedClassifier(), lines, k=k).results() if r.method]
        true, guessed = indicator([[name] for name in "bbbac"]), indicator([most_frequent] * 5)
        expected = metrics.precision_recall_fscore_support(true, guessed, average="micro")[:3]
        macro = metrics.f1_score(true, guessed, average=None, zero_division=0)[(true | guessed).any(axis=0)].mean()
        assert [r.value for r in results] == pytest.approx([*expected, macro])


def test_intervals():
    lines, actual, predictions = random_texts(np.random.default_rng(4), 120)
    results = evaluate_classifier(FixedClassifier(), lines).results()
    results = {(result.measure, result.section): result for result in results if result.method is None}
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
    single = {r.measure: r for r in evaluate_classifier(FixedClassifier(), lines, k=2).results() if r.section is None}
    monkeypatch.setattr(label_scores, "MAX_CACHED", 200)
    grouped = {r.measure: r for r in evaluate_classifier(FixedClassifier(), lines, k=2).results() if r.section is None}
    for measure, result in single.items():
        assert grouped[measure].value == result.value
        width = result.high - result.low
        np.testing.assert_allclose(
            [grouped[measure].low, grouped[measure].high], [result.low, result.high], atol=0.25 * width
        )


def test_unknown_labels_and_words():
    lines = ["__label__a a 0.9", "__label__z b 0.9", "__label__a __label__z a 0.9", "__label__b", "a 0.5", "", "\n"]
    scores = evaluate_classifier(FixedClassifier(), lines)
    assert scores.predictions.unlabelled == 3
    assert values(scores)["recall@1"] == 2 / 5
    assert values(scores)["precision@1"] == 2 / 3
    known = values(scores, label_scores.KNOWN)
    assert (known["precision@1"], known["recall@1"]) == (1, 1)  # as fastText's test
    assert values(scores, "z")["recall@1"] == 0
    assert values(scores, "z")["precision@1"] is None
    (result,) = [r for r in scores.results() if (r.measure, r.section, r.method) == ("recall@1", None, None)]
    assert (result.covered, result.total) == (3, 4)


def test_one_label_and_nothing_predicted():
    scores = evaluate_classifier(FixedClassifier(), ["__label__b a 0.9"] * 3, threshold=0.95)
    found = values(scores)
    assert (found["precision@1"], found["recall@1"], found["f1@1"]) == (None, 0, 0)
    assert values(evaluate_classifier(FixedClassifier(), ["__label__b"]))["calibration error"] is None


def test_errors(tmp_path):
    with pytest.raises(CorpusError, match="has no labels"):
        evaluate_classifier(FixedClassifier(), ["a 0.5", ""])
    (tmp_path / "t.csv").write_text("text,label\na 0.5,\n")
    with pytest.raises(CorpusError, match=r"t.csv has no labels"):
        evaluate_classifier(FixedClassifier(), tmp_path / "t.csv")
    with pytest.raises(SettingError, match="prefix"):
        evaluate_classifier(FixedClassifier(), ["a"], label_prefix="")


def test_blocks_do_not_change_scores(monkeypatch):
    lines, *_ = random_texts(np.random.default_rng(6), 50, 3)
    expected = evaluate_classifier(FixedClassifier(), lines, k=-1)
    monkeypatch.setattr("embeddings.classifier.classifier.MAX_PREDICTIONS", 12)
    found = evaluate_classifier(FixedClassifier(), lines, k=-1)
    assert found.results() == expected.results()
    assert found.confusion_matrix == expected.confusion_matrix


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
        scores = evaluate_classifier(tmp_path / "m.bin", tmp_path / "test.txt", k=k, threshold=threshold)
        _, precision, recall = model.test(str(tmp_path / "test.txt"), k, threshold)
        found = list(values(scores, label_scores.KNOWN).values())
        assert found[:2] == pytest.approx([precision, recall], rel=1e-6)


def test_models_are_classifiers_if_they_have_labels(tmp_path):
    (tmp_path / "t.txt").write_text("__label__a x y\n__label__b y z\n" * 20)
    model = em.train("classifier", tmp_path / "t.txt", dim=2, epochs=1, min_count=1, threads=1)
    scores, expected = (evaluate_classifier(one, tmp_path / "t.txt").results() for one in (model, model.classifier))
    assert repr(scores) == repr(expected)
    with pytest.raises(SettingError, match="labels"):
        evaluate_classifier(em.train("skipgram", ["a b c " * 9] * 9, dim=2, epochs=1, threads=1), tmp_path / "t.txt")
