"""Document classification: mean vectors, splits, decisions of scikit-learn, trained and inferred vectors."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval import evaluate
from embeddings.eval.tasks.document_classification import DocumentSettings, read_documents
from embeddings.eval.tasks.linear_classifier import predict_rows, whiten
from embeddings.vectors.vectors import Vectors


def rows(count, seed):
    """Documents of good or bad words among plain ones; every tenth holds unknown words alone."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        label = "good" if rng.random() < 0.5 else "bad"
        words = [f"{label}{rng.integers(20)}", *(f"plain{rng.integers(20)}" for _ in range(rng.integers(1, 9)))]
        rng.shuffle(words)
        yield label, "Unknown, words!" if number % 10 == 9 else " ".join(words).capitalize() + "."


def write(path, count=200, seed=0):
    path.write_text("label,text\n" + "".join(f'{label},"{text}"\n' for label, text in rows(count, seed)))
    return path


@pytest.fixture
def vectors():
    rng = np.random.default_rng(4)
    words = [f"{kind}{i}" for kind in ("good", "bad", "plain") for i in range(20)]
    return Vectors(words, rng.standard_normal((60, 40)) * 1e-3)


def read(name):
    return read_documents(name, DocumentSettings())


def test_words_are_found_as_they_are_written(tmp_path):
    """Words that the default tokenizer would split, in vectors of another program."""
    rng = np.random.default_rng(1)
    words = [f"{kind}-{i}_x" for kind in ("good", "bad") for i in range(20)]
    vectors = Vectors(words, rng.standard_normal((40, 40)))
    lines = [f"{kind},{kind}-{rng.integers(20)}_x {kind}-{rng.integers(20)}_x" for kind in ("good", "bad") * 40]
    (tmp_path / "d.csv").write_text("label,text\n" + "\n".join(lines) + "\n")
    *_, whole, words = evaluate(vectors, documents=tmp_path / "d.csv")
    assert (whole.covered, words.value) == (80, 1)
    assert whole.value > 0.8


def test_train_and_test_files(tmp_path, vectors):
    train, test = write(tmp_path / "train.csv", 400), write(tmp_path / "test.csv", 100, seed=1)
    results = evaluate(vectors, documents=f"{train},{test}")
    whole, words = results[-2:]
    assert (whole.set, whole.covered, whole.total, whole.section) == ("test", 90, 100, None)
    assert 0.8 < whole.value < 1
    assert [(result.section, result.is_detail) for result in results[:2]] == [("bad", True), ("good", True)]
    assert (words.measure, words.covered, words.total) == ("word coverage", words.covered, words.covered + 100)
    assert "trained on one file" in whole.protocol


@pytest.mark.golden
def test_predictions_equal_scikit_learn(tmp_path, vectors):
    from sklearn.linear_model import LogisticRegression

    import embeddings as em

    test = read(f"{write(tmp_path / 'a.csv', 400)},{write(tmp_path / 'b.csv', 100, seed=1)}")
    means = em.embed(vectors, test.texts)
    label = np.array([label == "good" for label in test.labels]).astype(int)
    (learned, asked), known = test.splits[0], means.any(axis=1)
    weights = np.zeros(500)
    weights[learned] = known[learned]
    dense = whiten(means, weights) * known[:, None]
    # two sets of weights are kept here and their difference there, so that the penalty there is half
    theirs = LogisticRegression(C=2, tol=1e-8, max_iter=5000).fit(dense[learned], label[learned]).predict(dense[asked])
    assert (predict_rows(means, known, label, learned, asked)[0] == theirs).mean() >= 0.99
    whole = evaluate(vectors, documents=f"{tmp_path / 'a.csv'},{tmp_path / 'b.csv'}")[-2]
    assert whole.value == pytest.approx((theirs == label[asked]).mean(), abs=0.01)


def test_one_file_is_divided_into_folds_by_label(tmp_path, vectors):
    """Labels in turn, one after another: a fifth that is every fifth would hold one label, learned from the others."""
    kinds = ("good", "bad", "plain")
    lines = [f"{kinds[i % 3]},{kinds[i % 3]}{i % 20} {kinds[i % 3]}{i * 7 % 20} x{i}" for i in range(153)]
    for rows in (lines, sorted(lines)):
        (tmp_path / "d.csv").write_text("label,text\n" + "\n".join(rows) + "\n")
        whole = evaluate(vectors, documents=tmp_path / "d.csv")[-2]
        assert (whole.total, whole.covered) == (153, 153)
        assert whole.value > 0.9
        test = read(tmp_path / "d.csv")
        assert sorted(np.concatenate([asked for _, asked in test.splits])) == list(range(153))
        for learned, asked in test.splits:
            assert sorted([*learned, *asked]) == list(range(153))
        for label in kinds:
            counts = [sum(test.labels[place] == label for place in asked) for _, asked in test.splits]
            assert max(counts) - min(counts) <= 1


