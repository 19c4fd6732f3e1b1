"""Parameters of requests: which there are, and their types and bounds."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

MAX_LENGTH = 1000  # characters of a word
MAX_QUERY = 8000  # characters of a query


class RequestError(Exception):
    """A request that is refused, with the status to answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Text:
    """A word, at least one character unless it is optional."""

    is_optional: bool = False

    def parse(self, name: str, value: str | None) -> str | None:
        """The word."""
        if value is None or not value.strip():
            if self.is_optional:
                return None
            raise RequestError(400, f"{name} must have a value")
        if len(value) > MAX_LENGTH:
            raise RequestError(400, f"{name} must have at most {MAX_LENGTH:,} characters, got {len(value):,}")
        return value


@dataclass(frozen=True)
class Integer:
    """A number in a range."""

    default: int
    low: int
    high: int

    def parse(self, name: str, value: str | None) -> int:
        """The number."""
        if value is None:
            return self.default
        if value.isascii() and value.isdigit() and len(value) < 10 and self.low <= int(value) <= self.high:
            return int(value)
        raise RequestError(400, f"{name} must be an integer from {self.low} to {self.high}, got {value!r:.40}")


@dataclass(frozen=True)
class Choice:
    """A parameter with one of several values, by default the first."""

    values: tuple[str, ...]

    def parse(self, name: str, value: str | None) -> str:
        """The value."""
        if value is not None and value not in self.values:
            raise RequestError(400, f"{name} must be one of {', '.join(self.values)}, got {value!r:.40}")
        return value or self.values[0]


Parameter = Text | Integer | Choice


def parse_query(query: str, parameters: dict[str, Parameter]) -> dict[str, Any]:
    """The values of the parameters in a query.

    Raises:
        RequestError: a parameter is unknown, missing, set twice, not UTF-8, or out of range.
    """
    if len(query) > MAX_QUERY:
        raise RequestError(414, f"the query must have at most {MAX_QUERY:,} characters")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=2 * len(parameters) + 1)
    except ValueError as error:
        raise RequestError(400, "the query is not valid UTF-8, or has too many parameters") from error
    values = dict(pairs)
    if unknown := values.keys() - parameters.keys():
        raise RequestError(400, f"unknown parameter {min(unknown)!r:.40}")
    if len(values) < len(pairs):
        raise RequestError(400, "a parameter is set twice")
    return {name: parameter.parse(name, values.get(name)) for name, parameter in parameters.items()}
