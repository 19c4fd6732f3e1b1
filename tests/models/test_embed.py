"""Vectors of texts: naive versions of every way to pool, all kinds of texts, weights, components and types."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.models.embed import text_batches_of, text_embedder

WORDS = [f"w{number}" for number in range(30)]
COUNTS = np.arange(300, 0, -10)


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(2)
    return em.Vectors(WORDS, rng.standard_normal((30, 21)), counts=COUNTS)


def make_texts(count=200, seed=1):
    """Words of different frequency, some of them unknown; every tenth text has only such words or none."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        chosen = rng.choice(WORDS, size=rng.integers(1, 12)).tolist()
        yield ["", "nobody knows"][number % 20 // 10] if number % 10 == 9 else " ".join([*chosen, "unseen"])


def naive(vectors, texts, pool, constant=1e-3):
    """Vectors one text at a time, in float64."""
    share = dict(zip(vectors.words, vectors.counts / vectors.counts.sum(), strict=True))
    known = [[word for word in text.split() if word in vectors] for text in texts]
    texts_with = {word: sum(word in one for one in known) for word in vectors.words}
    weights = {
        "sif": lambda word: constant / (constant + share[word]),
        "idf": lambda word: np.log((1 + len(texts)) / (1 + texts_with[word])) + 1,
    }
    weight = weights.get(pool, lambda word: 1)
    for one in known:
        rows = np.array([weight(word) * vectors[word].astype(float) for word in one]).reshape(-1, vectors.dim)
        if not one:
            yield np.zeros(vectors.dim)
        elif pool == "sum":
            yield rows.sum(axis=0)
        else:
            yield rows.sum(axis=0) / (len(one) if pool in ("mean", "sif") else sum(map(weight, one)))


@pytest.mark.parametrize("pool", ["mean", "sif", "idf", "sum"])
def test_naive_pooling(vectors, pool):
    texts = list(make_texts())
    expected = np.array(list(naive(vectors, texts, pool)))
    for threads in (1, 3):
        rows = em.embed(vectors, texts, pool=pool, threads=threads)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(rows, expected, atol=2e-6)


def test_constants_change_weights(vectors):
    texts = list(make_texts())
    expected = np.array(list(naive(vectors, texts, "sif", 0.1)))
    np.testing.assert_allclose(em.embed(vectors, texts, pool="sif", constant=0.1), expected, atol=2e-6)


def test_components_are_those_of_the_texts_or_of_others(vectors):
    texts, others = list(make_texts()), list(make_texts(seed=3))
    for fit_on in (None, others):
        rows = em.embed(vectors, texts, pool="sif", remove_components=2, fit_on=fit_on)
        means = np.array(list(naive(vectors, texts, "sif")))
        fitted = np.array(list(naive(vectors, fit_on or texts, "sif")))
        directions = np.linalg.svd(fitted, full_matrices=False)[2][:2]
        np.testing.assert_allclose(rows, means - means @ directions.T @ directions, atol=2e-6)


def test_all_kinds_of_texts_give_the_same_vectors(vectors, tmp_path):
    """Nulls are empty texts, wherever they are."""
    texts = [None, *make_texts(30), None]
    expected = em.embed(vectors, [text or "" for text in texts])
    frame = pd.DataFrame({"number": range(32), "body": texts})
    (tmp_path / "t.txt").write_text("\n".join(text or "" for text in texts) + "\n")
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", lines=True, orient="records")
    mixed, lists = [float("nan"), *texts[1:-1], pd.NA], [None if text is None else text.split() for text in texts]
    lines = (texts, iter(texts), tuple(texts), np.array(texts, object), frame["body"], pa.array(texts), mixed, lists)
    for source in (*lines, tmp_path / "t.txt"):
        np.testing.assert_array_equal(em.embed(vectors, source), expected)
    tables = (frame, pa.table(frame), frame.to_dict("records"))
    for source in (*tables, *(tmp_path / f"t.{ending}" for ending in ("parquet", "csv", "jsonl"))):
        np.testing.assert_array_equal(em.embed(vectors, source, text_column="body"), expected)
    assert not em.embed(vectors, [None, None]).any()


def test_norms_types_and_truncation(vectors):
    texts = list(make_texts(50))
    rows = em.embed(vectors, texts)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = em.embed(vectors, texts, normalize=True)
    np.testing.assert_allclose(unit, rows / np.where(lengths > 0, lengths, 1), atol=1e-6)
    half = em.embed(vectors, texts, dtype="float16")
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, rows.astype(np.float16))
    bytes_ = em.embed(vectors, texts, dtype="int8")
    assert bytes_.dtype == np.int8
    largest = np.abs(rows).max(axis=1, keepdims=True)
    np.testing.assert_array_equal(bytes_, np.rint(rows * (127 / np.where(largest > 0, largest, 1))))
    np.testing.assert_allclose(em.embed(vectors, texts, dim=5), rows[:, :5], atol=1e-6)


