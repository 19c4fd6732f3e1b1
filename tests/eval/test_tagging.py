"""Tagging against scikit-learn on explicit windows, invariances, and readers of tagged text."""

import numpy as np
import pytest
from naive_bootstrap import interval, resample_counts

from embeddings.eval import Suite, compare_scores, evaluate
from embeddings.eval.tasks.linear_classifier import (
    MAJORITY,
    NOT_CONVERGED,
    Objective,
    Windows,
    train_classifier,
    whiten,
)
from embeddings.eval.tasks.tagging import WordTable, read_tagged, read_tagging_set
from embeddings.vectors.vectors import Vectors

NOUNS, VERBS = [f"n{i}" for i in range(8)], [f"v{i}" for i in range(8)]


def sentences(rng, count):
    """Noun, verb, noun; only its position tells the tag of `both`; `Odd` has no vector."""
    for _ in range(count):
        words = [str(rng.choice(names)) for names in (NOUNS, VERBS, NOUNS)]
        place = rng.integers(0, 6)
        if place < 3:
            words[place] = "both" if place < 2 else "Odd"
        yield "".join(f"{word}\t{tag}\n" for word, tag in zip(words, ("NOUN", "VERB", "NOUN"), strict=True)) + "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("tagging"), np.random.default_rng(0)
    for part, count in (("train", 300), ("test", 80)):
        (folder / part).write_text("".join(sentences(rng, count)))
    return f"{folder / 'train'},{folder / 'test'}"


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(1)
    return Vectors([*NOUNS, *VERBS, "both"], rng.standard_normal((17, 6)).astype(np.float32))


def learned(results):
    return [result for result in results if result.method != MAJORITY]


def overall(results):
    return next(result for result in reversed(results) if result.section is None)


def test_equals_scikit_learn_on_explicit_windows(files, vectors):
    from sklearn.linear_model import LogisticRegression

    test = read_tagging_set(files)
    words = WordTable.of(vectors, test)
    train, other = words.windows(test.train, 1), words.windows(test.test, 1)
    dense = [windows.table[windows.places].reshape(len(windows.places), -1) for windows in (train, other)]
    classes = np.array([tag == "VERB" for tag in test.train.tags]).astype(np.int64)
    theirs = LogisticRegression(C=1, tol=1e-8, max_iter=5000).fit(np.float64(dense[0]), classes)
    ours = train_classifier(train, classes, 2)
    # of two classes scikit-learn keeps the difference alone, which halves its penalty: compare decisions
    assert (ours.predict(other) == theirs.predict(dense[1])).mean() > 0.98
    three = np.where(classes, 2, np.arange(len(classes)) % 2)
    theirs = LogisticRegression(C=1, tol=1e-9, max_iter=5000).fit(np.float64(dense[0]), three)
    ours = train_classifier(train, three, 3)
    weights = ours.weights.reshape(-1, 3)
    assert pytest.approx(theirs.coef_, abs=0.1) == weights.T  # the loss is flat: processors differ by .02
    assert ours.bias - ours.bias.mean() == pytest.approx(theirs.intercept_ - theirs.intercept_.mean(), abs=0.1)
    best = penalised_loss(theirs.coef_.T, theirs.intercept_, dense[0], three)
    assert penalised_loss(weights, ours.bias, dense[0], three) == pytest.approx(best, rel=1e-4)


def penalised_loss(weights, bias, inputs, classes):
    """The loss of multinomial logistic regression, in float64."""
    scores = np.float64(inputs) @ weights + bias
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(classes)), classes]
    return losses.sum() + (weights**2).sum() / 2


