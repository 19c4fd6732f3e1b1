"""Indexes of nearest neighbours: each kind, ours or another package's, is an entry point of `embeddings.indexes`.

`protocol` defines what a kind provides; `index` serves all kinds.
"""