def test_texts_are_read_as_the_training_text_was(tmp_path):
    corpus = em.Corpus(["The End. the end!"] * 9, tokenizer="whitespace", case="keep")
    model = em.CBOW(dim=8, min_count=1, subsample=0).train(corpus, threads=1)
    model.save(tmp_path / "m")
    expected = model.vectors[["the", "End."]].mean(axis=0)
    for source in (model, tmp_path / "m", str(tmp_path / "m"), em.load(tmp_path / "m")):
        np.testing.assert_allclose(em.embed(source, ["the End. end"], pool="mean")[0], expected, atol=1e-7)
    lower = em.embed(model, ["THE"], case="lower", pool="mean")[0]
    np.testing.assert_allclose(lower, model.vectors["the"], atol=1e-7)


WRITTEN = ["New_York", "don\u2019t", "cafe\u0301", "\u09df\u09be", "\u095c\u0915", "twenty-one", "U.S.", "C++", "1,000"]


@pytest.mark.parametrize("text", ["{}", "red ({}), \u201c{}!\u201d", ["{}"]], ids=repr)
def test_words_of_other_programs_are_found_as_they_are_written(tmp_path, text):
    """Anything without white space can be a word of theirs."""
    em.Vectors(WRITTEN, np.eye(len(WRITTEN)), counts=range(9, 0, -1)).save(tmp_path / "v.txt", "word2vec-text")
    texts = [text.format(word, word) if isinstance(text, str) else [word] for word in WRITTEN]
    np.testing.assert_array_equal(em.embed(tmp_path / "v.txt", texts, pool="mean"), np.eye(len(WRITTEN)))
    estimator = em.sklearn.MeanVectorizer(vectors=tmp_path / "v.txt", pool="mean")
    np.testing.assert_array_equal(estimator.fit_transform(texts), np.eye(len(WRITTEN)))


def test_tokens_of_lists_with_line_ends_are_found_in_other_forms():
    vectors = em.Vectors(["a\nb", "caf\u00e9"], np.eye(2))
    assert em.embed(vectors, [["A\nB"], ["Cafe\u0301", "x\ny\u00e9"]], pool="sum").tolist() == [[1, 0], [0, 1]]


def test_words_that_other_programs_do_not_have_are_split_and_counted_by_form():
    vectors = em.Vectors(["new", "york", "it\u2019s", "co-op", "fine", "\u4e1c\u4eac"], np.eye(6))
    embedder = text_embedder(vectors, pool="sum")
    texts = ["New_York\u2019s IT'S a Co-Op, \ufb01ne -- \u4e1c\u4eac\u3002fine ", "new-york", "..."]
    rows = np.concatenate([rows for _, rows in embedder.embed(text_batches_of(texts, None))])
    assert rows.astype(int).tolist() == [[1, 0, 1, 1, 2, 1], [1, 1, 0, 0, 0, 0], [0] * 6]
    counts = embedder.counts
    assert (counts.words, counts.unknown_words, counts.texts_without_words) == (10, 2, 1)
    assert counts.other_forms == {"NFKC": 1, "lower case": 3}


