"""What goes wrong, as one class: a line for the user with the offending value and what is allowed."""

LONGEST = 1500  # characters


class EmbeddingsError(Exception):
    """A fault of the input, the settings or the machine, told in one line."""

    def __str__(self) -> str:
        return abridged(Exception.__str__(self))  # a KeyError would quote it


def abridged(message: str) -> str:
    """A message without its middle if a value in it is endless."""
    half = LONGEST // 2
    return message if len(message) <= LONGEST else f"{message[:half]} ... {message[-half:]}"


class CorpusError(EmbeddingsError):
    """A corpus is missing, unreadable, broken or holds nothing to learn from."""


class NoWordsError(CorpusError):
    """There is no word in a corpus at all: in so many sentences and documents; `items` if these came as items."""

    def __init__(self, message: str, *, sentences: int = 0, documents: int = 0, items: bool = False) -> None:
        super().__init__(message)
        self.sentences, self.documents, self.items = sentences, documents, items


class FormatError(EmbeddingsError):
    """A vector file is missing, broken, or in a form that is not known."""


class RegistryError(EmbeddingsError, LookupError):
    """A plugin is missing, does not load, or is offered twice."""


class SettingError(EmbeddingsError, ValueError):
    """A setting is out of range."""


class OutputError(EmbeddingsError):
    """An output exists already or cannot be written."""
