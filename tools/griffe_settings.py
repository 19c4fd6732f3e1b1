"""Prepares docstrings for the API reference: settings get their help as docstring, examples become code blocks.

A griffe extension, loaded by `mkdocs.yml`.
"""

import ast
import re
from importlib import import_module

import griffe

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])")
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))( *)(>>> .*?)(?=\n\n|\Z)", re.DOTALL)


class Settings(griffe.Extension):
    """Reads the fields of trainers, index kinds and other settings classes."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Fence examples, so that their brackets are not taken for links."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(fenced, obj.docstring.value)

    def on_attribute_instance(self, *, node: ast.AST | griffe.ObjectNode, attr: griffe.Attribute, **_: object) -> None:
        """Replace `option(default, help, ...)` by its default, and document the field by its help."""
        value = getattr(node, "value", None)
        is_option = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "option"
        if not is_option or attr.parent is None or not attr.parent.is_class:
            return
        settings = getattr(import_module(attr.module.path), attr.parent.name)
        field = settings.__dataclass_fields__[attr.name]
        bounds = [
            f"{word} {field.metadata[name]:,}"
            for name, word in (("gt", "greater than"), ("ge", "at least"), ("le", "at most"))
            if field.metadata[name] is not None
        ]
        attr.value = repr(field.default)
        help_text = OPTION.sub(as_setting, " ".join(field.metadata["help"].split()))
        attr.docstring = griffe.Docstring(help_text + (f" ({' and '.join(bounds)})" if bounds else ""), parent=attr)


def as_setting(option: re.Match[str]) -> str:
    """An option of the command line as the argument in Python."""
    return f"`{option[1].replace('-', '_')}`"


def fenced(example: re.Match[str]) -> str:
    """An example as a code block."""
    lines = [line.removeprefix(example[1]) for line in example[0].split("\n")]
    return "\n".join(["```pycon", *lines, "```"])
