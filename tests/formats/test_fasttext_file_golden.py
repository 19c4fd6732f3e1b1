"""fastText's files exchanged with gensim and fastText in both directions, for known and unseen words."""

from pathlib import Path

import numpy as np
import pytest
from optional_libraries import import_gensim, needs_gensim
from subword_models import UNSEEN, WORDS, fasttext_model

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, SettingError
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

pytestmark = pytest.mark.golden
# gensim gives "</s>" n-grams; neither library accepts a NUL in a word
COMPARED_WORDS = [word for word in [*WORDS, *UNSEEN] if word != "</s>" and "\0" not in word]
BUCKETS = 900_000  # fastText does not initialise the whole matrix; a large one in a new process is zero anyway
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(scope="module")
def fasttext():
    """fastText's own package."""
    return pytest.importorskip("fasttext", reason="fastText itself is not installed; it comes with the extra fasttext")


@pytest.fixture(scope="module")
def data():
    """gensim's files for its own tests."""
    import_gensim()
    import gensim

    folder = Path(gensim.__file__).parent / "test" / "test_data"
    if not (folder / "crime-and-punishment.bin").exists():
        pytest.skip("this gensim comes without its test data")
    return folder


@pytest.fixture(scope="module")
def text(tmp_path_factory, data):
    """A small text with many scripts' bytes."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes((data / "crime-and-punishment.txt").read_bytes() * 3)
    return path


@pytest.fixture(params=[(3, 6), (1, 3), (2, 2)], ids=str)
def model(request):
    return fasttext_model(min_n=request.param[0], max_n=request.param[1], window=4, negatives=3, subsample=1e-3)


@pytest.fixture
def path(tmp_path, model):
    model.export(tmp_path / "m.bin", "fasttext")
    return str(tmp_path / "m.bin")


@pytest.fixture
def without_ngrams(tmp_path):
    """A file of a model without n-grams, and the model."""
    vectors = Vectors(["b", "a", "ñ"], np.random.default_rng(0).standard_normal((3, 4)), counts=[7, 2, 2])
    model = Model(
        "cbow",
        vectors=vectors,
        vocabulary=Vocabulary(vectors.words, vectors.counts),
        tables={"output": np.arange(12, dtype=np.float32).reshape(3, 4)},
    )
    model.export(tmp_path / "m.bin", "fasttext")
    return str(tmp_path / "m.bin"), model


@needs_gensim
@pytest.mark.reads("fasttext", "gensim", "`load_facebook_vectors`: counts, vectors of known and unseen words")
def test_gensim_loads_the_vectors_of_our_files(path, model):
    from gensim.models.fasttext import load_facebook_vectors

    keyed = load_facebook_vectors(path)
    assert keyed.index_to_key == model.vectors.words
    assert [keyed.get_vecattr(word, "count") for word in WORDS] == model.vectors.counts.tolist()
    for word in COMPARED_WORDS:
        np.testing.assert_allclose(keyed[word], vector_or_zeros(model.vectors, word), **TOLERANCE)


@needs_gensim
@pytest.mark.reads("fasttext", "gensim", "`load_facebook_model`: continues training")
def test_gensim_loads_our_files_as_models_and_continues_training(path, model):
    from gensim.models.fasttext import load_facebook_model

    loaded = load_facebook_model(path)
    assert (loaded.window, loaded.negative, loaded.sg, loaded.corpus_total_words) == (4, 3, 1, model.vocabulary.total)
    assert np.array_equal(loaded.syn1neg, model.tables["output"])
    assert np.array_equal(loaded.wv.vectors_ngrams, model.tables["ngrams"])
    loaded.train([WORDS], total_examples=1, epochs=1)


@pytest.mark.reads("fasttext", "fasttext-numpy2", "`load_model`: vectors of known and unseen words")
def test_fasttext_loads_our_files(fasttext, path, model):
    loaded = fasttext.load_model(path)
    assert loaded.words == model.vectors.words
    for word in [*COMPARED_WORDS, "</s>"]:
        np.testing.assert_allclose(loaded.get_word_vector(word), vector_or_zeros(model.vectors, word), **TOLERANCE)
    assert np.array_equal(loaded.get_output_matrix(), model.tables["output"])
    assert loaded.get_nearest_neighbors("the", k=1)[0][1] == model.vectors.most_similar("the")[0][0]


def vector_or_zeros(vectors, word):
    """The vector of a word; zeros, as from the libraries, if it has no n-grams."""
    return vectors[word] if word in vectors else vectors.compose([word])[0]


@needs_gensim
def test_files_without_ngrams_are_read(fasttext, without_ngrams):
    from gensim.models.fasttext import load_facebook_model

    path, model = without_ngrams
    loaded = load_facebook_model(path)
    assert np.array_equal(loaded.wv[model.vectors.words], model.vectors.matrix)
    assert np.array_equal(loaded.syn1neg, model.tables["output"])
    loaded = fasttext.load_model(path)
    for word in model.vectors:
        np.testing.assert_allclose(loaded.get_word_vector(word), model.vectors[word], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "errors"),
    [("crime-and-punishment", "strict"), ("lee_fasttext", "strict"), ("pang_lee_polarity_fasttext", "replace")],
)
def test_bin_and_vec_files_of_fasttext_agree(data, name, errors):
    vectors = em.load(data / f"{name}.bin", errors=errors)
    text_vectors = em.load(data / f"{name}.vec", errors=errors)
    assert vectors.words == text_vectors.words
    rows = [row for row, word in enumerate(vectors.words) if word != "</s>"]  # had n-grams before 2017
    np.testing.assert_allclose(vectors.matrix[rows], text_vectors.matrix[rows], rtol=1e-4, atol=1e-5)


@needs_gensim
@pytest.mark.parametrize("name", ["crime-and-punishment", "lee_fasttext", "lee_fasttext_new", "non_ascii_fasttext"])
def test_models_in_gensims_test_data_are_read_as_gensim_reads_them(data, name):
    from gensim.models.fasttext import load_facebook_model

    expected = load_facebook_model(str(data / f"{name}.bin"))
    loaded = em.load_model(data / f"{name}.bin")
    assert loaded.vectors.words == expected.wv.index_to_key
    for word in ["the", "который", "wheres", "ještě", "unseenword"]:
        np.testing.assert_allclose(loaded.vectors[word], expected.wv[word], rtol=1e-5, atol=1e-6)
    assert np.array_equal(loaded.tables["output"], expected.syn1neg)
    assert (loaded.settings["window"], loaded.settings["epochs"]) == (expected.window, expected.epochs)


@needs_gensim
@pytest.mark.writes("fasttext", "gensim", "`save_facebook_model`: vectors of known and unseen words")
def test_files_written_by_gensim_are_read(tmp_path, text):
    from gensim.models.fasttext import FastText, save_facebook_model

    sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    trained = FastText(sentences, vector_size=8, min_count=1, epochs=1, bucket=77, workers=1, seed=1)
    save_facebook_model(trained, str(tmp_path / "g.bin"))
    loaded = em.load_model(tmp_path / "g.bin")
    assert loaded.settings["architecture"] == "cbow"
    for word in [*trained.wv.index_to_key[:50], "Раскольников", "unseenword"]:
        np.testing.assert_allclose(loaded.vectors[word], trained.wv[word], rtol=1e-5, atol=1e-6)


@pytest.fixture
def train(fasttext, python):
    """A model that fastText trained and saved in a process of its own."""

    def train(function, text, path, **settings):
        arguments = {"dim": 10, "epoch": 1, "bucket": BUCKETS, "minn": 2, "thread": 1, "verbose": 0, **settings}
        code = f"import fasttext; fasttext.{function}({str(text)!r}, **{arguments!r}).save_model({str(path)!r})"
        process = python("-c", code, check=False)
        if "RuntimeError" in process.stderr:
            pytest.skip(f"fastText could not train: {process.stderr.splitlines()[-1]}")
        assert process.returncode == 0, process.stderr
        return fasttext.load_model(str(path))

    return train


@pytest.mark.writes("fasttext", "fasttext-numpy2", "`save_model`, skip-gram and CBOW: tables and vectors")
@pytest.mark.parametrize("architecture", ["skipgram", "cbow"])
def test_files_written_by_fasttext_are_read(train, tmp_path, text, architecture):
    settings = {"model": architecture, "maxn": 4, "minCount": 2, "ws": 3}
    trained = train("train_unsupervised", text, tmp_path / "f.bin", **settings)
    loaded = em.load_model(tmp_path / "f.bin")
    assert loaded.vectors.words == trained.words
    for word in [*trained.words, "Раскольников", "unseenword", "q"]:
        np.testing.assert_allclose(
            vector_or_zeros(loaded.vectors, word), trained.get_word_vector(word), rtol=1e-5, atol=1e-7
        )
    expected = {"architecture": architecture, "min_n": 2, "max_n": 4, "buckets": BUCKETS, "window": 3, "min_count": 2}
    assert loaded.settings.items() >= expected.items()
    loaded.export(tmp_path / "again.bin", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == (tmp_path / "f.bin").read_bytes()


@pytest.fixture
def labelled(tmp_path, text):
    """Lines of words of the text, with 300 labels of different frequencies."""
    words, rng = text.read_text(encoding="utf-8").split(), np.random.default_rng(0)
    lines = (" ".join(rng.choice(words, 1 + number % 11)) for number in range(1500))
    content = "".join(f"__label__{number * number % 601} {line}\n" for number, line in enumerate(lines))
    (tmp_path / "labelled.txt").write_text(content, encoding="utf-8")
    return tmp_path / "labelled.txt"


def test_supervised_models_give_words_and_quantised_ones_are_refused(train, tmp_path, labelled):
    trained = train("train_supervised", labelled, tmp_path / "s.bin", maxn=3, wordNgrams=2)
    vectors = em.load(tmp_path / "s.bin")
    assert vectors.words == trained.words
    for word in [*trained.words, "unseenword"]:
        np.testing.assert_allclose(vector_or_zeros(vectors, word), trained.get_word_vector(word), rtol=1e-5, atol=1e-7)
    with pytest.raises(SettingError, match=r"s.bin"):
        em.load_model(tmp_path / "s.bin")
    trained.quantize(cutoff=500)
    trained.save_model(str(tmp_path / "s.ftz"))
    with pytest.raises(FormatError, match="quantised"):
        em.load(tmp_path / "s.ftz")


def check_predictions(classifier, expected, lines):
    """The same labels and probabilities as fastText's, which may be in another order where they are equal.

    With "one against all" and "negative sampling" fastText reads probabilities from a table with 32 steps to a unit of
    the score, so the last bit of a score can decide on a step: few lines may be a step off.
    """
    step = 1 / 32 if classifier.loss in ("one against all", "negative sampling") else 0
    labels, probabilities = classifier.predict(lines, k=4)
    lines_off = 0
    for line, names, row in zip(lines, labels, probabilities, strict=True):
        theirs = expected.f.predict(line + "\n", 4, 0.0, "strict")
        named = {name: p for p, name in theirs}
        by_label = [named.get(name, row[len(theirs) - 1]) for name in names if name]
        for ours, expected_row in ((row[: len(theirs)], [p for p, _ in theirs]), (row[: len(by_label)], by_label)):
            np.testing.assert_allclose(ours, expected_row, rtol=1e-7 + step, atol=1e-5)
            lines_off += not np.allclose(ours, expected_row, rtol=1e-7, atol=1e-5)
    assert lines_off <= 0.02 * len(lines) + 1


SUPERVISED = {  # 10 threads, because fewer do not initialise all rows
    "words": {"minn": 0, "maxn": 0},
    "n-grams": {"minn": 2, "maxn": 4, "wordNgrams": 3, "bucket": 5_000},
}


@pytest.mark.writes("fasttext", "fasttext-numpy2", "supervised models: labels and probabilities, quantised or not")
@pytest.mark.parametrize(
    ("loss", "settings"),
    [
        ("softmax", "n-grams"),
        *(pytest.param(loss, "n-grams", marks=pytest.mark.slow) for loss in ("hs", "ova", "ns")),
        pytest.param("softmax", "words", marks=pytest.mark.slow),
    ],
)
def test_classifiers_predict_as_fasttext_does(fasttext, train, tmp_path, labelled, settings, loss):
    trained = train(
        "train_supervised", labelled, tmp_path / "s.bin", **SUPERVISED[settings], loss=loss, lr=0.5, thread=10
    )
    lines = [
        *labelled.read_text(encoding="utf-8").splitlines()[::7],
        "",
        "__label__1",
        "the </s> x",
        "Раскольников 北海道",
    ]
    check_predictions(em.load_classifier(tmp_path / "s.bin"), trained, lines)
    check_round_trip(tmp_path / "s.bin")
    for cutoff, qout, qnorm in [(0, False, False), (500, True, True)]:
        trained = fasttext.load_model(str(tmp_path / "s.bin"))
        trained.quantize(cutoff=cutoff, qout=qout, qnorm=qnorm)
        trained.save_model(str(tmp_path / "s.ftz"))
        check_predictions(em.load_classifier(tmp_path / "s.ftz"), trained, lines)
        check_round_trip(tmp_path / "s.ftz")


@pytest.mark.slow
@pytest.mark.reads("fasttext", "fasttext-numpy2", "supervised models: labels and probabilities, quantised or not")
def test_fasttext_predicts_as_our_quantised_classifiers_do(fasttext, train, tmp_path, labelled, monkeypatch):
    monkeypatch.setattr(
        "embeddings.vectors.product_quantisation.ITERATIONS", 1
    )  # of k-means: the files have the same form
    for loss, settings in [("softmax", "n-grams"), ("hs", "n-grams"), ("ova", "words")]:
        train("train_supervised", labelled, tmp_path / "s.bin", **SUPERVISED[settings], loss=loss, lr=0.5, thread=10)
        classifier = em.load_classifier(tmp_path / "s.bin")
        for choice in ({}, {"cutoff": 700, "qnorm": True, "qout": True}, {"cutoff": 5, "dsub": 3}):
            quantised = classifier.quantize(**choice)
            quantised.export(tmp_path / "q.ftz", force=True)
            lines = labelled.read_text(encoding="utf-8").splitlines()[::17]
            check_predictions(quantised, fasttext.load_model(str(tmp_path / "q.ftz")), lines)


def check_round_trip(path):
    """A classifier that is read and written gives the same file."""
    copy = path.with_suffix(".copy")
    em.load_classifier(path).export(copy, force=True)
    assert copy.read_bytes() == path.read_bytes()
