"""Exported files are loaded by the libraries they are for, and files that these libraries write are read here.

The extra `ecosystem` installs the libraries. Each runs in its own process, because they warn and take seconds.
"""

import json
import re

import numpy as np
import pytest
from optional_libraries import needs

import embeddings as em
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors

pytestmark = pytest.mark.slow
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}


def requires(*modules):
    """Marks a test that is skipped without these libraries."""

    def mark(test):
        for one in needs(*modules):
            test = one(test)
        return test

    return mark


@pytest.fixture
def vectors():
    words = ["the", "king", "queen", "été", "日本", "new_york", "agent", "NOUN".lower()]
    matrix = np.random.default_rng(1).standard_normal((len(words), 6)).astype("f4")
    return Vectors(words, matrix, counts=range(len(words), 0, -1))


@pytest.fixture
def run_json(python):
    """Run a program that prints one JSON value, and return the value."""
    return lambda code, *arguments: json.loads(python("-c", code, *arguments, **OFFLINE).stdout.splitlines()[-1])


def mean(vectors, *words):
    return np.mean([vectors[word] for word in words], axis=0)


ENCODE = """
import json, sys
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu")
texts = ["King", "the King, the QUEEN!", "Été in 日本", "king nobody", "nobody", "new_york"]
print(json.dumps([row.tolist() for row in model.encode(texts)]))
"""


@pytest.mark.reads("sentence-transformers", "sentence-transformers", "`encode`: means, float32 and float16")
@requires("sentence_transformers")
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float16", 3e-3)])
def test_sentence_transformers_averages_the_words(tmp_path, vectors, run_json, dtype, tolerance):
    vectors.save(tmp_path / "v", "sentence-transformers", dtype=dtype)
    rows = run_json(ENCODE, tmp_path / "v")
    expected = [
        vectors["king"],
        mean(vectors, "the", "king", "the", "queen"),
        mean(vectors, "été", "日本") * 2 / 3,
        vectors["king"] / 2,
        np.zeros(6),
        vectors["new_york"],
    ]
    np.testing.assert_allclose(rows, expected, atol=tolerance)


@pytest.mark.reads("sentence-transformers", "sentence-transformers", "`encode`: vectors at length 1 with --normalize")
@requires("sentence_transformers")
def test_sentence_transformers_normalizes_texts(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "sentence-transformers", normalize=True)
    rows = np.array(run_json(ENCODE, tmp_path / "v"))
    expected = mean(vectors, "the", "king", "the", "queen")
    np.testing.assert_allclose(rows[1], expected / np.linalg.norm(expected), atol=1e-6)
    assert not rows[4].any()
    assert load(tmp_path / "v").words == vectors.words


SAVE_STATIC = """
import json, sys
import numpy as np
from sentence_transformers import SentenceTransformer
try:
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
except ImportError:
    from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers
tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
static = StaticEmbedding(tokenizer, embedding_weights=np.arange(6, dtype="f4").reshape(3, 2))
SentenceTransformer(modules=[static], device="cpu").save(sys.argv[1])
print(json.dumps(None))
"""


@pytest.mark.writes("sentence-transformers", "sentence-transformers", "`save`: words and components")
@requires("sentence_transformers")
def test_folders_written_by_sentence_transformers(tmp_path, run_json):
    run_json(SAVE_STATIC, tmp_path / "v")
    again = load(tmp_path / "v")
    assert again.words == ["a", "b", "[UNK]"]
    assert again.matrix.tolist() == [[0, 1], [2, 3], [4, 5]]


TOKENS = """
import json, sys
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
print(json.dumps([tokenizer.encode(text).tokens for text in sys.argv[2:]]))
"""
TEXTS = ["The King's, QUEEN", "Été_x new_york 日本!", "ΣΑΣ", "नमस्ते"]


@pytest.mark.reads("model2vec", "tokenizers", "`from_file`: texts of four scripts are split as here")
@requires("tokenizers")
def test_tokenizers_split_text_as_here(tmp_path, run_json):
    from embeddings.corpora.tokenizers import lower_case
    from embeddings.corpora.tokenizers import words as split

    words = list(dict.fromkeys(lower_case(word) for text in TEXTS for word in [*split(text), "new_york", "été_x"]))
    Vectors(words, np.ones((len(words), 1))).save(tmp_path / "v", "model2vec")
    expected = [["the", "king's", "queen"], ["été_x", "new_york", "日本"], [lower_case("ΣΑΣ")], ["नमस्ते"]]
    assert run_json(TOKENS, tmp_path / "v", *TEXTS) == expected
    Vectors(["U.S.", "the"], np.ones((2, 1))).save(tmp_path / "w", "model2vec")
    # vectors of unknown origin get the tokenizer of `em.embed`, for which U.S. ends before its last point
    assert run_json(TOKENS, tmp_path / "w", "the U.S. The") == [["the", "[UNK]", "[UNK]"]]


