"""Hints for calls that use gensim's argument names."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from embeddings.errors import SettingError

P = ParamSpec("P")
T = TypeVar("T")
OUR_NAMES = {
    "topn": "top",
    "restrict_vocab": "restrict",
    "clip_end": "restrict",
    "indexer": "index",
    "keys": "words",
    "pre_normalize": "normalize",
    "ws1": "words_a",
    "ws2": "words_b",
    "wa": "a",
    "wb": "b",
    "document1": "document_a",
    "document2": "document_b",
    "context_words_list": "context_words",
}


def hint_gensim_names(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a method so that a keyword of gensim raises a SettingError that names ours."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            if name in OUR_NAMES:
                raise SettingError(f"{function.__name__} has no argument {name}: use {OUR_NAMES[name]}")
        return function(*args, **kwargs)

    return call
