"""Indexes of all installed kinds: the contract, their settings, and how vectors use them."""

import numpy as np
import pytest

import embeddings as em
from embeddings import registry
from embeddings.errors import EmbeddingsError, RegistryError, SettingError
from embeddings.indexes import build_index, index_of
from embeddings.indexes.index_spec import parsed
from embeddings.testing import check_index
from embeddings.vectors.vectors import Vectors

VARIANTS = [
    *((name, {}) for name in registry.available("index")),
    ("lsh", {"bits": 1000, "rerank": 50, "centre": False, "orthogonal": False}),
    ("lsh", {"mode": "tables", "bits": 6, "tables": 4, "probes": 8}),
    ("faiss", {"factory": "Flat"}),
    ("faiss", {"factory": "IVF8,Flat", "nprobe": 3}),
    ("faiss", {"factory": "HNSW8", "ef_search": 50}),
    ("faiss", {"factory": "LSH200r", "rerank": 100}),
    ("faiss", {"factory": "PQ6x4", "rerank": 50}),
    ("faiss", {"factory": "PQ6x4fs", "rerank": 50}),
]


@pytest.mark.parametrize(("name", "settings"), VARIANTS, ids=[f"{name}-{given}" for name, given in VARIANTS])
def test_contract(name, settings):
    check_index(name, **settings)


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(3)
    near = rng.standard_normal((50, 20)).repeat(10, axis=0) + 0.3 * rng.standard_normal((500, 20))
    return Vectors([f"w{i}" for i in range(500)], near)


def same(found, expected):
    """The same words, and cosines but for the last digit."""
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1e-12)


@pytest.mark.parametrize("index", ["exact", "lsh", "lsh:mode=tables,bits=4", "faiss:factory=Flat"])
def test_vectors_ask_an_index(vectors, index):
    exact = vectors.most_similar(["w3", "w40"], ["w5"], top=7)
    found = vectors.most_similar(["w3", "w40"], ["w5"], top=7, index=index)
    same(found, exact)
    built = index_of(index, vectors)
    queries = ["w1", ["w2", "w9"], vectors.matrix[4]]
    for near, true in zip(
        vectors.most_similar_many(queries, index=built), vectors.most_similar_many(queries), strict=True
    ):
        same(near, true)
    assert vectors.most_similar_many([], index=built) == []


def test_restrict_with_indexes(vectors):
    exact = vectors.most_similar("w400", restrict=30)
    same(vectors.most_similar("w400", restrict=30, index="lsh:rerank=500"), exact)
    assert len(vectors.most_similar("w400", top=40, restrict=30, index="lsh")) == 30
    assert vectors.most_similar("w1", restrict=10**9, index="faiss") == vectors.most_similar("w1", index="faiss")
    with pytest.raises(SettingError, match="an index of FAISS cannot restrict candidates"):
        vectors.most_similar("w1", restrict=30, index="faiss")


def test_an_index_is_refused_by_other_vectors(vectors):
    index = build_index(vectors, "lsh")
    same = Vectors([word.upper() for word in vectors.words], vectors.matrix.copy())
    assert same.most_similar("W1", index=index)[0][0].startswith("W")
    for other in (vectors.subset(499), Vectors(vectors.words, vectors.matrix + 1e-6)):
        with pytest.raises(SettingError, match="the index was built from other vectors"):
            other.most_similar("w1", index=index)


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("exact", "exact", {}),
        ("lsh:bits=512,rerank=100", "lsh", {"bits": 512, "rerank": 100}),
        ("lsh:centre=false,bits=none", "lsh", {"centre": False, "bits": None}),
        ("faiss:factory=IVF256,PQ4x8,nprobe=8", "faiss", {"factory": "IVF256,PQ4x8", "nprobe": 8}),
    ],
)
def test_lines(text, name, settings):
    assert parsed(text) == (name, settings)


