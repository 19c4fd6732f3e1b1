"""Kernels run where their compiled code cannot be kept."""

import pytest
from numba import njit

from embeddings.kernels.jit import ignore_save_errors


class Kept:
    """A cache that calls what it is given."""

    def __init__(self, error=None):
        self.error, self.saved = error, []

    def save_overload(self, *args):
        if self.error is not None:
            raise self.error
        self.saved.append(args)


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), PermissionError(13, "no"), FileNotFoundError()]
)
def test_a_cache_that_cannot_be_written_is_forgiven(error):
    kept = Kept(error)
    ignore_save_errors(kept)
    assert kept.save_overload("signature", "code") is None


def test_a_cache_that_can_be_written_is_written():
    kept = Kept()
    ignore_save_errors(kept)
    kept.save_overload("signature", "code")
    assert kept.saved == [("signature", "code")]


def test_other_faults_are_not_forgiven():
    kept = Kept(ValueError("a fault"))
    ignore_save_errors(kept)
    with pytest.raises(ValueError, match="a fault"):
        kept.save_overload("signature", "code")


def test_a_kernel_runs_though_it_cannot_be_kept(monkeypatch):
    compiled, kept = njit(lambda x: x + 1), Kept(OSError(28, "No space left on device"))
    kept.load_overload = lambda *args: None
    monkeypatch.setattr(compiled, "_cache", kept)
    with pytest.raises(OSError, match="No space"):
        compiled(1.5)  # so numba does save through it
    ignore_save_errors(kept)
    assert compiled(1) == 2


def test_kernels_of_this_package_are_forgiven():
    from numba.core.caching import NullCache

    from embeddings.kernels.block import fill_block

    if isinstance(fill_block._cache, NullCache):
        pytest.skip("no cache folder can be written here")
    assert fill_block._cache.save_overload.__module__ == "embeddings.kernels.jit"
