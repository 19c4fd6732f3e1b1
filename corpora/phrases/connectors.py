"""Common words that may stand within a phrase, as in "king of the hill", but neither begin nor end one."""

from pathlib import Path

from embeddings.errors import FormatError, SettingError

# Those that gensim calls ENGLISH_CONNECTOR_WORDS: articles, conjunctions and prepositions.
ENGLISH = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "without"]
)
MOST = 1000  # with so many, pairs of some thousand different words can be told apart; see `pairs`


def connecting(source: str | None) -> frozenset[str]:
    """No words, those of English for "english", or those of a file, between white space. A file wins over the name.

    Raises:
        FormatError: the file cannot be read or is not UTF-8.
        SettingError: there is no such file, or it holds no words or more than 1,000.
    """
    if source is None:
        return frozenset()
    path = Path(source)
    if not path.is_file():
        if source == "english":
            return ENGLISH
        raise SettingError(f"connectors must be english or a file of words, not {source!r}")
    try:
        words = frozenset(path.read_bytes().decode("utf-8-sig").split())
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}") from None
    if not 0 < len(words) <= MOST:
        raise SettingError(f"{path} holds {len(words)} connecting words; 1 to {MOST} can be used")
    return words