AUTO = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
print(json.dumps([tokenizer("King nobody")["input_ids"], tokenizer.unk_token, len(tokenizer)]))
"""


@pytest.mark.reads("model2vec", "transformers", "`AutoTokenizer`: ids, unknown words")
@requires("transformers")
def test_transformers_load_the_tokenizer(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "model2vec")
    assert run_json(AUTO, tmp_path / "v") == [[1, len(vectors)], "[UNK]", len(vectors) + 1]


STATIC = """
import json, sys
from model2vec import StaticModel
model = StaticModel.from_pretrained(sys.argv[1])
print(json.dumps([row.tolist() for row in model.encode(["King", "the king nobody"])]))
"""


@pytest.mark.reads("model2vec", "model2vec", "`StaticModel.from_pretrained`: vectors of texts")
@requires("model2vec")
def test_model2vec_loads_the_folder(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "model2vec")
    rows = run_json(STATIC, tmp_path / "v")
    np.testing.assert_allclose(rows, [vectors["king"], mean(vectors, "the", "king")], atol=1e-6)


@pytest.mark.reads("model2vec", "model2vec", "`StaticModel.from_pretrained`: vectors at length 1 with --normalize")
@requires("model2vec")
def test_model2vec_normalizes_texts(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "model2vec", normalize=True)
    rows = run_json(STATIC, tmp_path / "v")
    expected = [vectors["king"], mean(vectors, "the", "king")]
    np.testing.assert_allclose(rows, [row / np.linalg.norm(row) for row in expected], atol=1e-6)


PIECES = """
import json, sys
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
folder, *texts, source = sys.argv[1:]
model = SentenceTransformer(folder, device="cpu")
print(json.dumps([model.encode(texts).tolist(), len(Tokenizer.from_file(source).get_vocab())]))
"""


@pytest.mark.reads("sentence-transformers", "sentence-transformers", "`encode`: sub-words of another tokenizer.json")
@requires("sentence_transformers")
def test_the_tokenizer_of_a_model_is_exported(tmp_path, run_json):
    import embeddings as em

    path = write_pieces(tmp_path / "pieces.json")
    corpus = em.Corpus(["low lower newest widest"] * 20, tokenizer=f"huggingface:{path}", case="keep")
    model = em.train("skipgram", corpus, dim=5, epochs=1, min_count=1, threads=1, subsample=0)
    model.vectors.save(tmp_path / "v", "sentence-transformers", normalize=True)
    texts = ["lowest", "newer", "low low"]
    rows, tokens = run_json(PIECES, tmp_path / "v", *texts, path)
    expected = em.embed(model, texts, normalize=True)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    again = load(tmp_path / "v")
    assert tokens == len(again) > len(model.vectors)
    assert all(np.array_equal(again[piece], model.vectors[piece]) for piece in model.vectors.words)


def write_pieces(path):
    """A tokenizer.json of word pieces, with a token that does not occur, padding and truncation."""
    tokenizers = pytest.importorskip("tokenizers")
    pieces = ["[UNK]", "[PAD]", "low", "##er", "##est", "new", "wid", "never"]
    model = tokenizers.models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.enable_padding(length=9, pad_id=1)
    tokenizer.enable_truncation(2)
    tokenizer.save(str(path))
    return path


WRITE_STATIC = """
import json, sys
import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, pre_tokenizers
tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
StaticModel(np.arange(6, dtype="f4").reshape(3, 2), tokenizer, config={"normalize": True}).save_pretrained(sys.argv[1])
print(json.dumps(None))
"""


@pytest.mark.writes("model2vec", "model2vec", "`save_pretrained`: words and components")
@requires("model2vec")
def test_folders_written_by_model2vec(tmp_path, run_json):
    run_json(WRITE_STATIC, tmp_path / "v")
    again = load(tmp_path / "v")
    assert again.words == ["[UNK]", "a", "b"]
    assert again["b"].tolist() == [4, 5]


WRITE_QUANTISED = """
import json, sys
import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
pieces = ["[UNK]", "red", "car", "##s", "house", "a"]
tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
kind = sys.argv[2]
table = np.random.default_rng(1).standard_normal((6, 4)).astype("f4")
mapping = weights = None
if "mapping" in kind:
    table, mapping = table[:3], np.array([0, 1, 2, 1, 0, 2])
