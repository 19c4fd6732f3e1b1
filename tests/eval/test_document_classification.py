"""Document classification: mean vectors, splits, decisions of scikit-learn, trained and inferred vectors."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from embeddings.errors import CorpusError, SettingError
from embeddings.eval import evaluate
from embeddings.eval.tasks.document_classification import mean_vectors, read_documents
from embeddings.eval.tasks.linear_classifier import predict_rows, whiten
from embeddings.vectors.vectors import Vectors

IMDB = Path(os.environ.get("EMBEDDINGS_DATA", "data")) / "documents"  # imdb-train_pos.tsv.zst and the like


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


def test_mean_vectors_equal_the_naive_implementation(tmp_path, vectors):
    test = read_documents(write(tmp_path / "d.csv"), "text", "label")
    documents, (means, counts, _) = test, mean_vectors(vectors, test)
    for place, (label, text) in enumerate(rows(200, 0)):
        words = [word for word in text.lower().strip(".").split() if word in vectors]
        assert counts[place] == len(words)
        assert documents.labels[place] == label
        expected = vectors[words].mean(axis=0) if words else np.zeros(40)
        assert means[place] == pytest.approx(expected, abs=1e-9)


def test_train_and_test_files(tmp_path, vectors):
    train, test = write(tmp_path / "train.csv", 400), write(tmp_path / "test.csv", 100, seed=1)
    results = evaluate(vectors, documents=f"{train},{test}")
    whole, words = results[-2:]
    assert (whole.set, whole.covered, whole.total, whole.section) == ("test", 90, 100, None)
    assert 0.8 < whole.value < 1
    assert [(result.section, result.is_detail) for result in results[:2]] == [("bad", True), ("good", True)]
    assert (words.measure, words.covered, words.total) == ("word coverage", words.covered, words.covered + 20)
    assert "trained on one file" in whole.protocol


@pytest.mark.golden
def test_predictions_equal_scikit_learn(tmp_path, vectors):
    from sklearn.linear_model import LogisticRegression

    test = read_documents(f"{write(tmp_path / 'a.csv', 400)},{write(tmp_path / 'b.csv', 100, seed=1)}", "text", "label")
    means, counts, _ = mean_vectors(vectors, test)
    label = np.array([label == "good" for label in test.labels]).astype(int)
    (learned, asked), known = test.splits[0], counts > 0
    weights = np.zeros(500)
    weights[learned] = known[learned]
    dense = whiten(means, weights) * known[:, None]
    # two sets of weights are kept here and their difference there, so that the penalty there is half
    theirs = LogisticRegression(C=2, tol=1e-8, max_iter=5000).fit(dense[learned], label[learned]).predict(dense[asked])
    assert (predict_rows(means, known, label, learned, asked)[0] == theirs).mean() >= 0.99


def test_one_file_is_cross_validated(tmp_path, vectors):
    test = read_documents(write(tmp_path / "d.csv", 203), "text", "label")
    assert sorted(np.concatenate([asked for _, asked in test.splits])) == list(range(203))
    for learned, asked in test.splits:
        assert not set(learned) & set(asked)
        assert len(learned) + len(asked) == 203
    whole = evaluate(vectors, documents=tmp_path / "d.csv")[-2]
    assert (whole.total, whole.covered) == (203, 183)
    assert whole.value > 0.8


def test_the_order_of_documents_does_not_matter(tmp_path, vectors):
    """Labels in turn, one after another: a fifth that is every fifth would hold one label, learned from the others."""
    kinds = ("good", "bad", "plain")
    lines = [f"{kinds[i % 3]},{kinds[i % 3]}{i % 20} {kinds[i % 3]}{i * 7 % 20} x{i}" for i in range(150)]
    five = [f"k{i % 5},good{i % 5} good{i % 5} y{i}" for i in range(100)]
    for rows in (lines, sorted(lines), five):
        (tmp_path / "d.csv").write_text("label,text\n" + "\n".join(rows) + "\n")
        assert evaluate(vectors, documents=tmp_path / "d.csv")[-2].value > 0.9
        test = read_documents(tmp_path / "d.csv", "text", "label")
        for label in set(test.labels):
            counts = [sum(test.labels[place] == label for place in asked) for _, asked in test.splits]
            assert max(counts) - min(counts) <= 1


def test_equal_documents_are_in_the_same_fold(tmp_path):
    rng = np.random.default_rng(7)
    texts = [f"a{rng.integers(9)} b{i}" for i in range(30)]
    places = rng.integers(0, 30, 120)
    (tmp_path / "d.csv").write_text("label,text\n" + "".join(f"{place % 2},{texts[place]}\n" for place in places))
    test = read_documents(tmp_path / "d.csv", "text", "label")
    for learned, asked in test.splits:
        assert not set(places[learned]) & set(places[asked])
        assert len(asked) > 0
    (tmp_path / "d.csv").write_text("label,text\n" + "x,one two\n" * 9 + "y,three\ny,four\n")
    with pytest.raises(CorpusError, match=r"3 distinct documents.*5"):
        read_documents(tmp_path / "d.csv", "text", "label")


def test_json_lines_and_other_names_of_columns(tmp_path, vectors):
    with open(tmp_path / "d.jsonl", "w") as out:
        for label, text in rows(50, 0):
            out.write(json.dumps({"stars": 5 if label == "good" else 1, "body": text}) + "\n")
    results = evaluate(vectors, documents=tmp_path / "d.jsonl", text_column="body", label_column="stars")
    assert [result.section for result in results] == ["1", "5", *[None] * 5]


def test_invalid_files_and_columns_are_refused(tmp_path, vectors):
    def refused(text, message, **more):
        (tmp_path / "d.csv").write_text(text)
        with pytest.raises(CorpusError, match=message):
            evaluate(vectors, documents=more.pop("name", tmp_path / "d.csv"), **more)

    refused("label,text\na,b\n", "1 distinct documents.*5")
    refused("label,text\na,b\n", "no column 'body'", text_column="body")
    refused("stars,text\na,b\n", "no column 'label'")
    refused("label,text\na,b\n", "no file or folder .*'nope'", name="nope")
    refused("label,text\na,b\n", "'a,b,c'", name="a,b,c")
    with open(tmp_path / "d.jsonl", "w") as out:
        out.write('{"label": "a", "text": "x"}\n{"label": null, "text": "y"}\n' * 3)
    refused("", "document 2 has no label", name=tmp_path / "d.jsonl")


def test_no_value_has_a_reason(tmp_path):
    results = evaluate(Vectors(["other"], np.ones((1, 2))), documents=write(tmp_path / "d.csv"))
    assert (results[-2].value, results[-2].reason) == (None, "no word of the documents has a vector")
    assert (results[-1].value, results[-1].covered) == (0, 0)


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
    with pytest.raises(CorpusError, match=r"unnamed\.csv: document 2 has no id"):
        evaluate(named, documents=unnamed, name_column="id")
    few = Vectors([str(number) for number in range(50)], matrix[:50])
    assert (evaluate(few, documents=both, use_trained_vectors=True)[-1].covered, len(few)) == (10, 50)
    with pytest.raises(SettingError, match="use_trained_vectors"):
        evaluate(named, similarity="wordsim353", use_trained_vectors=True)


def test_concatenated_models_are_evaluated_by_documents_only(tmp_path):
    import embeddings as em

    path = write(tmp_path / "d.csv", 100)
    made = {"dim": 8, "min_count": 1, "epochs": 20, "subsample": 0, "learning_rate": 0.05}
    corpus = em.Corpus(path, text_column="text")
    one, two = (kind(**made).train(corpus, threads=1) for kind in (em.ParagraphDBOW, em.ParagraphDM))
    both = em.training.concatenate(one, two)
    *_, whole = evaluate(both, documents=path)
    assert (whole.vectors, whole.total) == ("paragraph-dbow + paragraph-dm", 100)
    inferred = Vectors(map(str, range(100)), both.infer(corpus))
    assert inferred.dim == 16
    assert whole.value == evaluate(inferred, documents=path, use_trained_vectors=True)[-1].value
    assert (
        evaluate(both, documents=path, use_trained_vectors=True)[-1].covered
        == evaluate(one, documents=path, use_trained_vectors=True)[-1].covered
    )
    with pytest.raises(SettingError, match="concatenated models"):
        evaluate(both, documents=path, similarity="wordsim353")


def test_models_of_lines_refuse_documents_of_several_lines(tmp_path):
    import embeddings as em

    path = tmp_path / "d.csv"
    path.write_text("label,text\n" + "".join(f'a,"one\n{i}"\nb,three {i}\n' for i in range(20)))
    model = em.ParagraphDBOW(dim=4, min_count=1, documents="lines", subsample=0).train(em.Corpus(["one two", "three"]))
    with pytest.raises(SettingError, match=r"40 labelled documents.*60"):
        evaluate(model, documents=path)


@pytest.mark.measure
@pytest.mark.slow
def test_film_reviews(tmp_path):
    if not IMDB.is_dir():
        pytest.skip("the reviews are not part of the project; EMBEDDINGS_DATA says where they are")
    import csv

    import pyarrow

    import embeddings as em

    for part in ("train", "test"):
        with open(tmp_path / f"{part}.csv", "w", newline="") as out:
            table = csv.writer(out)
            table.writerow(["label", "text"])
            for label in ("neg", "pos"):
                stream = pyarrow.input_stream(str(IMDB / f"imdb-{part}_{label}.tsv.zst"), compression="zstd")
                lines = stream.read().decode().splitlines()[:2500]
                table.writerows((label, line.split("\t", 2)[2]) for line in lines)
    vectors = em.SkipGram(dim=50, epochs=2).train(em.Corpus("sample"), threads=1).vectors
    whole = evaluate(vectors, documents=f"{tmp_path / 'train.csv'},{tmp_path / 'test.csv'}")[-2]
    assert whole.total == 5000
    assert 0.62 < whole.value < 0.85
