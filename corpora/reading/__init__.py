"""Reads text from files, folders, tables (compressed or not) and Python iterables."""