if "weights" in kind:
    weights = np.linspace(0.5, 1.5, 6)
if "int8" in kind:
    table = np.rint(table * 40).astype(np.int8)
model = StaticModel(table, tokenizer, config={"normalize": False}, weights=weights, token_mapping=mapping)
model.save_pretrained(sys.argv[1])
model = StaticModel.from_pretrained(sys.argv[1])
print(json.dumps(model.encode(["Red cars", "a house x", "x", ""]).tolist()))
"""


@pytest.mark.writes("model2vec", "model2vec", "`mapping`, `weights`, int8: vectors of texts as `encode` gives them")
@requires("model2vec")
@pytest.mark.parametrize("kind", ["plain", "mapping", "weights", "int8", "mapping-weights-int8"])
def test_quantised_folders_of_model2vec(tmp_path, run_json, kind):
    expected = run_json(WRITE_QUANTISED, tmp_path / "v", kind)
    rows = em.embed(tmp_path / "v", ["Red cars", "a house x", "x", ""])
    np.testing.assert_allclose(rows, expected, rtol=1e-5, atol=1e-5)
    load(tmp_path / "v").save(tmp_path / "w", "model2vec")
    np.testing.assert_allclose(em.embed(tmp_path / "w", ["Red cars", "a house x", "x", ""]), rows, rtol=1e-6)


@requires("model2vec")
def test_int8_rows_are_read_by_model2vec(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "model2vec", dtype="int8")
    rows = np.array(run_json(STATIC, tmp_path / "v"))
    again = load(tmp_path / "v")
    np.testing.assert_allclose(em.embed(again, ["King", "the king nobody"]), rows, rtol=1e-5, atol=1e-6)
    largest = np.abs(vectors.matrix).max(axis=1, keepdims=True)
    np.testing.assert_allclose(again.matrix / largest, vectors.matrix / largest, atol=0.5 / 127 + 1e-6)


@pytest.mark.reads("model2vec", "model2vec", "weights and projection in the rows: vectors as `embed` pools them")
@pytest.mark.reads("sentence-transformers", "sentence-transformers", "the same, up to a factor for each text")
@requires("model2vec", "sentence_transformers")
def test_weighted_rows_give_the_vectors_of_embed(tmp_path, vectors, run_json):
    texts = ["King", "the King, the QUEEN!", "Été in 日本", "king nobody", "nobody", "new_york"]
    weighted = em.training.weight_vectors(vectors, "sif", remove_components=1, fit_on=texts[:3])
    expected = em.embed(vectors, texts, pool="sif", remove_components=1, fit_on=texts[:3], tokenizer=split_words)
    for form, code in (("model2vec", STATIC), ("sentence-transformers", ENCODE)):
        weighted.save(tmp_path / form, form)
        rows = np.array(run_json(code.replace('["King", "the king nobody"]', repr(texts)), tmp_path / form))
        if form == "sentence-transformers":
            shares = np.array([1, 1, 2 / 3, 1 / 2, 0, 1])  # of known words
            rows /= np.where(shares > 0, shares, 1)[:, None]
        np.testing.assert_allclose(rows, expected, atol=1e-6)
        np.testing.assert_allclose(em.embed(tmp_path / form, texts), expected, atol=1e-6)


def split_words(text):
    """The words of a text, with underscores in them."""
    return re.findall(r"\w+", text)


SPACY = """
import json, sys
import spacy
nlp = spacy.load(sys.argv[1])
loaded = {word: nlp.vocab[word].vector.tolist() for word in sys.argv[2:]}
blank = spacy.blank("en")
blank.vocab.vectors.from_disk(sys.argv[1] + "/vocab")
again = {word: blank.vocab[word].vector.tolist() for word in sys.argv[2:]}
tokens = [token.text for token in nlp("the king's, (new_york) 日本! don't")]
cased = [token.vector.tolist() for token in nlp("The KING")]
print(json.dumps([loaded, again, cased, tokens, nlp.lang]))
"""


@pytest.mark.reads("spacy", "spacy", "`spacy.load`: every vector, case, how text is split; `from_disk`")
@requires("spacy")
def test_spacy_loads_the_folder(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "spacy", language="en")
    loaded, again, cased, tokens, language = run_json(SPACY, tmp_path / "v", *vectors.words, "nobody")
    assert language == "en"
    for word in vectors:
        assert loaded[word] == again[word] == vectors[word].tolist()
    assert not any(loaded["nobody"])
    assert cased == [vectors["the"].tolist(), vectors["king"].tolist()]
    assert tokens == ["the", "king", "'", "s", ",", "(", "new_york", ")", "日本", "!", "don", "'", "t"]


WRITE_SPACY = """
import json, sys
import numpy as np
import spacy
nlp = spacy.blank("en")
for number, word in enumerate(["the", "agent", "king", "unseen"]):
    nlp.vocab.set_vector(word, np.full(3, number, "f4"))
