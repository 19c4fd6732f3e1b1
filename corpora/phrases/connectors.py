"""Connectors: common words that may occur within a phrase, as in "king of the hill", but not at its ends."""

from pathlib import Path

from embeddings.errors import SettingError
from embeddings.support.text_lines import read_text_lines

# gensim's ENGLISH_CONNECTOR_WORDS: articles, conjunctions and prepositions
ENGLISH = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "without"]
)
MAX_CONNECTORS = 1000  # leaves room for about 3,000 distinct words in the keys of `bigram_counts`


def load_connectors(source: str | None) -> frozenset[str]:
    """Return the connectors: the white-space-separated words of a file, `ENGLISH` for "english", none for None."""
    if source is None:
        return frozenset()
    path = Path(source)
    if not path.is_file():
        if source == "english":
            return ENGLISH
        raise SettingError(f"connectors must be english or a file of words, got {source!r}")
    words = frozenset(" ".join(read_text_lines(path, "list of connectors")).split())
    if not 0 < len(words) <= MAX_CONNECTORS:
        raise SettingError(f"{path} must contain 1 to {MAX_CONNECTORS} connectors, got {len(words)}")
    return words
