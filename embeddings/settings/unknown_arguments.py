"""Refusal of unknown keyword arguments in one line that says which function takes them."""

import dataclasses
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from embeddings.errors import SettingError
from embeddings.setting_names import advice

Method = TypeVar("Method", bound=Callable[..., Any])


def refuse_unknown(method: Method) -> Method:
    """Decorate `Trainer.train`, or a constructor, so that an unknown keyword argument raises a SettingError."""
    code = method.__code__
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    is_constructor = method.__name__ == "__init__"

    @wraps(method)
    def call(self: Any, *args: Any, **arguments: Any) -> Any:
        for name in arguments.keys() - set(known):
            if is_constructor:
                what, remedy = type(self).__name__, advice(name, known)
            else:
                settings = [field.name for field in dataclasses.fields(self)]
                what, remedy = f"{method.__name__}()", advice(name, known, type(self).__name__, settings)
            remedy = f": {remedy}" if remedy else f"; its arguments: {', '.join(known)}"
            raise SettingError(f"{what} has no argument {name!r}{remedy}")
        return method(self, *args, **arguments)

    return call  # type: ignore[return-value]  # the same signature
