"""The contract of an index as a test; `embeddings.testing` offers it."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.indexes.index import Index, build
from embeddings.indexes.index_files import load
from embeddings.indexes.protocol import Found
from embeddings.support.cosine import normalize
from embeddings.vectors.vectors import Vectors

ROWS, DIM, QUERIES, TOP = 600, 24, 80, 10
FEWEST_FOUND = 0.5  # share of the true neighbours, with default settings


def check_index(name: str, **settings: Any) -> None:
    """Assert that an installed kind of index keeps the contract; takes a second or two.

    Its fields must be options with bounds that are kept. Built from vectors, a zero and equal ones among them, it must
    give ids and cosines in order, ties to the lower row, no row twice; find most true neighbours, and every row of
    few; answer the same one by one, and once saved and loaded; and refuse other vectors.

    Raises:
        AssertionError: saying what is wrong.
    """
    vectors = planted()
    index = build(name, vectors, settings)
    check_kind(type(index.kind), settings)
    queries = np.concatenate([vectors.matrix[:QUERIES], np.zeros((1, DIM), np.float32)])
    found = index.search(queries, top=TOP)
    check_found(vectors, queries, found)
    check_recall(vectors, queries[:QUERIES], found)
    check_equal(found, index.search(queries, top=TOP), "asked again")
    singly = [index.search(query[None], top=TOP) for query in queries]
    check_equal(found, Found(*map(np.concatenate, zip(*singly, strict=True))), "asked one by one")
    check_saved(index, queries, found)
    check_few(name, settings)


def planted() -> Vectors:
    """Groups of near vectors; the last is zero, and the one before equals the first."""
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((ROWS // 20, DIM)).repeat(20, axis=0) + 0.5 * rng.standard_normal((ROWS, DIM))
    matrix[-1], matrix[-2] = 0, matrix[0]
    return Vectors([f"w{row}" for row in range(ROWS)], matrix)


def check_kind(kind: type, settings: dict[str, Any]) -> None:
    """Assert that the settings are options, with bounds that are kept."""
    from embeddings.testing.trainer_contract import check_bounds, check_options

    check_options(kind)
    check_bounds(kind, settings)


def check_found(vectors: Vectors, queries: np.ndarray, found: Found) -> None:
    """Assert shapes and types, and that cosines are true and in order, with ties to the lower row."""
    ids, similarities, _ = found
    shape = (len(queries), TOP)
    assert ids.shape == similarities.shape == shape, f"ids and similarities must be {shape}, not {ids.shape}"
    assert ids.dtype == np.int64, f"ids must be int64, not {ids.dtype}"
    assert similarities.dtype == np.float64, f"similarities must be float64, not {similarities.dtype}"
    assert found.looked.shape == (len(queries),), "looked must say a number for each query"
    for row, near, query in zip(ids, similarities, normalize(queries), strict=True):
        there = row[row >= 0]
        assert (row[len(there) :] == -1).all(), "rows that are missing must come last, as -1"
        assert len(set(there)) == len(there), f"no row may be found twice: {there}"
        assert there.max(initial=0) < len(vectors), "ids must be rows"
        true = vectors.unit_rows[there] @ query
        np.testing.assert_allclose(near[: len(there)], true, atol=1e-6, err_msg="similarities must be cosines")
        steps = list(zip(-near[: len(there)], there, strict=True))
        assert steps == sorted(steps), "the nearest must come first, a tie to the lower row"


def check_recall(vectors: Vectors, queries: np.ndarray, found: Found) -> None:
    """Assert that most true neighbours are found."""
    true = np.argsort(-(vectors.unit_rows @ queries.T), axis=0)[:TOP].T
    shares = [len(np.intersect1d(a, b)) / TOP for a, b in zip(true, found.ids, strict=False)]
    share = float(np.mean(shares))
    assert share >= FEWEST_FOUND, f"at least {FEWEST_FOUND} of the nearest must be found, not {share:.3f}"


def check_equal(found: Found, again: Found, when: str) -> None:
    """Assert that an index answers the same."""
    np.testing.assert_array_equal(found.ids, again.ids, err_msg=f"ids differ when {when}")
    np.testing.assert_allclose(found.similarities, again.similarities, atol=1e-12, err_msg=f"they differ when {when}")


def check_saved(index: Index, queries: np.ndarray, found: Found) -> None:
    """Assert that it is equal when saved and loaded, and refuses other vectors then."""
    other = Vectors(index.vectors.words, index.vectors.matrix[::-1])
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "index")
        again = load(Path(folder) / "index", index.vectors)
        assert again.settings == index.settings, "settings must be equal when loaded: only what JSON can hold"
        check_equal(found, again.search(queries, top=TOP), "saved and loaded")
        try:
            load(Path(folder) / "index", other)
        except SettingError:
            return
    raise AssertionError("an index of other vectors must be refused")


def check_few(name: str, settings: dict[str, Any]) -> None:
    """Assert that a few rows can be indexed, or are refused in a line, and all be asked for."""
    vectors = Vectors(["a", "b", "c"], np.eye(3))
    try:
        index = build(name, vectors, settings)
    except SettingError:
        return
    found = index.search(vectors.matrix, top=5)
    assert found.ids.shape == (3, 3), f"of three rows three must be given, not {found.ids.shape[1]}"
    assert (found.ids[:, 0] == [0, 1, 2]).all(), "each of three rows must be its own nearest"
