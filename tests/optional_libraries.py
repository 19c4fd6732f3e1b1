"""Tests that need optional libraries."""

from importlib.util import find_spec

import pytest


def needs(*modules):
    """Marks that skip a test without these libraries, which the extra `ecosystem` installs."""
    if not modules:
        return []
    missing = [module for module in modules if find_spec(module) is None]
    reason = f"requires {', '.join(missing)}: pip install 'embeddings-toolkit[ecosystem]'"
    return [pytest.mark.ecosystem, pytest.mark.skipif(bool(missing), reason=reason)]
