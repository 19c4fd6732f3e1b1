"""What indexes compile, beside slow and obvious versions of it."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_indexes import best, bits_of, buckets, candidates, distance, probes, signature

from embeddings.indexes import build_index, hash_tables, parallel
from embeddings.indexes.block_products import FEW, one_thread, products
from embeddings.indexes.hash_tables import new_tables
from embeddings.indexes.hyperplanes import Planes, mean_row, orthogonal_rows, random_planes, signatures
from embeddings.indexes.multiprobe import new_heap, sequence
from embeddings.indexes.ranking import rank_exactly
from embeddings.indexes.selection import shortlist
from embeddings.kernels.popcount import popcount
from embeddings.support.cosine import unit, unit_rows
from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def random():
    rng = np.random.default_rng(4)
    return Vectors([f"w{i}" for i in range(500)], 1 + rng.standard_normal((500, 12)))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="an instruction exists compiled only")
def test_popcount():
    count = numba.njit(lambda word: popcount(word))
    for word in (0, 1, 2**64 - 1, 2**63, 0xF0F0):
        assert count(np.uint64(word)) == bin(word).count("1")


@pytest.mark.parametrize("bits", [1, 7, 64, 65, 200])
def test_signatures_are_sides_of_planes(random, bits):
    planes = random_planes(random.units, bits, orthogonal=True, centre=True, seed=3)
    words = signatures(random.units, planes)
    assert words.shape == (-(-bits // 64), 500)
    assert words.dtype == np.uint64
    for row in range(0, 500, 7):
        expected = signature(random.units[row], *planes)
        assert bits_of(words, row, bits) == expected
    assert (words[-1] >> np.uint64((bits - 1) % 64 + 1) == 0).all() or bits % 64 == 0


def test_signatures_of_several_blocks(monkeypatch):
    monkeypatch.setattr("embeddings.indexes.hyperplanes.BLOCK", 300)
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((205, 3)).astype(np.float32)
    planes = Planes(np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    words = signatures(rows, planes)
    assert words[0].tolist() == ((rows > 0) @ [1, 2, 4]).tolist()


def test_centred_planes_balance_bits(random):
    def shares(centre):
        planes = random_planes(random.units, 64, orthogonal=False, centre=centre, seed=1)
        return (random.units @ planes.normals.T > planes.offsets).mean(axis=0)

    assert np.abs(shares(True) - 0.5).max() < 0.15
    assert np.abs(shares(False) - 0.5).max() > 0.4
    assert mean_row(random.units) == pytest.approx(random.units.mean(axis=0), abs=1e-6)


def test_orthogonal_planes_are_rotations():
    rng = np.random.default_rng(2)
    rows = orthogonal_rows(rng, 9)
    assert rows @ rows.T == pytest.approx(np.eye(9), abs=1e-12)
    drawn = np.array([orthogonal_rows(rng, 3)[0] for _ in range(4000)])
    assert np.abs(drawn.mean(axis=0)).max() < 0.05  # without the signs put right the first would not be 0
    planes = random_planes(np.eye(9, dtype=np.float32), 20, orthogonal=True, centre=False, seed=1)
    gram = planes.normals @ planes.normals.T
    assert gram[:9, :9] == pytest.approx(np.eye(9), abs=1e-6)
    assert gram[9:18, 9:18] == pytest.approx(np.eye(9), abs=1e-6)
    assert np.abs(gram[:9, 9:18]).max() > 0.1


@pytest.mark.parametrize("orthogonal", [True, False])
def test_products_with_planes_are_distances(random, orthogonal):
    planes = random_planes(random.units, 40, orthogonal=orthogonal, centre=True, seed=1)
    assert np.linalg.norm(planes.normals, axis=1) == pytest.approx(np.ones(40), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=9, unique=True), st.integers(1, 600))
def test_probing_order(margins, count):
    margins = np.sort(np.array(margins))
    count = min(count, 1 << len(margins))
    sets = np.empty(count, np.int64)
    sequence(margins, sets, new_heap(count))
    found = [tuple(j for j in range(len(margins)) if mask >> j & 1) for mask in sets.tolist()]
    expected = probes(margins, count)
    assert len(set(found)) == count
    sums = [[sum(margins[j] for j in chosen) for chosen in order] for order in (found, expected)]
    assert sums[0] == pytest.approx(sums[1])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.integers(1, 30), st.integers(0, 2**32), st.integers(1, 9))
def test_shortlists_hold_the_highest(n, top, seed, values):
    top = min(n, top)
    scores = np.random.default_rng(seed).integers(0, values, (3, n)).astype(np.float32) / values
    margin = 0.3 / values
    counts, columns = shortlist(scores, top, margin)
    lists = np.split(columns, np.cumsum(counts)[:-1])
    for row, found in zip(scores, lists, strict=True):
        least = np.sort(row)[-top]
        assert set(np.flatnonzero(row >= least - margin)) <= set(found)
        assert (np.diff(found) > 0).all()


def test_tables_are_sorted_buckets():
    codes = np.array([[3, 0, 3, 1], [2, 2, 2, 2]], np.int32)
    tables = new_tables(codes, 2)
    assert tables.starts.tolist() == [[0, 1, 2, 2, 4], [0, 0, 0, 4, 4]]
    assert tables.members.tolist() == [[1, 3, 0, 2], [0, 1, 2, 3]]


@pytest.mark.parametrize("probing", [1, 5, 32])
def test_tables_find_what_the_best_buckets_hold(random, probing):
    index = build_index(random, "lsh", mode="tables", bits=5, tables=3, probes=probing)
    planes = index.engine.planes
    held = buckets([signature(row, *planes) for row in random.units], 5, 3)
    queries = random.matrix[:40] + 0.1
    found = index.search(queries, top=6)
    for ids, looked, query in zip(found.ids, found.looked, unit(queries), strict=True):
        rows = candidates(query, *planes, held, 5, probing)
        assert looked == len(rows)
        expected = best(random.units, query, rows, 6)
        assert ids.tolist() == expected + [-1] * (6 - len(expected))
    limited = index.search(queries, top=6, restrict=100)
    for ids, query in zip(limited.ids, unit(queries), strict=True):
        rows = [row for row in candidates(query, *planes, held, 5, probing) if row < 100]
        expected = best(random.units, query, rows, 6)
        assert ids.tolist() == expected + [-1] * (6 - len(expected))


@pytest.mark.parametrize("cores", [1, 3])
def test_scratch_that_is_used_again_changes_nothing(random, monkeypatch, cores):
    """Neither after other queries, restricted or not, nor when it has counted as many queries as it can."""
    monkeypatch.setattr(parallel, "available_threads", lambda: cores)
    monkeypatch.setattr(parallel, "LEAST", 4)
    monkeypatch.setattr(hash_tables, "MOST_QUERIES", 30)
    settings = {"mode": "tables", "bits": 4, "tables": 2, "probes": 3}
    index, queries = build_index(random, "lsh", **settings), random.matrix[:20] + 0.1
    for restrict in (None, 100, None, 100, 400):
        fresh = build_index(random, "lsh", **settings)
        found = [index.search(queries[q : q + 1], top=5, restrict=restrict) for q in range(20)]
        together, expected = (one.search(queries, top=5, restrict=restrict) for one in (index, fresh))
        for part in range(3):
            assert np.array_equal(np.concatenate([one[part] for one in found]), expected[part])
            assert np.array_equal(together[part], expected[part])


@pytest.mark.parametrize("restrict", [None, 130])
@pytest.mark.parametrize("bits", [20, 64, 100])
def test_hamming_order_with_exact_cosines(random, bits, restrict):
    index = build_index(random, "lsh", bits=bits, rerank=0)
    planes = index.engine.planes
    signed = [signature(row, *planes) for row in random.units[:restrict]]
    queries = random.matrix[100:140] - 0.1
    found = index.search(queries, top=15, restrict=restrict)
    assert (found.looked == 0).all()
    for ids, similarities, query in zip(found.ids, found.similarities, unit(queries), strict=True):
        own = signature(query.astype(np.float32), *planes)
        away = [distance(own, other) for other in signed]
        order = sorted(range(len(away)), key=lambda row: (away[row], row))[:15]
        assert ids.tolist() == order
        assert similarities == pytest.approx([random.units[row].astype(float) @ query for row in order], abs=1e-12)


@pytest.mark.parametrize("rerank", [1, 30, 250])
def test_hamming_compares_the_nearest_exactly(random, rerank):
    index = build_index(random, "lsh", bits=40, rerank=rerank)
    planes = index.engine.planes
    signed = [signature(row, *planes) for row in random.units]
    queries = random.matrix[:30] + 0.05
    found = index.search(queries, top=5)
    for ids, looked, query in zip(found.ids, found.looked, unit(queries), strict=True):
        own = signature(query.astype(np.float32), *planes)
        away = np.array([distance(own, other) for other in signed])
        fewest = max(rerank, 5)
        assert looked >= fewest
        furthest = np.sort(away)[looked - 1]
        rows = np.flatnonzero(away <= furthest)
        assert looked == len(rows)
        assert ids.tolist() == best(random.units, query, rows, 5)


def test_equal_rows_tie_to_the_lower():
    rng = np.random.default_rng(8)
    rows = np.tile(rng.standard_normal((7, 33)), (100, 1))
    vectors = Vectors([str(row) for row in range(700)], rows)
    query = rng.standard_normal((1, 33))
    for kind, given_settings in (("exact", {}), ("lsh", {"rerank": 300}), ("lsh", {"mode": "tables", "bits": 2})):
        ids = build_index(vectors, kind, **given_settings).search(query, top=50).ids[0]
        assert len({row % 7 for row in ids}) == 1
        assert ids.tolist() == sorted(ids)[:50] == [ids[0] % 7 + 7 * i for i in range(50)]


def test_many_ties_are_put_in_order_in_parts(monkeypatch):
    vectors = Vectors([str(row) for row in range(300)], np.ones((300, 4)))
    index, queries = build_index(vectors, "exact"), np.eye(4)
    whole = index.search(queries, top=20)
    monkeypatch.setattr("embeddings.indexes.exact.MANY", 10)
    parts = index.search(queries, top=20)
    assert whole.ids.tolist() == parts.ids.tolist() == [list(range(20))] * 4
    assert whole.similarities.tolist() == parts.similarities.tolist()


def test_threads_change_nothing(random, monkeypatch):
    queries = np.random.default_rng(6).standard_normal((300, 12))
    for given_settings in ({}, {"mode": "tables", "bits": 5}):
        index = build_index(random, "lsh", **given_settings)
        monkeypatch.setattr("embeddings.indexes.parallel.available_threads", lambda: 1)
        alone = index.search(queries)
        monkeypatch.setattr("embeddings.indexes.parallel.available_threads", lambda: 3)
        for mine, theirs in zip(alone, index.search(queries), strict=True):
            assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("cores", [1, 4])
def test_few_queries_are_multiplied_as_many_are(random, monkeypatch, cores):
    monkeypatch.setattr("embeddings.indexes.block_products.available_threads", lambda: cores)
    queries = random.units[:FEW]
    few, many = products(random.units, queries), products(random.units, random.units[: FEW + 1])
    assert few == pytest.approx(queries @ random.units.T, abs=1e-6)
    assert many[:FEW] == pytest.approx(few, abs=1e-6)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert one_thread()
    assert products(random.units, queries) == pytest.approx(few, abs=1e-6)


@pytest.mark.golden
def test_exact_search_equals_faiss():
    import faiss

    rng = np.random.default_rng(7)
    units = unit_rows(rng.standard_normal((3000, 40)))
    queries = unit_rows(rng.standard_normal((200, 40)))
    flat = faiss.IndexFlatIP(40)
    flat.add(units)
    cosines, rows = flat.search(queries, 10)
    found = build_index(Vectors([str(i) for i in range(3000)], units), "exact").search(queries, top=10)
    assert found.similarities == pytest.approx(cosines, abs=1e-6)
    apart = np.abs(np.diff(cosines, axis=1)).min(axis=1) > 1e-6
    assert apart.sum() > 150
    assert np.array_equal(found.ids[apart], rows[apart])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=0, max_size=60), st.integers(1, 70))
def test_ranking_is_sorting(values, top):
    ids, similarities = np.empty(top, np.int64), np.empty(top)
    rows = np.random.default_rng(1).permutation(len(values)).astype(np.int32)
    units = np.array(values, np.float32)[:, None] / 6
    rank_exactly(units, np.ones(1), rows, ids, similarities)
    order = sorted(range(len(values)), key=lambda row: (-values[row], row))[:top]
    missing = top - len(order)
    assert ids.tolist() == order + [-1] * missing
    assert similarities.tolist() == [float(units[row, 0]) for row in order] + [-np.inf] * missing


def test_asking_for_everything(random):
    for index in (build_index(random, "lsh"), build_index(random, "lsh", mode="tables", bits=1)):
        exact = build_index(random, "exact").search(random.matrix[:3], top=1000)
        found = index.search(random.matrix[:3], top=1000)
        assert np.array_equal(found.ids, exact.ids)
