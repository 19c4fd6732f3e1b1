"""The libraries of the package's optional extras."""

import warnings
from importlib import import_module
from typing import Any

from embeddings.errors import EmbeddingsError


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Import a library of an extra, without warnings; raises EmbeddingsError if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ModuleNotFoundError:
        library = module.partition(".")[0]
        raise EmbeddingsError(
            f"{purpose} requires {library}, which is not installed: pip install 'embeddings-toolkit[{extra}]'"
        ) from None
