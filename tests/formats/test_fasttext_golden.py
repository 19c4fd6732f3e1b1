"""fastText's files exchanged with gensim and with fastText itself, both ways, for known and unseen words."""

from pathlib import Path

import numpy as np
import pytest
from subword_models import UNSEEN, WORDS, model

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.formats import fasttext_bin
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

pytestmark = pytest.mark.golden
# gensim gives n-grams to the end of a line too; neither takes a NUL in a word from Python as it is, nor white space
ASKED = [word for word in [*WORDS, *UNSEEN] if word != "</s>" and "\0" not in word]
BUCKETS = (
    900_000  # fastText does not set all of a matrix before training: a large one of a new process is zero by itself
)
NEAR = {"rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(scope="module")
def theirs():
    """fastText's own package."""
    return pytest.importorskip("fasttext", reason="fastText itself is not installed; it comes with the extra fasttext")


@pytest.fixture(scope="module")
def data():
    """gensim's files for its own tests."""
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
def made(request):
    return model(min_n=request.param[0], max_n=request.param[1], window=4, negatives=3, sample=1e-3)


@pytest.fixture
def path(tmp_path, made):
    made.export(tmp_path / "m.bin", "fasttext")
    return str(tmp_path / "m.bin")


@pytest.fixture
def flat(tmp_path):
    """A file of a model without n-grams, and the model."""
    vectors = Vectors(["b", "a", "ñ"], np.random.default_rng(0).standard_normal((3, 4)), counts=[7, 2, 2])
    made = Model(
        "cbow",
        vectors=vectors,
        vocabulary=Vocabulary(vectors.words, vectors.counts),
        tables={"output": np.arange(12, dtype=np.float32).reshape(3, 4)},
    )
    made.export(tmp_path / "flat.bin", "fasttext")
    return str(tmp_path / "flat.bin"), made


@pytest.mark.reads("fasttext", "gensim", "`load_facebook_vectors`: counts, vectors of known and unseen words")
def test_gensim_reads_the_vectors_of_our_files(path, made):
    from gensim.models.fasttext import load_facebook_vectors

    found = load_facebook_vectors(path)
    assert found.index_to_key == made.vectors.words
    assert [found.get_vecattr(word, "count") for word in WORDS] == made.vectors.counts.tolist()
    for word in ASKED:
        np.testing.assert_allclose(found[word], asked(made.vectors, word), **NEAR)


@pytest.mark.reads("fasttext", "gensim", "`load_facebook_model`: goes on training")
def test_gensim_reads_our_files_as_models_and_trains_on(path, made):
    from gensim.models.fasttext import load_facebook_model

    found = load_facebook_model(path)
    assert (found.window, found.negative, found.sg, found.corpus_total_words) == (4, 3, 1, made.vocabulary.total)
    assert np.array_equal(found.syn1neg, made.tables["output"])
    assert np.array_equal(found.wv.vectors_ngrams, made.tables["ngrams"])
    found.train([WORDS], total_examples=1, epochs=1)


@pytest.mark.reads("fasttext", "fasttext-numpy2", "`load_model`: vectors of known and unseen words")
def test_fasttext_reads_our_files(theirs, path, made):
    found = theirs.load_model(path)
    assert found.words == made.vectors.words
    for word in [*ASKED, "</s>"]:
        np.testing.assert_allclose(found.get_word_vector(word), asked(made.vectors, word), **NEAR)
    assert np.array_equal(found.get_output_matrix(), made.tables["output"])
    assert found.get_nearest_neighbors("the", k=1)[0][1] == made.vectors.most_similar("the")[0][0]


def asked(vectors, word):
    """The vector of a word; what they give one without any n-gram."""
    return vectors[word] if word in vectors else vectors.compose([word])[0]


def test_files_without_ngrams_are_read(theirs, flat):
    from gensim.models.fasttext import load_facebook_model

    path, made = flat
    found = load_facebook_model(path)
    assert np.array_equal(found.wv[made.vectors.words], made.vectors.matrix)
    assert np.array_equal(found.syn1neg, made.tables["output"])
    found = theirs.load_model(path)
    for word in made.vectors:
        np.testing.assert_allclose(found.get_word_vector(word), made.vectors[word], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "errors"),
    [("crime-and-punishment", "strict"), ("lee_fasttext", "strict"), ("pang_lee_polarity_fasttext", "replace")],
)
def test_their_bin_and_vec_agree(data, name, errors):
    found = em.load(data / f"{name}.bin", errors=errors)
    listed = em.load(data / f"{name}.vec", errors=errors)
    assert found.words == listed.words
    rows = [row for row, word in enumerate(found.words) if word != "</s>"]  # had n-grams before 2017
    np.testing.assert_allclose(found.matrix[rows], listed.matrix[rows], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["crime-and-punishment", "lee_fasttext", "lee_fasttext_new", "non_ascii_fasttext"])
