"""Parameters of requests, of the types and ranges that the method which answers a question declares."""

import inspect
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from embeddings.errors import SettingError
from embeddings.settings import check_value, split_optional, split_range

MAX_LENGTH = 1000  # characters of a word
MAX_DIGITS = 9
MAX_QUERY = 8000  # characters of a query


class RequestError(Exception):
    """A refused request, with the HTTP status of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def parse_query(query: str, answer: Callable[..., Any]) -> dict[str, Any]:
    """The arguments that a query gives to a method: words, integers, or one of several values.

    Raises:
        RequestError: a parameter is unknown, missing, set twice, not UTF-8, or out of range.
    """
    parameters = dict(list(inspect.signature(answer).parameters.items())[1:])
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
    return {name: parse_value(name, values.get(name), parameter) for name, parameter in parameters.items()}


def parse_value(name: str, text: str | None, parameter: inspect.Parameter) -> Any:
    """The value of a parameter; blank words are missing."""
    kind, _ = split_range(split_optional(parameter.annotation)[0])
    if text is None or (kind is str and not text.strip()):
        if parameter.default is parameter.empty:
            raise RequestError(400, f"{name} must have a value")
        return parameter.default
    if len(text) > MAX_LENGTH:
        raise RequestError(400, f"{name} must have at most {MAX_LENGTH:,} characters, got {len(text):,}")
    is_number = kind is int and text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
    try:
        return check_value(name, int(text) if is_number else text, parameter.annotation, {})
    except SettingError as error:
        raise RequestError(400, str(error)) from None