def test_n_grams_of_other_programs_are_those_of_the_word_as_written():
    spelled = []

    def compose(words):
        spelled.extend(words)
        return np.ones((len(words), 2))

    vectors = em.Vectors(["Caf\u00e9"], np.zeros((1, 2)), compose=compose)
    em.embed(vectors, ["don\u2019t, nai\u0308f \u09df Cafe\u0301"], pool="mean")
    assert sorted(spelled) == sorted(["don\u2019t", "nai\u0308f", "\u09df"])


def test_phrases_are_joined_as_in_training():
    model = em.CBOW(dim=8, min_count=1, subsample=0).train(
        em.Corpus(["new york and new york"] * 5, phrases=em.corpora.PhraseList(["new york"])), threads=1
    )
    rows = em.embed(model, ["", "New York", "and", ""], pool="mean")
    np.testing.assert_array_equal(rows[1], model.vectors["new_york"])
    np.testing.assert_array_equal(rows[2], model.vectors["and"])
    assert not rows[[0, 3]].any()


def test_tokenizers_of_python_functions(vectors):
    rows = em.embed(vectors, ["w1,w2", ""], pool="mean", tokenizer=lambda text: text.split(","))
    np.testing.assert_allclose(rows[0], vectors[["w1", "w2"]].mean(axis=0), atol=1e-6)


def test_subword_models_compose_unknown_words():
    model = em.FastText(dim=8, min_count=1, subsample=0, buckets=500).train(
        em.Corpus(["red car green house"] * 9), threads=1
    )
    share = dict(zip(model.vocabulary.words, model.vocabulary.counts / model.vocabulary.total, strict=True))
    for words in (["red", "redcar"], ["redcar"], ["carred", "greenhouse", "car"]):
        text, rows = [" ".join(words), "red"], np.array([model.vectors[word] for word in words], np.float64)
        sif = np.array([1e-3 / (1e-3 + share.get(word, 0)) for word in words])
        idf = np.array([np.log(3 / (1 + sum(word in one.split() for one in text))) + 1 for word in words])
        expected = {
            "mean": rows.mean(axis=0),
            "sif": sif @ rows / len(rows),
            "idf": idf @ rows / idf.sum(),
        }
        for pool, row in expected.items():
            np.testing.assert_allclose(em.embed(model, text, pool=pool)[0], row, atol=1e-6)


