"""A Ray that the tests of this folder share."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")


@pytest.fixture(scope="module")
def ray() -> Iterator[object]:
    """The module ray, started on this machine."""
    module = pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)  # a trainer of the tests
        module.init(num_cpus=2, include_dashboard=False, log_to_driver=False, address="local")
    yield module
    module.shutdown()
