"""The trainer `classifier`."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.documents import corpus_labels
from embeddings.errors import CorpusError

OBJECTIVES = ("softmax", "hierarchical-softmax", "one-vs-all", "negative-sampling")
WORDS = {"a": ["good", "fine", "great"], "b": ["bad", "awful", "poor"], "c": ["so-so", "medium", "average"]}
SMALL = {"dim": 8, "epochs": 20, "learning_rate": 0.5, "threads": 1}


def labelled_lines(texts=150, seed=1):
    """Lines in fastText's form: a label, and two words of which one shows it."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(WORDS), texts)
    return [f"__label__{label} film {rng.choice(WORDS[label])} movie{rng.integers(5)}" for label in labels]


@pytest.fixture(scope="module")
def model():
    return em.train("classifier", labelled_lines(), word_ngrams=2, **SMALL)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_learns_the_labels(objective):
    model = em.train("classifier", labelled_lines(), objective=objective, word_ngrams=2, **SMALL)
    texts = [f"film {word}" for words in WORDS.values() for word in words]
    labels, probabilities = model.predict(texts)
    assert labels[:, 0].tolist() == [f"__label__{label}" for label, words in WORDS.items() for _ in words]
    assert (probabilities > 0.8).all()


def test_a_saved_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = em.load_model(tmp_path / "model")
    classifier = em.load_classifier(tmp_path / "model")
    texts = ["film good", "awful movie1", "", "unknown words"]
    expected = model.predict_proba(texts)
    assert loaded.labels.words == model.labels.words
    assert sorted(loaded.labels.words) == ["a", "b", "c"]
    np.testing.assert_array_equal(loaded.predict_proba(texts), expected)
    np.testing.assert_array_equal(classifier.predict_proba(texts), expected)
    np.testing.assert_allclose(expected.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(loaded.vectors.matrix, model.vectors.matrix)


def test_labels_of_tables_have_no_prefix_and_texts_are_tokenized_as_in_training():
    rows = [{"text": line.split(" ", 1)[1].title() + "!", "label": line[9:10]} for line in labelled_lines()]
    corpus = em.Corpus(rows, text_column="text", tokenizer="words", labels=em.corpora.LabelFormat())
    model = em.train("classifier", corpus, **SMALL)
    assert model.predict(["FILM, GOOD", "(awful)"]).labels[:, 0].tolist() == ["a", "b"]


def test_labels_may_have_any_characters_and_texts_any_number_of_labels():
    labels = [["a\x1fb", "c d"], [], ["c d"], ["", "a\x1fb", "a\x1fb"]] * 5
    rows = [{"text": f"word{number}", "label": one} for number, one in enumerate(labels)]
    encoded = em.Corpus(rows, text_column="text", labels=em.corpora.LabelFormat()).encode()
    found = corpus_labels(encoded)
    assert dict(zip(found.vocabulary.words, found.vocabulary.counts.tolist(), strict=True)) == {"a\x1fb": 10, "c d": 10}
    assert np.diff(found.starts).tolist() == [2, 0, 1, 1] * 5
    names = [found.vocabulary.words[number] for number in found.ids.tolist()]
    assert names == ["a\x1fb", "c d", "c d", "a\x1fb"] * 5


def test_early_stopping_returns_the_epoch_with_the_best_labels():
    validation = labelled_lines(60, seed=2)
    stopping = em.EarlyStopping(labels=validation, patience=3)
    settings = {**SMALL, "epochs": 30, "learning_rate": 0.05}
    model = em.train("classifier", labelled_lines(), callbacks=[stopping], **settings)
    scores = model.record["early_stopping"]["scores"]
    texts, gold = zip(*[(line.split(" ", 1)[1], line.split(" ", 1)[0]) for line in validation], strict=True)
    accuracy = np.mean(model.predict(texts).labels[:, 0] == np.array(gold, object))
    assert len(scores) < 30
    assert accuracy == pytest.approx(max(scores))


def test_balanced_weights_help_rare_labels():
    rng = np.random.default_rng(1)
    lines = [f"__label__rare word{n % 3} same" for n in range(10)]
    lines += [f"__label__common word{n % 3} same" for n in range(190)]
    lines = [lines[n] for n in rng.permutation(200)]
    settings = SMALL | {"epochs": 50}
    models = [em.train("classifier", lines, class_weights=weights, **settings) for weights in ("none", "balanced")]
    plain, balanced = (model.predict_proba(["word1 same"])[0, 1] for model in models)
    assert plain < 0.15
    assert balanced > 0.35


def test_a_thousand_labels_on_a_line():
    many = " ".join(f"__label__l{n}" for n in range(1000))
    for objective in OBJECTIVES:
        model = em.train("classifier", [f"{many} all of them", "__label__l0 one"], objective=objective, **SMALL)
        assert len(model.labels) == 1000
        assert np.isfinite(model.predict_proba(["all of them"])).all()


def test_initial_vectors_can_be_frozen(model):
    words = ["film", "good", "</s>"]
    given = em.Vectors(words, np.eye(3, 8, dtype=np.float32))
    init = em.InitFrom(given, freeze=True)
    trained = em.train("classifier", labelled_lines(), word_ngrams=2, init=init, **SMALL)
    np.testing.assert_array_equal(trained.vectors[words], given.matrix)
    assert not np.array_equal(trained.vectors["bad"], model.vectors["bad"])


@pytest.mark.slow
@pytest.mark.golden
@pytest.mark.parametrize("settings", [{"dim": 10}, {"dim": 50, "objective": "one-vs-all"}])
def test_accuracy_equals_that_of_fasttext(settings, tmp_path):
    """On texts of which one word in six shows the label."""
    fasttext = pytest.importorskip("fasttext")
    rng = np.random.default_rng(5)
    common, typical = [f"word{n}" for n in range(300)], [[f"of{label}x{n}" for n in range(60)] for label in range(4)]

    def line(label):
        words = [rng.choice(typical[label]) if rng.random() < 1 / 6 else rng.choice(common) for _ in range(12)]
        return f"__label__{label} {' '.join(words)}"

    lines = [line(label) for label in rng.integers(4, size=3000)]
    train, test = lines[:2000], [text.split(" ", 1) for text in lines[2000:]]
    (tmp_path / "train.txt").write_text("\n".join(train) + "\n", encoding="utf-8")
    gold, texts = np.array([label for label, _ in test]), [text for _, text in test]
    shared = {"epochs": 10, "learning_rate": 0.5, "word_ngrams": 2}
    model = em.train("classifier", tmp_path / "train.txt", **shared, **settings)
    options = {"epoch": 10, "lr": 0.5, "wordNgrams": 2, "thread": 10, "verbose": 0, "dim": settings["dim"]}
    loss = "ova" if "objective" in settings else "softmax"
    other = fasttext.train_supervised(str(tmp_path / "train.txt"), loss=loss, **options)
    ours = np.mean(model.predict(texts).labels[:, 0] == gold)
    theirs = np.mean(np.array([labels[0] for labels in other.predict(texts)[0]]) == gold)
    assert ours > 0.75
    assert ours > theirs - 0.04  # three standard errors


@pytest.mark.parametrize(
    ("lines", "settings", "message"),
    [
        (["a text", "another"], {}, "no text has a label"),
        (["__label__a one", "__label__a two"], {}, "1 of 1 labels .'a'"),
        ([*labelled_lines(), "__label__rare film"], {"min_label_count": 1000}, "0 of 4 labels"),
        (em.Corpus(labelled_lines()), {}, "LabelFormat"),
    ],
)
def test_texts_that_cannot_be_classified_are_refused(lines, settings, message):
    with pytest.raises(CorpusError, match=message):
        em.train("classifier", lines, **settings, **SMALL)


def test_a_text_without_known_words_gets_the_labels_of_the_end_of_a_text(model):
    """As in fastText; only a classifier that does not know `</s>` gives such a text no label."""
    row = model.vectors["</s>"]
    np.testing.assert_array_equal(model.classifier.embed(["", "unheard"])[0], row)
    scores = model.tables["output"] @ row
    expected = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    np.testing.assert_allclose(model.predict_proba([""])[0], expected, rtol=1e-5)
    assert model.predict([""]).labels[0, 0] == f"__label__{model.labels.words[int(scores.argmax())]}"
