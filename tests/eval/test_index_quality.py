"""Recall and ranks of indexes, by hand."""

import numpy as np
import pytest

from embeddings import registry
from embeddings.errors import EmbeddingsError, RegistryError, SettingError
from embeddings.eval.index_quality import (
    GRIDS,
    QuerySet,
    is_correct,
    measure_indexes,
    measure_recall,
    random_query_set,
    sample_query_set,
    search_others,
    true_ranks,
)
from embeddings.indexes.index import as_index, build_index, parse_spec
from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def vectors():
    matrix = np.random.default_rng(2).standard_normal((300, 8))
    matrix[299] = matrix[10]
    return Vectors([f"w{i}" for i in range(300)], matrix)


def exact_search(query_set, top):
    return search_others(query_set, as_index(None, query_set.vectors), top)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ranks_of_hyperplanes_among_random_points(seed):
    query_set = random_query_set(10_000, 128, queries=200, seed=seed)
    truth = exact_search(query_set, 10)

    def rank(spec):
        index = as_index(f"{spec},orthogonal=false,seed={seed}", query_set.vectors)
        return measure_recall(query_set, index, truth)["rank"]

    assert rank("lsh:bits=512,rerank=100") <= 2
    assert rank("lsh:bits=256,rerank=0") > 50


def test_query_rows_are_not_neighbours(vectors):
    query_set = sample_query_set(vectors, "v", queries=300, seed=1)
    truth = exact_search(query_set, 5)
    for row, ids in zip(query_set.query_rows, truth.ids, strict=True):
        cosines = vectors.unit_rows @ vectors.unit_rows[row]
        cosines[row] = -2
        assert set(ids) == set(np.argsort(-cosines, kind="stable")[:5])
    assert truth.ids[list(query_set.query_rows).index(10)][0] == 299


def test_an_index_that_misses_the_query_row_loses_its_last_result(vectors):
    class MissesFirst:
        def search(self, queries, *, top):
            result = as_index(None, vectors).search(queries, top=top + 1)
            return type(result)(result.ids[:, 1:], result.similarities[:, 1:], result.n_compared)

    query_set = sample_query_set(vectors, "v", queries=20, seed=1)
    result = search_others(query_set, MissesFirst(), 4)
    assert result.ids.shape == (20, 4)
    assert not (result.ids == query_set.query_rows[:, None]).any()


def test_recall_and_ranks_by_hand():
    vectors = Vectors(list("abcde"), np.array([[1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1], [0.5, 0.5]]))
    query_set = QuerySet("p", vectors, np.array([[1.0, 0.0], [0.0, 2.0]]), None)
    truth = exact_search(query_set, 3)
    assert truth.ids.tolist() == [[0, 1, 2], [3, 2, 4]]
    result = truth._replace(ids=np.array([[4, 0, 3], [3, 1, -1]]))  # row 4 ties with row 2
    assert is_correct(query_set, result, truth).tolist() == [[True, True, False], [True, False, False]]
    assert true_ranks(query_set, np.array([0, 1])).tolist() == [1, 4]
    assert true_ranks(query_set, np.array([4, 4])).tolist() == [3, 2]
    assert true_ranks(query_set, np.array([-1, 3])).tolist() == [5, 1]


def test_ranks_distinguish_what_float32_cannot():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal(6) + 1e-6 * rng.standard_normal((100, 6))
    query_set = QuerySet("p", Vectors([str(i) for i in range(100)], rows), rng.standard_normal((4, 6)), None)
    order = exact_search(query_set, 100).ids
    for rank in (1, 31, 100):
        assert true_ranks(query_set, order[:, rank - 1]).tolist() == [rank] * 4


def test_measure_indexes_yields_a_result_for_each(vectors):
    query_set = sample_query_set(vectors, "v", queries=40, seed=1)
    specs, reported = ["exact", "lsh:bits=8,rerank=20", "lsh:bits=8,rerank=300", "faiss:factory=PQ2x4"], []
    exact, rough, whole, codes = measure_indexes(query_set, specs, top=5, report=reported.append)
    assert reported == specs
    assert (exact.recall, exact.low, exact.high, exact.rank, exact.nearest) == (1, 1, 1, 1, 1)
    assert (exact.n_compared, exact.bytes) == (300, 0)
    assert (exact.rows, exact.dim, exact.queries, exact.top) == (300, 8, 40, 5)
    assert whole.recall == 1
    assert whole.build_seconds == rough.build_seconds  # the same signatures
    assert rough.low < rough.recall < rough.high < 1
    assert 20 <= rough.n_compared < 300
    assert codes.recall < 1
    for quality in (exact, rough, whole, codes):
        assert min(quality.per_second, quality.per_second_many) > 0


