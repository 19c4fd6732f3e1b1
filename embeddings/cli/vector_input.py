"""Vectors that commands read."""

from collections.abc import Iterable

from embeddings.cli.output import note
from embeddings.models.loading import has_model
from embeddings.vectors.vectors import Vectors


def check_paths(paths: Iterable[str]) -> None:
    """Refuse paths that are missing or of unknown format, before work starts on any of them."""
    for path in paths:
        has_model(path)


def report_composed(vectors: Vectors, words: Iterable[str]) -> None:
    """Report which words have a composed vector, because they are not in the vocabulary."""
    unknown = [word for word in dict.fromkeys(words) if word not in vectors]
    if vectors.compose is not None and unknown:
        named = [f"{word} (known: {word.lower()!r})" if word.lower() in vectors else word for word in unknown]
        note(f"composed vectors for words not in the vocabulary: {', '.join(named)}")