BAD = [
    ("nope", RegistryError, "no index called 'nope'; installed: .*exact, .*lsh"),
    ("", RegistryError, "no index called ''"),
    ("lsh:512", SettingError, "'lsh:512' must be lsh:name=value,name=value"),
    ("lsh:bits=1,bits=2", SettingError, "sets bits twice"),
    ("lsh:bit=3", SettingError, "lsh has no setting 'bit'; did you mean bits"),
    ("exact:bits=3", SettingError, "exact has no setting 'bits'; it has: none"),
    ("lsh:bits=many", SettingError, "bits must be a whole number, not 'many'"),
    ("lsh:bits=0", SettingError, "bits must be at least 1 and at most 32768, not 0"),
    ("lsh:centre=maybe", SettingError, "centre must be true or false, not 'maybe'"),
    ("lsh:mode=trees", SettingError, "mode must be one of hamming, tables, not 'trees'"),
    ("lsh:tables=3", SettingError, "tables has no meaning with mode hamming: leave it out"),
    ("lsh:probes=3", SettingError, "probes has no meaning with mode hamming"),
    ("lsh:mode=tables,rerank=3", SettingError, "rerank has no meaning with mode tables"),
    ("lsh:mode=tables,bits=25", SettingError, "bits must be at most 24 with tables, not 25"),
    ("lsh:mode=tables,bits=24,tables=4096", SettingError, "tables of 68,721,524,736 entries: at most 1,073,741,824"),
    ("lsh:mode=tables,bits=3,probes=9", SettingError, "probes must be at most 2\\^bits, 8 buckets, not 9"),
    ("faiss:factory=nonsense", SettingError, "factory 'nonsense': FAISS refuses it: could not parse"),
    ("faiss:factory=", SettingError, "factory ''"),
    ("faiss:factory=IVF999999999,Flat", SettingError, "IVF999999999 is above 500"),
    ("faiss:factory=HNSW5000", SettingError, "HNSW5000 is above 512"),
    ("faiss:factory=PQ4x30", SettingError, "x30 is above 16"),
    ("faiss:factory=PQ7", SettingError, "factory 'PQ7': FAISS refuses it"),
    ("faiss:factory=Flat,nprobe=3", SettingError, "nprobe of 'Flat': FAISS refuses it"),
]


@pytest.mark.parametrize(("text", "kind", "message"), BAD, ids=[text for text, _, _ in BAD])
def test_what_cannot_be_built(vectors, text, kind, message):
    with pytest.raises(kind, match=message) as error:
        index_of(text, vectors)
    assert "\n" not in str(error.value)


def test_vectors_that_cannot_be_indexed():
    nan = Vectors(["a", "b"], np.array([[1, 0], [np.nan, 0]]))
    empty = Vectors([], np.empty((0, 3)))
    for kind in ("exact", "lsh", "faiss"):
        with pytest.raises(SettingError, match="the vector of 'b' holds NaN or infinity"):
            build_index(nan, kind)
    assert index_of("exact", empty).search(np.ones((2, 3))).ids.shape == (2, 0)
    with pytest.raises(SettingError, match="an lsh index needs at least one row"):
        build_index(empty, "lsh")
    with pytest.raises(SettingError, match="a FAISS index needs at least one row"):
        build_index(empty, "faiss")


@pytest.mark.parametrize(
    ("queries", "options", "message"),
    [
        (np.ones(20), {}, r"queries must be \(queries, 20\), not \(20,\)"),
        (np.ones((2, 19)), {}, r"queries must be \(queries, 20\), not \(2, 19\)"),
        (np.full((1, 20), np.nan), {}, "holds NaN or infinity"),
        (np.ones((1, 20)), {"top": 0}, "top must be at least 1, not 0"),
        (np.ones((1, 20)), {"restrict": 0}, "restrict must be at least 1, not 0"),
    ],
)
def test_queries_that_make_no_sense(vectors, queries, options, message):
    with pytest.raises(SettingError, match=message):
        build_index(vectors, "lsh").search(queries, **options)


