"""gensim's own files: gensim loads ours, its models are read whole, and pickles are read only when allowed."""

import pickle

import numpy as np
import pytest
from optional_libraries import import_gensim

import embeddings as em
from embeddings.errors import FormatError, SettingError

models = import_gensim("gensim.models")
Doc2Vec, FastText, KeyedVectors, Word2Vec = models.Doc2Vec, models.FastText, models.KeyedVectors, models.Word2Vec
TaggedDocument, FastTextKeyedVectors = models.doc2vec.TaggedDocument, models.fasttext.FastTextKeyedVectors
pytestmark = pytest.mark.golden
SENTENCES = [f"the {'quick' if i % 2 else 'lazy'} fox{i % 3} jumps over dogs".split() for i in range(40)]
COMMON = {"vector_size": 6, "min_count": 1, "epochs": 2, "workers": 1, "seed": 1, "sample": 0.01}
UNSEEN = ["quickest", "foxes", "日本"]


@pytest.fixture
def vectors():
    rng = np.random.default_rng(5)
    return em.Vectors(["the", "new york", "日本\n"], rng.standard_normal((3, 4)), counts=[9, 5, 5])


@pytest.mark.reads("gensim", "gensim", "`KeyedVectors.load`: words, components, counts; `most_similar`")
def test_gensim_loads_our_files_with_counts(tmp_path, vectors):
    vectors.save(tmp_path / "v.kv")
    keyed = KeyedVectors.load(str(tmp_path / "v.kv"))
    assert keyed.index_to_key == vectors.words
    assert np.array_equal(keyed.vectors, vectors.matrix)
    assert [keyed.get_vecattr(word, "count") for word in vectors.words] == [9, 5, 5]
    assert keyed.most_similar("the", topn=2)[0][0] == vectors.most_similar("the")[0][0]
    with pytest.raises(SettingError, match=r"v\.kv"):
        em.load_model(tmp_path / "v.kv", allow_pickle=True)


def test_large_matrices_stay_in_one_file(tmp_path):
    rows = 11 * 2**20 // 64
    em.Vectors([str(row) for row in range(rows)], np.ones((rows, 64), "f4")).save(tmp_path / "v.kv")
    assert [path.name for path in tmp_path.iterdir()] == ["v.kv"]
    assert len(KeyedVectors.load(str(tmp_path / "v.kv"))) == rows


def test_memory_mapped_vectors_are_copied_into_the_file(tmp_path, vectors):
    vectors.matrix.tofile(tmp_path / "raw")
    mapped = np.memmap(tmp_path / "raw", dtype=np.float32, mode="r", shape=(3, 4))
    em.Vectors(vectors.words, mapped).save(tmp_path / "v.kv")
    (tmp_path / "raw").unlink()
    assert np.array_equal(em.load(tmp_path / "v.kv", allow_pickle=True).matrix, vectors.matrix)


def load_both(path):
    """The model in a file, whose vectors are also those that `load` reads."""
    model = em.load_model(path, allow_pickle=True)
    assert np.array_equal(em.load(path, allow_pickle=True).matrix, model.vectors.matrix)
    return model


@pytest.mark.writes("gensim", "gensim", "`Word2Vec.save`: words, counts, both tables, settings")
@pytest.mark.parametrize("sg", [0, 1])
def test_word2vec(tmp_path, sg):
    trained = Word2Vec(SENTENCES, sg=sg, negative=3, cbow_mean=0, window=4, **COMMON)
    trained.save(str(tmp_path / "m"))
    model = load_both(tmp_path / "m")
    assert model.name == ("skipgram" if sg else "cbow")
    assert model.vectors.words == trained.wv.index_to_key
    assert np.array_equal(model.vectors.matrix, trained.wv.vectors)
    assert np.array_equal(model.tables["output"], trained.syn1neg)
    assert model.vocabulary.counts.tolist() == [trained.wv.get_vecattr(word, "count") for word in model.vectors]
    assert model.vocabulary.total == trained.corpus_total_words
    expected = {"dim": 6, "window": 4, "epochs": 2, "negatives": 3, "subsample": 0.01, "learning_rate": 0.025}
    assert model.settings.items() >= (expected | ({} if sg else {"combine": "sum"})).items()