def test_documents_with_the_same_words_are_in_the_same_fold(tmp_path):
    rng = np.random.default_rng(7)
    texts = [f"a{rng.integers(9)} b{i}" for i in range(30)]
    places = rng.integers(0, 30, 120)
    lines = [f"{place % 2},{texts[place]}{'.' * (n % 2)}" for n, place in enumerate(places)]
    (tmp_path / "d.csv").write_text("label,text\n" + "\n".join(lines) + "\n")
    for learned, asked in read(tmp_path / "d.csv").splits:
        assert not set(places[learned]) & set(places[asked])
        assert len(asked) > 0


ERRORS = [
    ("label,text\na,b\n", {"text_column": "body"}, ["body"]),
    ("stars,text\na,b\n", {}, ["label"]),
    ("label,text\na,b\n", {"documents": "nope"}, ["nope"]),
    ("label,text\na,b\n", {"documents": "a,b,c"}, ["a,b,c"]),
]


@pytest.mark.parametrize(("text", "settings", "facts"), ERRORS)
def test_errors(tmp_path, vectors, text, settings, facts):
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(CorpusError) as error:
        evaluate(vectors, **{"documents": tmp_path / "d.csv"} | settings)
    assert all(fact in str(error.value) for fact in facts)


def labelled(path, lines):
    path.write_text("label,text,id\n" + "".join(f'{label},"{text}",{name}\n' for label, text, name in lines))
    return path


@pytest.fixture
def learned(tmp_path):
    """TRAIN and TEST, vectors of their documents that hold nothing but the label, and their names."""
    lines = [("ab"[number % 2], f"plain {number}", f"doc-{number}") for number in range(60)]
    both = f"{labelled(tmp_path / 'train.csv', lines[:40])},{labelled(tmp_path / 'test.csv', lines[40:])}"
    noise = np.random.default_rng(1).standard_normal((60, 3)) * 0.1
    return both, noise + np.array([[number % 2, 0, 1] for number in range(60)]), [line[2] for line in lines]


def test_trained_document_vectors(learned, tmp_path):
    both, matrix, names = learned
    numbered = Vectors(map(str, range(60)), matrix)
    *majority, macro, whole = evaluate(numbered, documents=both, use_trained_vectors=True)[2:]
    assert (macro.value, macro.measure, macro.total) == (1, "macro-f1", 20)
    assert [(one.measure, one.method, one.value) for one in majority] == [
        ("macro-f1", "most frequent label", pytest.approx(1 / 3)), ("accuracy", "most frequent label", 0.5),
    ]  # fmt: skip
    assert (whole.value, whole.covered, whole.total, whole.measure) == (1, 20, 20, "accuracy")
    assert "trained document vectors" in whole.protocol
    shuffled = np.random.default_rng(2).permutation(60)
    named = Vectors([names[i] for i in shuffled], matrix[shuffled])
    assert evaluate(named, documents=both, name_column="id")[-1].value == 1
    assert (
        evaluate(named, documents=both, use_trained_vectors=True)[-1].reason == "no document has a vector of its name"
    )
    unnamed = labelled(tmp_path / "unnamed.csv", [("ab"[n % 2], f"plain {n}", "doc" * (n != 1)) for n in range(20)])
    with pytest.raises(CorpusError, match=r"unnamed\.csv, row 2.* id"):
        evaluate(named, documents=unnamed, name_column="id")
    few = Vectors([str(number) for number in range(50)], matrix[:50])
    assert (evaluate(few, documents=both, use_trained_vectors=True)[-1].covered, len(few)) == (10, 50)
    with pytest.raises(SettingError, match="use_trained_vectors"):
        evaluate(named, similarity="wordsim353", use_trained_vectors=True)


def test_a_model_of_documents_infers_vectors_and_pools_those_of_words_when_asked(tmp_path):
    rows = [f"{'good' if n % 2 else 'bad'},a {'fine' if n % 2 else 'dull'} film {n % 5}" for n in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["label,text", *rows]), encoding="utf-8")
    model = em.train("paragraph-dbow", [row.partition(",")[2] for row in rows], dim=4, min_count=1, threads=1)
    for pooling, about in (({}, "infers"), ({"pool": "mean"}, "pool mean")):
        results = em.evaluate(model, documents=str(tmp_path / "t.csv"), **pooling)
        assert about in results[-2].protocol
        assert results[-1].value == 1
