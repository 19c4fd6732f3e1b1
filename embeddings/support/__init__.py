"""Helpers that are not specific to embeddings: files, the cache folder, JSON, Arrow, logging, system resources."""