@pytest.mark.parametrize("missing", ["corpus_total_words", "effective_min_count"])
def test_models_of_earlier_versions_lack_numbers(tmp_path, missing):
    trained = Word2Vec(SENTENCES, **COMMON)
    setattr(trained, missing, None)  # as gensim fills in what a model of version 3.4 has not
    trained.save(str(tmp_path / "m"))
    model = load_both(tmp_path / "m")
    assert model.vocabulary.total == max(model.vocabulary.counts.sum(), trained.corpus_total_words or 0)


@pytest.mark.writes("gensim", "gensim", "`FastText.save`: vectors of known and unseen words, all tables")
@pytest.mark.parametrize("keyed_only", [False, True])
def test_fasttext_with_its_ngrams(tmp_path, keyed_only):
    trained = FastText(SENTENCES, bucket=50, min_n=2, max_n=4, **COMMON)
    (trained.wv if keyed_only else trained).save(str(tmp_path / "m"))
    if keyed_only:
        assert isinstance(FastTextKeyedVectors.load(str(tmp_path / "m")), FastTextKeyedVectors)
    model = load_both(tmp_path / "m")
    assert model.name == "fasttext"
    assert {"min_n": 2, "max_n": 4, "buckets": 50}.items() <= model.settings.items()
    for vectors in (model.vectors, em.load(tmp_path / "m", allow_pickle=True)):
        for word in [*trained.wv.index_to_key, *UNSEEN]:
            np.testing.assert_allclose(vectors[word], trained.wv[word], rtol=1e-5, atol=1e-7)
    assert ("output" in model.tables) != keyed_only
    model.export(tmp_path / "m.bin", "fasttext")
    np.testing.assert_allclose(em.load(tmp_path / "m.bin")["foxes"], trained.wv["foxes"], rtol=1e-5, atol=1e-7)


def test_fasttext_without_ngrams_composes_nothing(tmp_path):
    FastText(SENTENCES, bucket=0, max_n=0, **COMMON).save(str(tmp_path / "m"))
    assert load_both(tmp_path / "m").vectors.compose is None


def test_ngrams_of_another_hash_are_refused(tmp_path):
    trained = FastText(SENTENCES, bucket=50, **COMMON)
    trained.wv.compatible_hash = False
    (tmp_path / "m").write_bytes(pickle.dumps(trained.wv))  # gensim itself refuses to save them
    with pytest.raises(FormatError, match="hash"):
        em.load(tmp_path / "m", allow_pickle=True)


@pytest.mark.writes("gensim", "gensim", "`Doc2Vec.save`: words, documents, tags")
@pytest.mark.parametrize(
    "settings", [{"dm": 1}, {"dm": 1, "dm_mean": 0}, {"dm": 0}, {"dm": 0, "dbow_words": 1}], ids=str
)
@pytest.mark.parametrize("tags", ["numbers", "names"])
def test_doc2vec_with_its_documents(tmp_path, settings, tags):
    documents = [TaggedDocument(words, [i if tags == "numbers" else f"d{i}"]) for i, words in enumerate(SENTENCES)]
    trained = Doc2Vec(documents, negative=3, **settings, **COMMON)
    trained.save(str(tmp_path / "m"))
    model = load_both(tmp_path / "m")
    assert model.name == ("paragraph-dm" if settings["dm"] else "paragraph-dbow")
    assert model.documents.words == [str(tag) for tag in trained.dv.index_to_key]
    assert np.array_equal(model.documents.matrix, trained.dv.vectors)
    assert np.array_equal(em.load(tmp_path / "m", allow_pickle=True, table="documents").matrix, trained.dv.vectors)
    has_random_words = settings == {"dm": 0}
    assert np.array_equal(model.vectors.matrix, trained.syn1neg if has_random_words else trained.wv.vectors)
    model.save(tmp_path / "ours")
    assert em.load_model(tmp_path / "ours").documents.words == model.documents.words


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"dm": 1}, {"dm": 0}, {"dm": 0, "dbow_words": 1}], ids=str)
def test_documents_are_inferred_by_models_of_gensim(tmp_path, settings):
    documents = [TaggedDocument(words, [i]) for i, words in enumerate(SENTENCES)]
    Doc2Vec(documents, negative=3, **settings, **COMMON).save(str(tmp_path / "m"))
    model = em.load_model(tmp_path / "m", allow_pickle=True)
    rows = model.infer(["the lazy fox1", "jumps over", "nobody The"])
    assert rows.shape == (3, 6)
    assert rows[:2].any(axis=1).all()
    assert not rows[2].any()
    assert np.array_equal(model.infer([["jumps", "over"]]), model.infer(["jumps over"]))


