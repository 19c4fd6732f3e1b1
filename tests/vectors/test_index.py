"""Indexes of all installed kinds, also specified in a line: search, and vectors that use an index."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import RegistryError, SettingError
from embeddings.testing import check_index
from embeddings.vectors.index import as_index, build_index, check_spec, parse_spec
from embeddings.vectors.vectors import Vectors


def assert_same(result, expected):
    assert [word for word, _ in result] == [word for word, _ in expected]
    assert [cosine for _, cosine in result] == pytest.approx([cosine for _, cosine in expected], abs=1e-12)


@pytest.mark.parametrize("spec", ["exact", "lsh", "faiss:factory=Flat"])
def test_most_similar_uses_an_index(clusters, spec):
    exact = clusters.most_similar(["w3", "w40"], ["w5"], top=7)
    assert_same(clusters.most_similar(["w3", "w40"], ["w5"], top=7, index=spec), exact)
    index = as_index(spec, clusters)
    queries = ["w1", ["w2", "w9"], clusters.matrix[4]]
    results = clusters.most_similar_many(queries, index=index)
    for result, expected in zip(results, clusters.most_similar_many(queries), strict=True):
        assert_same(result, expected)
    assert clusters.most_similar_many([], index=index) == []


def test_restrict(clusters):
    exact = clusters.most_similar("w400", restrict=30)
    assert_same(clusters.most_similar("w400", restrict=30, index="lsh:rerank=500"), exact)
    assert len(clusters.most_similar("w400", top=40, restrict=30, index="lsh")) == 30
    assert clusters.most_similar("w1", restrict=10**9, index="faiss") == clusters.most_similar("w1", index="faiss")
    with pytest.raises(SettingError, match=r"FAISS.*restrict"):
        clusters.most_similar("w1", restrict=30, index="faiss")


def test_an_index_recognises_its_vectors_by_their_numbers(clusters):
    index = build_index(clusters, "lsh")
    equal = Vectors([word.upper() for word in clusters.words], clusters.matrix.copy())
    assert equal.most_similar("W1", index=index)[0][0].startswith("W")
    for other in (clusters.subset(499), Vectors(clusters.words, clusters.matrix + 1e-6)):
        with pytest.raises(SettingError, match="other vectors"):
            other.most_similar("w1", index=index)


def test_no_vectors():
    empty = Vectors([], np.empty((0, 3)))
    assert build_index(empty, "exact").search(np.ones((2, 3))).ids.shape == (2, 0)
    for kind in ("lsh", "faiss"):
        with pytest.raises(SettingError, match=r"(?i)" + kind + ".*at least one row"):
            build_index(empty, kind)


def test_describe(clusters):
    index = em.build_index(clusters, "lsh", bits=128)
    description = index.describe()
    assert description["kind"] == "lsh"
    assert description["settings"]["bits"] == 128
    assert (description["rows"], description["dim"]) == (500, 20)
    assert description["bytes"] == 128 // 8 * 500 + 128 * 21 * 4
    assert repr(index) == "<Index lsh: 500 rows, 20 components>"
    assert em.build_index(clusters, "exact").bytes == 0


def test_search_settings_need_no_rebuild(clusters):
    index = build_index(clusters, "lsh", bits=64, rerank=30)
    variant = index.with_search("lsh", {"bits": 64, "rerank": 500})
    assert variant.settings["rerank"] == 500
    assert np.array_equal(variant.engine.words, index.engine.words)
    exact = build_index(clusters, "exact").search(clusters.matrix[:5])
    assert variant.search(clusters.matrix[:5]).ids.tolist() == exact.ids.tolist()
    assert index.with_search("lsh", {"bits": 65, "rerank": 30}) is None
    assert index.with_search("exact", {}) is None


def test_a_search_setting_that_returns_to_none_needs_a_rebuild(clusters):
    """FAISS stores its search settings in the index."""
    index = as_index("faiss:factory=IVF16,Flat,nprobe=8", clusters)
    assert index.with_search("faiss", {"factory": "IVF16,Flat"}) is None
    variant = index.with_search("faiss", {"factory": "IVF16,Flat", "nprobe": 1})
    fresh = as_index("faiss:factory=IVF16,Flat,nprobe=1", clusters)
    assert np.array_equal(variant.search(clusters.matrix).ids, fresh.search(clusters.matrix).ids)


def test_asking_for_all_rows(shifted_vectors):
    exact = build_index(shifted_vectors, "exact").search(shifted_vectors.matrix[:3], top=1000)
    result = build_index(shifted_vectors, "lsh").search(shifted_vectors.matrix[:3], top=1000)
    assert np.array_equal(result.ids, exact.ids)


def test_an_index_of_another_package(install, clusters):
    source = (
        "from dataclasses import dataclass\n"
        "from embeddings.indexes.exact import Exact\n"
        "from embeddings.settings import option\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class First(Exact):\n"
        "    'Exact search by another name.'\n"
        "    speed: int = option(1, 'How fast.', ge=1)\n"
    )
    install("first", "first = first_module:First", source, group="embeddings.indexes")
    check_index("first")
    assert clusters.most_similar("w1", index="first:speed=3") == clusters.most_similar("w1")


@pytest.mark.parametrize("spec", ["exact", "lsh:rerank=500", "faiss:factory=Flat"])
@pytest.mark.parametrize("apart", [False, True])
def test_csls_equals_brute_force(clusters, spec, apart):
    others = Vectors(clusters.words[:300], clusters.matrix[:300] + 0.3) if apart else clusters
    queries = others.matrix[:20]
    cosines = others.unit_rows[:20].astype(float) @ clusters.unit_rows.T.astype(float)
    nearest = np.sort(clusters.unit_rows.astype(float) @ others.unit_rows.T.astype(float), axis=1)
    nearest = nearest[:, -10:] if apart else nearest[:, -11:-1]
    expected = 2 * cosines - nearest.mean(axis=1)
    index = as_index(spec, clusters)
    found = index.search(queries, top=3, method="csls", others=as_index(None, others) if apart else None)
    best = np.argsort(-expected, axis=1)[:, :3]
    assert np.mean(found.ids == best) > 0.95
    constant = found.similarities - np.take_along_axis(expected, found.ids, axis=1)
    assert constant == pytest.approx(constant[:, :1].repeat(3, axis=1), abs=1e-4)


@pytest.mark.filterwarnings("error")
def test_csls_in_a_vocabulary_of_one_word():
    alone = Vectors(["a"], np.ones((1, 3)))
    assert not alone.most_similar("a", method="csls")
    assert as_index(None, alone).search(np.ones((2, 3)), method="csls").ids.tolist() == [[0], [0]]


def test_methods_of_words(clusters):
    scores = np.sort(clusters.unit_rows.astype(float) @ clusters.unit_rows.T.astype(float), axis=1)
    scores = 2 * clusters.distances("w1") + scores[:, -11:-1].mean(axis=1)  # the lower the nearer
    expected = [clusters.words[row] for row in np.argsort(scores) if clusters.words[row] != "w1"]
    for result in (
        clusters.most_similar("w1", top=3, method="csls"),
        clusters.most_similar_many(["w1"], top=3, method="csls")[0],
    ):
        assert [word for word, _ in result] == expected[:3]
        assert list(result.columns) == ["neighbour", "csls"]


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("exact", "exact", {}),
        ("lsh:bits=512,rerank=100", "lsh", {"bits": 512, "rerank": 100}),
        ("lsh:centre=false,rerank=none", "lsh", {"centre": False, "rerank": None}),
        ("faiss:factory=IVF256,PQ4x8,nprobe=8", "faiss", {"factory": "IVF256,PQ4x8", "nprobe": 8}),
    ],
)
def test_parse_spec(text, name, settings):
    assert parse_spec(text) == (name, settings)


INVALID = [
    ("nope", RegistryError, "'nope'.*exact.*lsh"),
    ("", RegistryError, "''"),
    ("lsh:512", SettingError, "'lsh:512'.*lsh:name=value,name=value"),
    ("lsh:bits=1,bits=2", SettingError, "bits twice"),
    ("lsh:bit=3", SettingError, "'bit'.*bits"),
    ("exact:bits=3", SettingError, "'bits'"),
    ("lsh:bits=many", SettingError, "bits.*'many'"),
    ("lsh:bits=0", SettingError, "bits.*0"),
    ("lsh:bits=32769", SettingError, "bits.*32768.*32769"),
    ("lsh:centre=maybe", SettingError, "centre.*'maybe'"),
]


@pytest.mark.parametrize(("text", "error", "message"), INVALID, ids=[text for text, _, _ in INVALID])
def test_invalid_specs(clusters, text, error, message):
    for check in (lambda: as_index(text, clusters), lambda: check_spec(text)):
        with pytest.raises(error, match=message) as error_info:
            check()
        assert "\n" not in str(error_info.value)


def test_build_index_takes_a_spec(clusters):
    index = em.build_index(clusters, "lsh:bits=64", rerank=20)
    assert (index.settings["bits"], index.settings["rerank"]) == (64, 20)
    assert index.search(clusters.matrix[:3], top=1).ids[:, 0].tolist() == [0, 1, 2]