def test_gradient_equals_central_differences():
    rng = np.random.default_rng(3)
    windows = Windows(rng.standard_normal((7, 4)).astype(np.float32), rng.integers(0, 7, (30, 3)))
    objective = Objective(windows, rng.integers(0, 5, 30), 5)
    at = rng.standard_normal(objective.size) / 3
    _, gradient = objective(at)
    for place in rng.integers(0, objective.size, 12):
        step = np.zeros(objective.size)
        step[place] = 1e-2
        slope = (objective(at + step)[0] - objective(at - step)[0]) / 2e-2
        assert gradient[place] == pytest.approx(slope, abs=2e-4)


def test_windows_end_with_sentences_and_flag_missing_words(tmp_path, vectors):
    for part in ("train", "test"):
        (tmp_path / part).write_text("n1\tN\nodd\tX\n\nv1\tV\n")
    test = read_tagging_set(f"{tmp_path / 'train'},{tmp_path / 'test'}")
    words = WordTable.of(vectors, test)
    windows = words.windows(test.test, 1)
    n1, odd, v1, outside = range(4)
    assert windows.places.tolist() == [[outside, n1, odd], [n1, odd, outside], [outside, v1, outside]]
    assert windows.table[:, -2:].tolist() == [[0, 0], [1, 0], [0, 0], [0, 1]]
    assert not windows.table[[odd, outside], :-2].any()


def test_windows_distinguish_what_words_alone_do_not(files, vectors):
    wide, narrow = (evaluate(vectors, tagging=files, window=window) for window in (1, 0))
    assert overall(wide).value > 0.97 > overall(narrow).value
    assert overall(wide).method == "window 1"
    unknown = next(result for result in narrow if result.section == "words without a vector")
    assert unknown.value == 1  # Odd is always a noun, and the flag says so
    assert (unknown.covered, overall(narrow).covered) == (0, overall(narrow).total - unknown.total)


def test_whitening_equals_its_definition():
    rng = np.random.default_rng(5)
    matrix, counts = rng.standard_normal((50, 6)).astype(np.float32), rng.integers(0, 9, 50)
    matrix[:, 5] = matrix[:, 0] * 2  # a direction that says nothing new
    found = np.repeat(whiten(matrix, counts), counts, axis=0)
    assert found.shape[1] == 5
    assert found.mean(axis=0) == pytest.approx(np.zeros(5), abs=1e-5)
    assert np.cov(found.T, bias=True) == pytest.approx(np.eye(5), abs=1e-4)
    assert whiten(np.ones((3, 2), np.float32), np.ones(3)).shape == (3, 0)
    assert whiten(np.full((3, 2), 3e38, np.float32), np.zeros(3)).shape == (3, 0)


def test_words_are_looked_up_as_written_then_in_lower_case_then_composed(files):
    vectors = Vectors(["us", "US"], np.eye(2, dtype=np.float32))
    from embeddings.eval.word_matching import look_up

    matrix, known = look_up(vectors, ["US", "Us", "them"])
    assert matrix.tolist() == [[0, 1], [1, 0], [0, 0]]
    assert known.tolist() == [True, True, False]

    def compose(words):
        return np.array([[0, 0] if word == "lost" else [len(word)] * 2 for word in words], np.float32)

    composing = Vectors(["us"], np.eye(2, dtype=np.float32)[:1], compose=compose)
    matrix, known = look_up(composing, ["Us", "Them", "lost"])
    assert matrix.tolist() == [[1, 0], [4, 4], [0, 0]]
    assert known.tolist() == [True, True, False]


def test_interval_equals_the_naive_bootstrap(files, vectors):
    outcome = Suite.read(tagging=files, window=0).score(vectors, "v")[-1]
    result, test = outcome.result(), read_tagging_set(files).test
    groups = [np.flatnonzero(test.sentence_of == sentence) for sentence in range(len(test.ends))]
    shares = []
    for times in resample_counts(len(groups)):
        items = np.concatenate([np.tile(group, count) for group, count in zip(groups, times, strict=True)])
        shares.append(outcome.correct[items.astype(int)].mean())
    assert (result.low, result.high) == pytest.approx(interval(shares))
    assert result.value == outcome.correct.mean()