@pytest.mark.parametrize("case", ["keep", "lower"])
def test_models_whose_text_a_tokenizer_json_split(tmp_path, case):
    """Equal to vectors of the tokens that a corpus has, over several lines too."""
    tokenizers = pytest.importorskip("tokenizers", reason="requires tokenizers")
    pieces = {piece: number for number, piece in enumerate(["[UNK]", "Red", "car", "##s", "a", "house", "2"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "t.json"))
    text = ["Red cars a house x\nRed car 2 unknowns"] * 9
    corpus = em.Corpus(text, tokenizer=f"huggingface:{tmp_path / 't.json'}", case=case)
    model = em.CBOW(dim=4, min_count=1, subsample=0).train(corpus, threads=1)
    texts = ["Red cars\nhouse house y", "", "a"]
    form = str.lower if case == "lower" else str
    tokens = [[form(token) for token in ["Red", "car", "##s", "house", "house", "[UNK]"]], [], ["a"]]
    expected = [model.vectors[one].mean(axis=0) if one else np.zeros(4) for one in tokens]
    np.testing.assert_allclose(em.embed(model, texts, pool="mean"), expected, atol=1e-6)


INVALID = [
    ({"pool": "median"}, "pool.*median"),
    ({"pool": "mean", "constant": 1e-3}, "constant requires.*sif"),
    ({"pool": "sif", "constant": 0}, "constant"),
    ({"remove_components": -1}, "remove_components.*-1"),
    ({"dim": 22}, "dim.*22"),
    ({"dtype": "int4"}, "dtype.*int4"),
]


@pytest.mark.parametrize(("options", "message"), INVALID)
def test_invalid_options(vectors, options, message):
    with pytest.raises(SettingError, match=message):
        em.embed(vectors, ["w1"], **options)


def test_invalid_input(vectors):
    with pytest.raises(SettingError, match="list of texts"):
        em.embed(vectors, "w1")
    with pytest.raises(SettingError, match="frequencies 'vectors'"):
        em.embed(em.Vectors(["a"], [[1]]), ["a"], pool="sif", frequencies="vectors")
    with pytest.raises(CorpusError, match="no file"):
        em.embed(vectors, Path("nowhere"))
    with pytest.raises(SettingError, match="'b' holds NaN"):
        em.embed(em.Vectors(["a", "b"], [[1], [np.nan]]), ["a b"])
    assert em.embed(vectors, []).shape == (0, 21)


def test_an_encoder_keeps_its_tokens_between_calls():
    embedder = text_embedder(em.Vectors(["red", "car"], np.eye(2, dtype=np.float32)))
    list(embedder.embed(text_batches_of(["red car"], None), threads=1))
    encoders = list(embedder._unused_encoders)
    list(embedder.embed(text_batches_of(["a red car"], None), threads=1))
    assert embedder._unused_encoders == encoders


def test_unknown_words_of_other_programs_are_composed_as_wholes():
    """As in fastText, white space separates words; punctuation of sentences and changes of script still do."""
    spelled = []

    def compose(words):
        spelled.extend(words)
        return np.ones((len(words), 2))

    vectors = em.Vectors(["New", "of", "\u4e1c\u4eac"], np.zeros((3, 2)), compose=compose)
    texts = [
        "(New_Yorker), Old_House! state-of-the a/b@c.d 1+1=3",
        "New\u2019s-x New,or \u4e1c\u4eacab -- 'a-b'. i.e., C++x+.",
    ]
    embedder = text_embedder(vectors, pool="sum")
    list(embedder.embed(text_batches_of(texts, None)))
    wholes = ["New_Yorker", "Old_House", "state-of-the", "a/b@c.d", "1+1=3", "New\u2019s-x", "a-b", "i.e.", "C++x+"]
    assert sorted(spelled) == sorted([*wholes, "or", "ab"])
    assert (embedder.counts.words, embedder.counts.unknown_words) == (13, 0)


@pytest.mark.parametrize("options", [{"pool": "idf"}, {"pool": "sif", "frequencies": "texts"}], ids=str)
def test_only_words_that_occur_are_weighed(options):
    """A call costs as much for a million words of vectors as for ten."""
    vectors = em.Vectors([f"w{number}" for number in range(1000)], np.ones((1000, 2)))
    weighed = []
    embedder = text_embedder(vectors, **options)
    embedder.weigh = lambda words: weighed.extend(words) or type(embedder).weigh(embedder, words)
    for _ in range(2):
        list(embedder.embed(text_batches_of(["w1 w7 w1", "w7 unknown"], None)))
    assert sorted(weighed) == ["w1", "w7"]


def test_progress_has_no_total_for_files(tmp_path):
    """A list of files is not a list of as many texts."""
    (tmp_path / "t.txt").write_text("a\nb\n")
    reports: list[tuple[int, int | None]] = []
    for texts in ([tmp_path / "t.txt"], tmp_path / "t.txt", ["a", "b"]):
        em.embed(em.Vectors(["a"], np.eye(1)), texts, progress=lambda *numbers: reports.append(numbers))
    assert reports == [(2, None), (2, None), (2, 2)]
