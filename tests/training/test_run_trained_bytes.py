"""Trained models, checkpoints and resumed runs have the same bytes as those that are recorded."""

import json

import pytest
import trained_bytes

pytestmark = pytest.mark.slow
RECORDED = json.loads(trained_bytes.RECORDED.read_text())
CASES = next(iter(RECORDED.values()))
HOW = "python tests/trained_bytes.py --record"


@pytest.fixture(scope="module")
def found():
    """The results of this version."""
    return trained_bytes.all_results()


@pytest.fixture(scope="module")
def recorded():
    """The results that are recorded for the versions of this environment."""
    if trained_bytes.KEY not in RECORDED:
        pytest.skip(f"nothing is recorded for {trained_bytes.KEY}: {HOW}")
    return RECORDED[trained_bytes.KEY]


@pytest.mark.parametrize("name", [name for name, value in CASES.items() if isinstance(value, str)])
def test_trained_bytes_are_those_that_are_recorded(found, recorded, name):
    assert found[name] == recorded[name], f"if this change is meant: {HOW}"


@pytest.mark.parametrize("name", [name for name, value in CASES.items() if isinstance(value, dict)])
def test_trained_numbers_are_as_large_as_those_that_are_recorded(found, name):
    """Of trainers that use BLAS, LAPACK or PyTorch, whose last bits depend on the library and on the machine."""
    if name not in found:
        pytest.skip("requires PyTorch")
    assert found[name].keys() == CASES[name].keys()
    for array, sizes in CASES[name].items():
        assert found[name][array] == pytest.approx(sizes, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", sorted(trained_bytes.RUNS))
def test_resumed_runs_end_with_the_same_bytes_as_whole_ones(found, name):
    assert found[f"{name}: resumed"] == found[f"{name}: whole"]


@pytest.mark.parametrize("name", sorted(path.stem for path in trained_bytes.CHECKPOINTS.iterdir()))
def test_checkpoints_of_an_earlier_version_are_resumed(found, recorded, name):
    assert found[f"{name}: resumed from an earlier version"] == recorded[f"{name}: whole"]
