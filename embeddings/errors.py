"""Errors that users can cause: each is one line with the offending value and what to do."""

from embeddings.printable import printable

MAX_LENGTH = 1500  # characters of a message


class EmbeddingsError(Exception):
    """Base class: a problem with the input, the settings or the machine."""

    def __str__(self) -> str:
        return shorten(printable(Exception.__str__(self)))  # KeyError would quote the message


def shorten(message: str) -> str:
    """The message without its middle, if it is very long."""
    half = MAX_LENGTH // 2
    return message if len(message) <= MAX_LENGTH else f"{message[:half]} ... {message[-half:]}"


class CorpusError(EmbeddingsError):
    """A corpus is missing, unreadable, broken, or contains nothing to learn from."""


class NoWordsError(CorpusError):
    """A corpus contains no words; `has_items`: some of its texts came as table rows or items of an iterable."""

    def __init__(self, message: str, *, sentences: int = 0, documents: int = 0, has_items: bool = False) -> None:
        super().__init__(message)
        self.sentences, self.documents, self.has_items = sentences, documents, has_items


class SingleTextError(CorpusError):
    """A line or row has one text where a pair has two."""


class FormatError(EmbeddingsError):
    """A file is missing or broken, or its format is unknown."""


class RegistryError(EmbeddingsError, LookupError):
    """A plugin is missing, cannot be imported, or is provided by two packages."""


class SettingError(EmbeddingsError, ValueError):
    """A setting or argument is out of range or of the wrong type."""


class DeclarationError(EmbeddingsError):
    """A plugin declares something impossible: a fault of its author, not of the user."""


class OutputError(EmbeddingsError):
    """An output exists already or cannot be written."""


class RemoteError(EmbeddingsError, OSError):
    """A file in an object store or on a web server cannot be read or written.

    strerror: the reason alone, without the address.
    """

    def __init__(self, address: object, reason: str) -> None:
        super().__init__(f"{address} {reason}")
        self.strerror = reason