def test_paired_test_over_sentences(files, vectors):
    suite = Suite.read(tagging=files, window=0)
    poorer = Vectors(vectors.words[1:], vectors.matrix[1:, :3])  # without n0
    scores = [suite.score(found, name) for name, found in (("a", vectors), ("b", poorer))]
    found = {one.section: one for one in compare_scores(scores)}
    assert found[None].test == "paired bootstrap over sentences"
    assert found[None].difference == pytest.approx(scores[0][-1].correct.mean() - scores[1][-1].correct.mean())
    gained = scores[0][-1].correct.astype(float) - scores[1][-1].correct
    sentence = np.arange(240) // 3
    shares = []
    for times in resample_counts(80):
        shares.append((times[sentence] * gained).sum() / 240)
    assert (found[None].low, found[None].high) == pytest.approx(interval(shares))
    assert found[None].difference > 0.005
    assert found["words with a vector"].items == scores[1][-1].covered.sum()
    same = compare_scores([scores[0], scores[0]])[-1]
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_conllu_and_two_columns_are_equivalent(tmp_path):
    (tmp_path / "a.conllu").write_text(
        "# sent_id = 1\n# text = a\tb\n"
        "1-2\tdont\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tdo\tdo\tAUX\tVB\t_\t2\taux\t_\t_\n"
        "2\tn't\tnot\tPART\tRB\t_\t0\troot\t_\t_\n"
        "2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_\n\n\n"
        "# text = #\n1\t#\t#\tSYM\tNN\t_\t0\troot\t_\t_\n"
    )
    (tmp_path / "b").write_bytes(b"do\tAUX\r\nn't\tPART\r\n\r\n#\tSYM")
    for name in ("a.conllu", "b"):
        found = read_tagged(tmp_path / name)
        assert (found.words, found.tags) == (["do", "n't", "#"], ["AUX", "PART", "SYM"])
        assert (found.ends.tolist(), found.sentence_of.tolist()) == ([2, 3], [0, 0, 1])


def test_shipped_treebank_and_folders(tmp_path):
    import pyarrow

    found = read_tagging_set("ud-ewt")
    assert (found.name, len(found.train.words), len(found.test.words)) == ("ud-ewt", 204577, 25094)
    assert (len(found.train.ends), len(found.test.ends)) == (12544, 2077)
    tags = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
    assert " ".join(sorted(set(found.train.tags))) == " ".join(sorted(set(found.test.tags))) == tags
    for part in ("train", "test"):  # a folder of the kind in which treebanks are published, compressed or not
        with pyarrow.output_stream(str(tmp_path / f"xx-ud-{part}.conllu.gz"), compression="gzip") as out:
            out.write(f"1\t{part}\t_\tX\t_\t_\t_\t_\t_\t_\n".encode())
    found = read_tagging_set(tmp_path)
    assert (found.name, found.train.words, found.test.words) == ("xx-ud-test", ["train"], ["test"])


def test_a_classifier_that_does_not_converge_is_noted(tmp_path, files, vectors, monkeypatch):
    assert {one.note for one in learned(evaluate(vectors, tagging=files))} == {None}
    monkeypatch.setattr("embeddings.eval.tasks.linear_classifier.ITERATIONS", 2)
    (note,) = {one.note for one in learned(evaluate(vectors, tagging=files))}
    assert note == NOT_CONVERGED
    (tmp_path / "names").write_text("".join(f"{word}\t{word[0]}\n" for word in NOUNS + VERBS))
    results = evaluate(vectors, categories=tmp_path / "names")
    assert {one.note for one in learned(results) if one.method} == {note}
    (tmp_path / "d.csv").write_text("label,text\n" + "".join(f"{w[0]},{w} {v}\n" for w in NOUNS + VERBS for v in NOUNS))
    assert evaluate(vectors, documents=tmp_path / "d.csv")[-2].note == note
