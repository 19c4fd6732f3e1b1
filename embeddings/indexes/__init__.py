"""Indexes of nearest neighbours: each kind, ours or another package's, is an entry point of `embeddings.indexes`.

`protocol` defines what a kind provides; `index`, `index_files` and `index_spec` serve all kinds.
"""

from typing import TYPE_CHECKING

from embeddings.support.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.indexes.index import Index as Index
    from embeddings.indexes.index import build_index as build_index
    from embeddings.indexes.index import load_index as load_index
    from embeddings.indexes.index_spec import as_index as as_index
    from embeddings.indexes.protocol import Engine as Engine
    from embeddings.indexes.protocol import Kind as Kind
    from embeddings.indexes.protocol import SearchResult as SearchResult

HOMES = {
    "Engine": "embeddings.indexes.protocol",
    "Index": "embeddings.indexes.index",
    "Kind": "embeddings.indexes.protocol",
    "SearchResult": "embeddings.indexes.protocol",
    "as_index": "embeddings.indexes.index_spec",
    "build_index": "embeddings.indexes.index",
    "load_index": "embeddings.indexes.index",
}

__getattr__ = lazy_getattr(__name__, HOMES)
