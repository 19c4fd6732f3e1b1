"""Prepares docstrings for the API reference: settings get their help as docstring, examples become code blocks.

A griffe extension, loaded by `mkdocs.yml`.
"""

import ast
import re

import griffe

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
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "option"):
            return
        default, text = value.args[:2]
        bounds = [
            f"{word} {ast.unparse(keyword.value)}"
            for keyword in value.keywords
            for name, word in (("ge", "at least"), ("le", "at most"), ("gt", "greater than"))
            if keyword.arg == name
        ]
        attr.value = ast.unparse(default)
        try:
            help_text = " ".join(str(ast.literal_eval(text)).split())
        except ValueError:
            help_text = ""  # composed at run time: the command reference has it
        attr.docstring = griffe.Docstring(help_text + (f" ({', '.join(bounds)})" if bounds else ""), parent=attr)


def fenced(example: re.Match[str]) -> str:
    """An example as a code block."""
    lines = [line.removeprefix(example[1]) for line in example[0].split("\n")]
    return "\n".join(["```pycon", *lines, "```"])
