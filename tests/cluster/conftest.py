"""A Ray that the tests of this folder share."""

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from embeddings.cluster.ray_runtime import local_ray

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")


@pytest.fixture(scope="module")
def ray() -> Iterator[object]:
    """The module ray, started on this machine, as if by a program that trains on a cluster."""
    module = pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")
    with ExitStack() as stack:
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore")
            patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)  # a trainer of the tests
            stack.enter_context(local_ray(module, num_cpus=2, log_to_driver=False))
        yield module
