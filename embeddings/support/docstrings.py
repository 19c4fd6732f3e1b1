"""What docstrings say about arguments, for help texts and the columns of tables."""

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any


def documentation(item: Callable[..., Any]) -> str:
    """The docstring of a function or class, which `python -OO` removes; not the signature that `dataclass` writes."""
    text = inspect.getdoc(item) or ""
    return "" if text.startswith(f"{item.__name__}(") else text


@cache
def argument_texts(function: Callable[..., Any]) -> dict[str, str]:
    """The description of each argument in a function's docstring, without sentences about Python, as help."""
    _, _, section = documentation(function).partition("Arguments:\n")
    texts: dict[str, str] = defaultdict(str) if sys.flags.optimize > 1 else {}
    for entry in re.split(r"\n    (?=\w)", "\n" + section.split("\n\n")[0])[1:]:
        names, _, text = re.sub(r"\. In Python.*", ".", " ".join(entry.split())).partition(": ")
        text = re.sub(r'(`[^`]*`)|"([^" ]+)"', r"\1\2", text)  # code keeps its quotation marks
        texts |= dict.fromkeys(names.split(", "), text[:1].upper() + text[1:])
    return texts
