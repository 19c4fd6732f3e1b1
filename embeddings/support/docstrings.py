"""What docstrings say about arguments, for help texts and the columns of tables."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def argument_texts(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring of a function says about each of its arguments, without sentences about Python, as help."""
    _, _, section = (inspect.getdoc(function) or "").partition("Arguments:\n")
    texts: dict[str, str] = {}
    for entry in re.split(r"\n    (?=\w)", "\n" + section.split("\n\n")[0])[1:]:
        names, _, text = re.sub(r"\. In Python.*", ".", " ".join(entry.split())).partition(": ")
        text = re.sub(r'"([^" ]+)"', r"\1", text)
        texts |= dict.fromkeys(names.split(", "), text[:1].upper() + text[1:])
    return texts
