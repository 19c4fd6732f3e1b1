"""Errors that users or authors of plugins can cause: each is one line with the offending value and what to do."""

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from embeddings.printable import printable
from embeddings.setting_names import advice

MAX_LENGTH = 1500  # characters of a message
START, END = "\ufdd0", "\ufdd1"  # of a mark: noncharacters, which text does not contain
MARK = re.compile(f"{START}([^={END}]*)(?:=([^{END}]*))?{END}")


class Setting(str):
    """The name of a setting in the message of an error, marked so that the command line prints its option."""

    def __call__(self, value: object) -> str:
        """The setting with a value: `window=5`."""
        return f"{self[:-1]}={value}{END}"


class SettingNames:
    """Settings by name, for messages: `f"{S.window} must be at least 1"`, `f"set {S.force(True)}"`, `S[name]`."""

    def __getattr__(self, name: str) -> Setting:
        return self[name]

    def __getitem__(self, name: str) -> Setting:
        return Setting(f"{START}{name}{END}")


S = SettingNames()


class EmbeddingsError(Exception):
    """Base class: a problem with the input, the settings or the machine.

    Arguments:
        message: one line that marks settings by `S`; `args` has it without marks, as Python names the settings.
    """

    def __init__(self, message: str = "") -> None:
        self.marked_message = message
        super().__init__(replace_marks(message, as_in_python))

    def __str__(self) -> str:
        return self.message_with(as_in_python)

    def message_with(self, shown: Callable[[str, str | None], str]) -> str:
        """The message with each marked setting replaced by `shown(name, value)`; `value` is None without a value."""
        return shorten(printable(replace_marks(marked(self), shown)))


def replace_marks(message: str, shown: Callable[[str, str | None], str]) -> str:
    """A message with each marked setting replaced by `shown(name, value)`."""
    return MARK.sub(lambda mark: shown(mark[1], mark[2]), message)


def as_in_python(name: str, value: str | None) -> str:
    """A setting as an argument in Python."""
    return name if value is None else f"{name}={value}"


def marked(error: BaseException) -> str:
    """The message of an error with the marks of its settings, for the message of another error."""
    return error.marked_message if isinstance(error, EmbeddingsError) else str(error)


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


class FormatError(EmbeddingsError):
    """A file is missing or broken, or its format is unknown."""


class RegistryError(EmbeddingsError, LookupError):
    """A plugin is missing, cannot be imported, or is provided by two packages."""


class SettingError(EmbeddingsError, ValueError):
    """A setting or argument is out of range or of the wrong type."""


def check_names(owner: str, known: Collection[str], given: Iterable[str], kind: str = "setting") -> None:
    """Refuse names of settings, or of arguments, that their owner does not have; the error says what to write."""
    for name in given:
        if name not in known:
            remedy = advice(name, known)
            listed = f"; its {kind}s: {', '.join(known) or 'none'}"
            raise SettingError(f"{owner} has no {kind} {name!r}{f': {remedy}' if remedy else listed}")


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
        self.address, self.strerror = address, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.address, self.strerror)
