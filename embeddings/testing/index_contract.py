"""The contract of an index kind as a test; `embeddings.testing` exports it."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.indexes.protocol import SearchResult
from embeddings.support.cosine import normalize
from embeddings.testing.settings_contract import check_bounds, check_options, refusal
from embeddings.vectors.index import Index, build, load_index
from embeddings.vectors.vectors import Vectors

ROWS, DIM, QUERIES, TOP = 600, 24, 80, 10
MIN_RECALL = 0.5  # with default settings


def check_index(name: str, **settings: Any) -> None:
    """Assert that an installed kind of index fulfils the contract; takes a second or two.

    Its fields must be options that enforce their bounds. Built from vectors that include zeros and duplicates, it must
    return ids and cosines, sorted, with ties to the lower row and no row twice; find most true neighbours, and all rows
    of a tiny set; return the same for single queries, and after saving and loading; and refuse other vectors.

    Raises:
        AssertionError: naming the violation.
    """
    rng = np.random.default_rng(5)  # clusters of near vectors; the last is zero, and the one before equals the first
    matrix = rng.standard_normal((ROWS // 20, DIM)).repeat(20, axis=0) + 0.5 * rng.standard_normal((ROWS, DIM))
    matrix[-1], matrix[-2] = 0, matrix[0]
    vectors = Vectors([f"w{row}" for row in range(ROWS)], matrix)
    index = build(vectors, name, settings)
    check_options(type(index.kind))
    check_bounds(type(index.kind), settings)
    queries = np.concatenate([vectors.matrix[:QUERIES], np.zeros((1, DIM), np.float32)])
    result = index.search(queries, top=TOP)
    check_result(vectors, queries, result)
    expected = np.argsort(-(vectors.unit_rows @ queries[:QUERIES].T), axis=0)[:TOP].T
    recall = np.mean([len(np.intersect1d(a, b)) / TOP for a, b in zip(expected, result.ids, strict=False)])
    assert recall >= MIN_RECALL, f"recall must be at least {MIN_RECALL}, got {recall:.3f}"
    check_equal(result, index.search(queries, top=TOP), "the search is repeated")
    single = [index.search(query[None], top=TOP) for query in queries]
    check_equal(result, SearchResult(*map(np.concatenate, zip(*single, strict=True))), "queries are searched singly")
    check_saved(index, vectors, queries, result)
    few = Vectors(["a", "b", "c"], np.eye(3))
    try:
        small = build(few, name, settings)
    except SettingError:  # three rows are too few
        return
    result = small.search(few.matrix, top=5)
    assert result.ids.shape == (3, 3), f"a search of three rows must return all three, got {result.ids.shape[1]}"
    assert (result.ids[:, 0] == [0, 1, 2]).all(), "each of three rows must be its own nearest"


def check_result(vectors: Vectors, queries: np.ndarray, result: SearchResult) -> None:
    """Assert shapes and types, and that cosines are true and sorted, with ties to the lower row."""
    ids, similarities = result
    shape = (len(queries), TOP)
    assert ids.shape == similarities.shape == shape, f"ids and similarities must be {shape}, got {ids.shape}"
    assert ids.dtype == np.int64, f"ids must be int64, got {ids.dtype}"
    assert similarities.dtype == np.float64, f"similarities must be float64, got {similarities.dtype}"
    for row, cosines, query in zip(ids, similarities, normalize(queries), strict=True):
        present = row[row >= 0]
        assert (row[len(present) :] == -1).all(), "missing rows must come last, as -1"
        assert len(set(present)) == len(present), f"no row may occur twice: {present}"
        assert present.max(initial=0) < len(vectors), "ids must be row numbers"
        expected = vectors.unit_rows[present] @ query
        np.testing.assert_allclose(cosines[: len(present)], expected, atol=1e-6, err_msg="similarities must be cosines")
        steps = list(zip(-cosines[: len(present)], present, strict=True))
        assert steps == sorted(steps), "the nearest must come first, a tie to the lower row"


def check_equal(result: SearchResult, other: SearchResult, when: str) -> None:
    """Assert that two searches return the same."""
    np.testing.assert_array_equal(result.ids, other.ids, err_msg=f"ids differ when {when}")
    message = f"similarities differ when {when}"
    np.testing.assert_allclose(result.similarities, other.similarities, atol=1e-12, err_msg=message)


def check_saved(index: Index, vectors: Vectors, queries: np.ndarray, result: SearchResult) -> None:
    """Assert that an index is unchanged after saving and loading, and refuses other vectors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        loaded = load_index(path, vectors, allow_faiss=True)
        assert loaded.settings == index.settings, "loaded settings must be equal: use only values that JSON can hold"
        check_equal(result, loaded.search(queries, top=TOP), "the index is saved and loaded")
        other = Vectors(vectors.words, vectors.matrix[::-1])
        assert refusal(load_index, path, other, allow_faiss=True) is not None, "loading must refuse other vectors"
