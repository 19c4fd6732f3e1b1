"""Indexes of nearest neighbours: each kind, ours or another package's, is an entry point of `embeddings.indexes`.

`protocol` defines what a kind provides; `index` and `index_spec` serve all kinds.
"""

from embeddings.indexes.index import Index as Index
from embeddings.indexes.index import build_index as build_index
from embeddings.indexes.index import load_index as load_index
from embeddings.indexes.index_spec import as_index as as_index
from embeddings.indexes.protocol import Engine as Engine
from embeddings.indexes.protocol import Kind as Kind
from embeddings.indexes.protocol import SearchResult as SearchResult
