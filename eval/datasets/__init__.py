"""Test sets: where the files are, and readers of each kind."""