def test_that_documents_are_not_vectors_of_words_is_reported(tmp_path, caplog):
    documents = [TaggedDocument(words, [i]) for i, words in enumerate(SENTENCES)]
    Doc2Vec(documents, **COMMON).save(str(tmp_path / "m"))
    em.load_model(tmp_path / "m", allow_pickle=True)
    assert not [one for one in caplog.records if one.name == "embeddings"]
    em.load(tmp_path / "m", allow_pickle=True)
    assert "documents" in caplog.text


def test_doc2vec_side_by_side_is_refused_as_a_model(tmp_path):
    documents = [TaggedDocument(words, [i]) for i, words in enumerate(SENTENCES)]
    Doc2Vec(documents, dm_concat=1, window=2, **COMMON).save(str(tmp_path / "m"))
    with pytest.raises(FormatError, match="dm_concat"):
        em.load_model(tmp_path / "m", allow_pickle=True)
    assert "fox1" in em.load(tmp_path / "m", allow_pickle=True)


def test_hierarchical_softmax_has_no_output_table(tmp_path):
    Word2Vec(SENTENCES, hs=1, negative=0, **COMMON).save(str(tmp_path / "m"))
    model = load_both(tmp_path / "m")
    assert "output" not in model.tables
    assert "negatives" not in model.settings


def test_words_that_are_not_sorted_by_frequency_are_read_as_vectors(tmp_path):
    trained = Word2Vec(SENTENCES, sorted_vocab=0, **COMMON)
    trained.wv.expandos["count"] = trained.wv.expandos["count"][::-1].copy()
    trained.wv.expandos["count"][0] = 1
    trained.save(str(tmp_path / "m"))
    with pytest.raises(FormatError, match="counts"):
        em.load_model(tmp_path / "m", allow_pickle=True)
    assert len(em.load(tmp_path / "m", allow_pickle=True)) == len(trained.wv)


class Bomb:
    def __reduce__(self):
        return exec, ("raise RuntimeError('it ran')",)


def test_pickles_are_refused_unless_allowed(tmp_path):
    (tmp_path / "v.kv").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FormatError, match=r"pickle.*allow_pickle=True"):
        em.load(tmp_path / "v.kv")
    with pytest.raises(FormatError, match="RuntimeError: it ran"):
        em.load(tmp_path / "v.kv", allow_pickle=True)


def test_truncated_and_foreign_pickles(tmp_path, vectors):
    vectors.save(tmp_path / "v.kv")
    data = (tmp_path / "v.kv").read_bytes()
    (tmp_path / "v.kv").write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match=r"v\.kv is truncated or broken"):
        em.load(tmp_path / "v.kv", allow_pickle=True)
    (tmp_path / "v.kv").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(FormatError, match=r"v\.kv "):
        em.load(tmp_path / "v.kv", allow_pickle=True)
