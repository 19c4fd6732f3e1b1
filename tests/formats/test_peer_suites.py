"""Other libraries' files and searches: gensim's own test data is read, and their neighbours in our files are ours."""

import json
from pathlib import Path

import numpy as np
import pytest
from optional_libraries import import_gensim

import embeddings as em

pytestmark = pytest.mark.slow
DATA_READ, DATA_REFUSED = 35, 146  # files of gensim 4.4's tests: vectors and models, and texts, old pickles, others
BINARY = ("euclidean_vectors.bin", "high_precision.kv.bin", "poincare_vectors.bin")
TEXT = ("high_precision.kv.txt", "lee_fasttext.vec", "crime-and-punishment.vec", "toy-model.vec", "word2vec_pre_kv_c")
FASTTEXT = ("crime-and-punishment.bin", "lee_fasttext.bin", "lee_fasttext_new.bin", "non_ascii_fasttext.bin")
QUERIES, TOP = 200, 10


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(1)
    return em.Vectors([f"w{n}" for n in range(2000)], rng.standard_normal((2000, 16)).astype(np.float32))


@pytest.fixture(scope="module")
def neighbours(vectors):
    """The nearest words of the first words."""
    return [[word for word, _ in vectors.most_similar(f"w{n}", top=TOP)] for n in range(QUERIES)]


def agreement(found, neighbours):
    """The share of nearest words that another library finds, too; rounding may exchange the last ones."""
    return np.mean([len(set(one) & set(other)) / TOP for one, other in zip(found, neighbours, strict=True)])


@pytest.mark.filterwarnings("ignore")  # of pickles of old versions
def test_data_files_of_gensim_are_read_as_gensim_reads_them_or_refused_in_one_line():
    import_gensim()
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors
    from gensim.test.utils import datapath

    folder, read, refused = Path(datapath("")), {}, []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".npy" and path.stat().st_size < 60_000_000:
            try:
                read[path.name] = em.load(path, allow_pickle=True)
            except em.EmbeddingsError as error:
                refused.append(str(error))
    assert len(read) >= DATA_READ
    assert len(read) + len(refused) >= DATA_READ + DATA_REFUSED
    assert not [message for message in refused if "\n" in message]
    theirs = {name: KeyedVectors.load_word2vec_format(folder / name, binary=name in BINARY) for name in BINARY + TEXT}
    theirs |= {name: load_facebook_vectors(folder / name) for name in FASTTEXT}
    for name, other in theirs.items():
        assert read[name].words == other.index_to_key, name
        words = [
            word for word in read[name].words if word != "</s>"
        ]  # for fastText it has no n-grams, for gensim it has
        np.testing.assert_allclose(read[name][words], other[words], rtol=1e-5, atol=1e-6, err_msg=name)
    for name in FASTTEXT:
        words = ["nightlife", "landlady's", "été"]
        np.testing.assert_allclose(read[name][words], theirs[name][words], rtol=1e-4, atol=1e-6, err_msg=name)


def test_vicinity_finds_the_same_neighbours(vectors, neighbours):
    vicinity = pytest.importorskip("vicinity")
    index = vicinity.Vicinity.from_vectors_and_items(
        vectors.matrix, vectors.words, backend_type=vicinity.Backend.BASIC, metric=vicinity.Metric.COSINE
    )
    found = [[word for word, _ in row[1:]] for row in index.query(vectors.matrix[:QUERIES], k=TOP + 1)]
    assert agreement(found, neighbours) >= 0.999
    assert index.evaluate(vectors.matrix, vectors.matrix[:QUERIES], k=TOP)[1] >= 0.999  # its own measure of recall


SPACY = """
import json, sys
import numpy as np
import spacy
vectors = spacy.load(sys.argv[1]).vocab.vectors
names = {row: word for word, row in vectors.key2row.items()}
strings = spacy.load(sys.argv[1]).vocab.strings
rows = np.stack([vectors[strings[f"w{n}"]] for n in range(int(sys.argv[2]))])
keys, _, _ = vectors.most_similar(rows, n=int(sys.argv[3]) + 1)
print(json.dumps([[strings[key] for key in row[1:].tolist()] for row in keys]))
"""
FASTTEXT_CODE = """
import json, sys
import fasttext
model = fasttext.load_model(sys.argv[1])
print(json.dumps([[word for _, word in model.get_nearest_neighbors(f"w{n}", int(sys.argv[3]))]
                  for n in range(int(sys.argv[2]))]))
"""


@pytest.mark.parametrize(
    ("library", "form", "code"), [("spacy", "spacy", SPACY), ("fasttext", "fasttext", FASTTEXT_CODE)]
)
def test_a_library_finds_the_same_neighbours_in_our_files(tmp_path, python, vectors, neighbours, library, form, code):
    pytest.importorskip(library)
    vectors.save(tmp_path / "v.bin", form)
    printed = python("-W", "ignore", "-c", code, tmp_path / "v.bin", QUERIES, TOP).stdout
    assert agreement(json.loads(printed.splitlines()[-1]), neighbours) >= 0.999