def test_gensims_files_give_what_gensim_reads(data, name):
    from gensim.models.fasttext import load_facebook_model

    expected = load_facebook_model(str(data / f"{name}.bin"))
    found = em.load_model(data / f"{name}.bin")
    assert found.vectors.words == expected.wv.index_to_key
    for word in ["the", "который", "wheres", "ještě", "unseenword"]:
        np.testing.assert_allclose(found.vectors[word], expected.wv[word], rtol=1e-5, atol=1e-6)
    assert np.array_equal(found.tables["output"], expected.syn1neg)
    assert (found.settings["window"], found.settings["epochs"]) == (expected.window, expected.epochs)


@pytest.mark.writes("fasttext", "gensim", "`save_facebook_model`: vectors of known and unseen words")
def test_what_gensim_writes_is_read(tmp_path, text):
    from gensim.models.fasttext import FastText, save_facebook_model

    sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    trained = FastText(sentences, vector_size=8, min_count=1, epochs=1, bucket=77, workers=1, seed=1)
    save_facebook_model(trained, str(tmp_path / "g.bin"))
    found = em.load_model(tmp_path / "g.bin")
    assert found.settings["architecture"] == "cbow"
    for word in [*trained.wv.index_to_key[:50], "Раскольников", "unseenword"]:
        np.testing.assert_allclose(found.vectors[word], trained.wv[word], rtol=1e-5, atol=1e-6)


@pytest.fixture
def train(theirs, python):
    """A model that fastText trained and saved in a process of its own."""

    def run(how, text, path, **settings):
        given = {"dim": 10, "epoch": 1, "bucket": BUCKETS, "minn": 2, "thread": 1, "verbose": 0, **settings}
        code = f"import fasttext; fasttext.{how}({str(text)!r}, **{given!r}).save_model({str(path)!r})"
        done = python("-c", code, check=False)
        if "RuntimeError" in done.stderr:
            pytest.skip(f"fastText could not train: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        return theirs.load_model(str(path))

    return run


@pytest.mark.writes("fasttext", "fasttext-numpy2", "`save_model`, skip-gram and CBOW: tables and vectors")
@pytest.mark.parametrize("architecture", ["skipgram", "cbow"])
def test_what_fasttext_writes_is_read(train, tmp_path, text, architecture):
    settings = {"model": architecture, "maxn": 4, "minCount": 2, "ws": 3}
    trained = train("train_unsupervised", text, tmp_path / "f.bin", **settings)
    found = em.load_model(tmp_path / "f.bin")
    assert found.vectors.words == trained.words
    for word in [*trained.words, "Раскольников", "unseenword", "q"]:
        np.testing.assert_allclose(asked(found.vectors, word), trained.get_word_vector(word), rtol=1e-5, atol=1e-7)
    expected = {"architecture": architecture, "min_n": 2, "max_n": 4, "buckets": BUCKETS, "window": 3, "min_count": 2}
    assert found.settings.items() >= expected.items()
    found.export(tmp_path / "again.bin", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == (tmp_path / "f.bin").read_bytes()


def test_supervised_models_give_words_and_quantised_ones_are_refused(train, tmp_path, text):
    lines = text.read_text(encoding="utf-8").splitlines()
    (tmp_path / "labelled.txt").write_text(
        "".join(f"__label__{number % 2} {line}\n" for number, line in enumerate(lines)), encoding="utf-8"
    )
    trained = train("train_supervised", tmp_path / "labelled.txt", tmp_path / "s.bin", maxn=3, wordNgrams=2)
    found = em.load(tmp_path / "s.bin")
    assert found.words == trained.words
    for word in [*trained.words, "unseenword"]:
        np.testing.assert_allclose(asked(found, word), trained.get_word_vector(word), rtol=1e-5, atol=1e-7)
    with pytest.raises(FormatError, match="is a supervised model"):
        fasttext_bin.read_model(tmp_path / "s.bin")
    trained.quantize(cutoff=500)
    trained.save_model(str(tmp_path / "s.ftz"))
    with pytest.raises(FormatError, match="a quantised fastText model"):
        em.load(tmp_path / "s.ftz")
