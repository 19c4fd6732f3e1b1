"""float16 and int8: compared with a naive quantisation; the reported error; tables and the command line."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from embeddings import cli
from embeddings.models.loading import load
from embeddings.vectors.compact_rows import from_int8, to_int8
from embeddings.vectors.precision import rounding_error
from embeddings.vectors.vectors import Vectors

moderate = st.floats(-(2.0**100), 2.0**100, width=32).filter(lambda value: value == 0 or abs(value) > 1e-30)
matrices = arrays.arrays(np.float32, st.tuples(st.integers(0, 6), st.integers(1, 5)), elements=moderate)


@given(matrices)
def test_the_error_is_at_most_half_a_step(matrix):
    rows, scales = to_int8(matrix)
    assert rows.dtype == np.int8
    assert rows.shape == matrix.shape
    for row, scale, true in zip(rows, scales, matrix.astype(np.float64), strict=True):
        largest = np.abs(true).max()
        assert scale == pytest.approx(largest / 127)
        assert np.abs(row).max() == (127 if largest else 0)
        assert (np.abs(row * np.float64(scale) - true) <= largest / 254 * 1.00001).all()


@given(matrices, st.sampled_from(["int8", "float16"]))
def test_the_reported_error_is_that_of_the_file(matrix, dtype):
    if dtype == "float16":
        matrix = np.clip(matrix, -60000, 60000)
    vectors = Vectors([str(i) for i in range(len(matrix))], matrix)
    again = from_int8(*to_int8(matrix)) if dtype == "int8" else matrix.astype(np.float16).astype(np.float32)
    rounding = rounding_error(vectors, dtype)
    assert rounding.max_error == (np.abs(matrix.astype(np.float64) - again).max() if matrix.size else 0)
    assert -1 <= rounding.min_cosine <= 1


def test_the_lowest_cosine():
    vectors = Vectors(["a", "b", "zero"], [[1, 0.001, 0], [1, 1, 1], [0, 0, 0]])
    one = np.array([1, 0.001]) / np.hypot(1, 0.001)
    assert rounding_error(vectors, "int8").min_cosine == pytest.approx(one[0], abs=1e-12)
    assert rounding_error(vectors, "int8").max_error == pytest.approx(0.001)


@pytest.fixture
def random():
    rng = np.random.default_rng(5)
    return Vectors([f"w{i}" for i in range(300)], rng.standard_normal((300, 20)).astype("f4"), counts=range(300, 0, -1))


@pytest.mark.parametrize(("name", "read"), [("v.parquet", pd.read_parquet), ("v.arrow", pd.read_feather)])
def test_pandas_reads_int8(tmp_path, random, name, read):
    random.save(tmp_path / name, dtype="int8")
    frame = read(tmp_path / name)
    assert list(frame.columns) == ["word", "count", "vector", "scale"]
    assert frame["vector"][0].dtype == np.int8
    again = np.stack(frame["vector"]) * frame["scale"].to_numpy()[:, None]
    assert np.array_equal(again.astype("f4"), load(tmp_path / name).matrix)
    assert np.array_equal(Vectors.from_pandas(frame).matrix, load(tmp_path / name).matrix)


def test_vectors_are_integers_times_their_scales():
    columns = {"word": ["a", "b"], "vector": pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), "scale": [0.5, 2.0]}
    assert Vectors.from_arrow(pa.table(columns)).matrix.tolist() == [[0.5, 1], [6, 8]]


def test_the_command_line_reports_the_error(tmp_path, random):
    random.save(tmp_path / "v.bin")
    for dtype in ("int8", "float16"):
        arguments = ["export", tmp_path / "v.bin", tmp_path / f"{dtype}.safetensors", "--dtype", dtype]
        result = CliRunner().invoke(cli.main, list(map(str, arguments)))
        rounding = rounding_error(random, dtype)
        assert result.exit_code == 0
        assert result.stdout == ""
        assert f"{rounding.max_error:.3g}" in result.stderr
        assert f"{rounding.min_cosine:.6f}" in result.stderr
        assert rounding.max_error == pytest.approx(
            np.abs(load(tmp_path / f"{dtype}.safetensors").matrix - random.matrix).max()
        )
