"""Tests that need optional libraries."""

from importlib.util import find_spec

import pytest

from embeddings import registry

NO_GENSIM = "requires gensim, which has wheels for Python 3.11 to 3.13 only"
needs_gensim = pytest.mark.skipif(find_spec("gensim") is None, reason=NO_GENSIM)
KV = pytest.param("v.kv", marks=needs_gensim)  # a file that gensim writes and reads
GENSIM = pytest.param("gensim", marks=needs_gensim)  # its format


def import_gensim(module="gensim"):
    """Import gensim or a module of it; the test is skipped without it."""
    return pytest.importorskip(module, reason=NO_GENSIM)


def needs(*modules):
    """Marks that skip a test without these libraries, which the extra `ecosystem` installs."""
    if not modules:
        return []
    missing = [module for module in modules if find_spec(module) is None]
    reason = f"requires {', '.join(missing)}: pip install 'embeddings-toolkit[ecosystem]'"
    return [pytest.mark.ecosystem, pytest.mark.skipif(bool(missing), reason=reason)]


def needs_libraries_of(name):
    """Marks that skip a test of a trainer without the libraries that it needs for training."""
    missing = [library for library in registry.load("trainer", name).libraries if find_spec(library) is None]
    return [pytest.mark.skip(reason=f"training {name} requires {', '.join(missing)}")] if missing else []


def all_trainers():
    """The names of all trainers, for parametrize; those whose libraries are missing are skipped."""
    return [pytest.param(name, marks=needs_libraries_of(name)) for name in registry.find_all("trainer")]