def test_what_an_index_says_of_itself(vectors):
    index = em.build_index(vectors, "lsh", bits=128)
    facts = index.facts()
    assert facts["kind"] == "lsh"
    assert facts["settings"]["bits"] == 128
    assert (facts["rows"], facts["dim"]) == (500, 20)
    assert facts["bytes"] == 128 // 8 * 500 + 128 * 21 * 4
    assert repr(index) == "<Index lsh: 500 rows, 20 components>"
    assert em.build_index(vectors, "exact").bytes == 0


def test_settings_of_the_search_alone_need_no_building(vectors):
    index = build_index(vectors, "lsh", bits=64, rerank=30)
    again = index.with_search("lsh", {"bits": 64, "rerank": 500})
    assert again is not None
    assert again.settings["rerank"] == 500
    assert np.array_equal(again.engine.words, index.engine.words)
    assert again.search(vectors.matrix[:5]).looked.tolist() == [500] * 5
    assert index.with_search("lsh", {"bits": 65, "rerank": 30}) is None
    assert index.with_search("exact", {}) is None


def test_a_setting_that_goes_back_to_its_default_needs_building(vectors):
    """FAISS keeps in its own data what it was asked with before."""
    index = index_of("faiss:factory=IVF16,Flat,nprobe=8", vectors)
    assert index.with_search("faiss", {"factory": "IVF16,Flat"}) is None
    fewer = index.with_search("faiss", {"factory": "IVF16,Flat", "nprobe": 1})
    fresh = index_of("faiss:factory=IVF16,Flat,nprobe=1", vectors)
    assert np.array_equal(fewer.search(vectors.matrix).ids, fresh.search(vectors.matrix).ids)


LOOKED = {
    "exact": 500,
    "faiss:factory=Flat": 500,
    "faiss:factory=PQ5x4,rerank=40": 40,
    "faiss:factory=PQ5x4": 7,
    "faiss:factory=PQ5x4fs,rerank=40": 40,
    "faiss:factory=LSH64r,rerank=900": 500,
    "faiss:factory=LSH64r": 7,
    "faiss:factory=IVF4,Flat,nprobe=4": 500,
    "faiss:factory=PCA5,Flat": -1,
    "lsh:rerank=0": 0,
}


@pytest.mark.parametrize("line", LOOKED)
def test_rows_compared_exactly(vectors, line):
    found = index_of(line, vectors).search(vectors.matrix[:9], top=7)
    assert found.looked.tolist() == [LOOKED[line]] * 9


def test_lists_that_are_empty_are_no_rows(vectors):
    """All rows but one are alike: most lists of an IVF index hold none."""
    rows = np.ones((500, 20))
    rows[0] = -vectors.matrix[0]
    index = index_of("faiss:factory=IVF16,Flat,nprobe=1", Vectors(vectors.words, rows))
    looked = {int(index.search(vectors.matrix[q : q + 1], top=3).looked[0]) for q in range(60)}
    assert 0 in looked
    assert max(looked) < 500


def test_signatures_alone_come_with_exact_cosines(vectors):
    for word, cosine in vectors.most_similar("w7", index="lsh:rerank=0"):
        assert cosine == pytest.approx(vectors.similarity("w7", word), abs=1e-6)


def test_another_packages_index(tmp_path, monkeypatch, vectors):
    info = tmp_path / "first-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: first\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[embeddings.indexes]\nfirst = first_module:First\n")
    (tmp_path / "first_module.py").write_text(
        "from dataclasses import dataclass\n"
        "from embeddings.indexes.exact import Exact\n"
        "from embeddings.settings import option\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class First(Exact):\n"
        "    'Exact search by another name.'\n"
        "    speed: int = option(1, 'How fast.', least=1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    check_index("first")
    assert vectors.most_similar("w1", index="first:speed=3") == vectors.most_similar("w1")


def test_faults_are_the_packages_own(vectors):
    for text in ("nope", "lsh:bits=x"):
        with pytest.raises(EmbeddingsError):
            vectors.most_similar("w1", index=text)
