"""Helpers that know nothing of embeddings: files, the cache folder, JSON and Arrow, logging, the machine."""