nlp.vocab.strings.add("without")
nlp.vocab.prune_vectors(3)
nlp.to_disk(sys.argv[1])
print(json.dumps({word: nlp.vocab[word].vector.tolist() for word in ["the", "agent", "king", "unseen"]}))
"""


@pytest.mark.writes("spacy", "spacy", "`to_disk` of pruned vectors: words and components")
@requires("spacy")
def test_folders_written_by_spacy(tmp_path, run_json):
    expected = run_json(WRITE_SPACY, tmp_path / "v")
    again = load(tmp_path / "v")
    assert {word: again[word].tolist() for word in again} == expected


LOAD_VECTORS = """
import json, sys
import spacy
from spacy.training.initialize import load_vectors_into_model
nlp = spacy.blank("de")
load_vectors_into_model(nlp, sys.argv[1])
print(json.dumps([nlp.vocab["king"].vector.tolist(), nlp.vocab.vectors.shape]))
"""


@pytest.mark.reads("spacy", "spacy", "the function that `spacy train` calls: a vector, the shape")
@requires("spacy")
def test_spacy_train_loads_the_vectors(tmp_path, vectors, run_json):
    vectors.save(tmp_path / "v", "spacy", language="de")
    assert run_json(LOAD_VECTORS, tmp_path / "v") == [vectors["king"].tolist(), [len(vectors), 6]]


FRAMES = """
import json, sys
import polars
frames = polars.read_parquet(sys.argv[1]), polars.read_ipc(sys.argv[2])
print(json.dumps([[frame.columns, *(frame[name].to_list() for name in frame.columns)] for frame in frames]))
"""


def save(folder, vectors, *extensions):
    """Save vectors with each extension, and return the paths."""
    for extension in extensions:
        vectors.save(folder / f"v{extension}")
    return [folder / f"v{extension}" for extension in extensions]


@pytest.mark.reads("arrow", "polars", "`read_ipc`: columns, words, counts, every component")
@pytest.mark.reads("parquet", "polars", "`read_parquet`: columns, words, counts, every component")
@requires("polars")
def test_polars_reads_the_tables(tmp_path, vectors, run_json):
    paths = save(tmp_path, vectors, ".parquet", ".arrow")
    expected = [["word", "count", "vector"], vectors.words, vectors.counts.tolist(), vectors.matrix.tolist()]
    assert run_json(FRAMES, *paths) == [expected, expected]


QUERY = """
import json, sys
import duckdb
rows = duckdb.sql(f"select word, count, vector from '{sys.argv[1]}' order by count desc").fetchall()
pairs = f"from '{sys.argv[1]}' a, '{sys.argv[1]}' b where a.word = 'king' and b.word = 'queen'"
near = "select array_cosine_similarity(a.vector::float[6], b.vector::float[6]) " + pairs
print(json.dumps([rows, duckdb.sql(near).fetchall()[0][0]]))
"""


@pytest.mark.reads("parquet", "duckdb", "SQL over the file: words, counts, every component, a cosine")
@requires("duckdb")
def test_duckdb_queries_the_parquet_file(tmp_path, vectors, run_json):
    rows, cosine = run_json(QUERY, *save(tmp_path, vectors, ".parquet"))
    words, counts, lists = zip(*rows, strict=True)
    assert (list(words), list(counts)) == (vectors.words, vectors.counts.tolist())
    assert np.array_equal(np.array(lists, "f4"), vectors.matrix)
    assert cosine == pytest.approx(vectors.similarity("king", "queen"), abs=1e-6)