def test_an_index_that_cannot_be_built_has_a_reason(vectors):
    query_set = sample_query_set(vectors, "v", queries=5, seed=1)
    specs = ["faiss:factory=IVF500,Flat", "exact"]
    failed, exact = measure_indexes(query_set, specs, strict=False)
    assert failed.recall is None
    assert "IVF" in failed.reason
    assert exact.recall == 1
    with pytest.raises(SettingError, match=r"IVF.*300"):
        list(measure_indexes(query_set, specs))
    with pytest.raises(RegistryError, match="'nope'"):
        list(measure_indexes(query_set, ["nope"]))


def test_top_is_at_most_the_number_of_other_rows():
    query_set = sample_query_set(Vectors(["a", "b", "c"], np.eye(3)), "v", queries=10, seed=1)
    (quality,) = measure_indexes(query_set, ["exact"], top=50)
    assert (quality.queries, quality.top, quality.recall) == (3, 2, 1)


@pytest.mark.parametrize(("rows", "dim"), [(10, 1), (300, 7), (68_000, 100), (10_000, 128)])
def test_grids_name_valid_indexes(rows, dim):
    for grid in GRIDS.values():
        specs = grid(rows, dim)
        assert len(set(specs)) == len(specs)
        for spec in specs:
            registry.create("index", *parse_spec(spec))


def test_search_settings_of_the_previous_index_do_not_persist(vectors):
    """FAISS stores them in the index, which is reused."""
    query_set = sample_query_set(vectors, "v", queries=100, seed=1)
    specs = ["faiss:factory=IVF32,Flat,nprobe=32", "faiss:factory=IVF32,Flat"]
    whole, default = measure_indexes(query_set, specs)
    (alone,) = measure_indexes(query_set, specs[1:])
    assert whole.recall == 1
    assert default.recall == alone.recall < 1
    assert default.n_compared == alone.n_compared < whole.n_compared == 300


def test_invalid_specs_are_refused_before_any_work(vectors, tmp_path):
    build_index(vectors, "lsh").save(tmp_path / "saved")
    query_set, reported = sample_query_set(vectors, "v", queries=5, seed=1), []
    for spec in ("nope", "lsh:bits=0", f"{tmp_path / 'saved'}:500", str(tmp_path)):
        with pytest.raises(EmbeddingsError):
            list(measure_indexes(query_set, ["exact", spec], report=reported.append))
    assert reported == []


def test_saved_indexes_with_search_settings(vectors, tmp_path):
    build_index(vectors, "lsh", bits=64).save(tmp_path / "saved")
    query_set = sample_query_set(vectors, "v", queries=20, seed=1)
    few, every = measure_indexes(query_set, [f"{tmp_path / 'saved'}:rerank={rerank}" for rerank in (20, 300)])
    assert few.n_compared < every.n_compared == 300


def test_an_unknown_number_of_comparisons_is_none(vectors):
    query_set = sample_query_set(vectors, "v", queries=5, seed=1)
    (quality,) = measure_indexes(query_set, ["faiss:factory=PCA4,Flat"])
    assert quality.n_compared is None
    assert quality.recall < 1


def test_intervals_of_very_many_queries_are_normal(vectors, monkeypatch):
    query_set = sample_query_set(vectors, "v", queries=300, seed=1)
    (bootstrap,) = measure_indexes(query_set, ["lsh:bits=16,rerank=20"])
    monkeypatch.setattr("embeddings.eval.statistics.confidence_intervals.MAX_CACHED", 299)
    (normal,) = measure_indexes(query_set, ["lsh:bits=16,rerank=20"])
    assert (normal.low, normal.high) != (bootstrap.low, bootstrap.high)
    assert (normal.low, normal.high) == pytest.approx((bootstrap.low, bootstrap.high), abs=0.004)
    assert normal.low + normal.high == pytest.approx(2 * normal.recall)
