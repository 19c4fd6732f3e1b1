"""A paragraph about a saved model for the methods section of a paper."""

import textwrap
from collections.abc import Mapping
from typing import Any


def methods_text(description: Mapping[str, Any]) -> str:
    """A paragraph that names the model, its settings, its corpus and the versions of software.

    Arguments:
        description: what `embeddings info` prints of a saved model.
    """
    record, packages = description["record"], dict(description["packages"])
    version = packages.pop("embeddings-toolkit", "of unknown version")
    tokens = f", on {description['corpus_tokens']:,} words of text" if description["corpus_tokens"] else ""
    corpus = f" (corpus fingerprint {record['corpus']})" if record.get("corpus") else ""
    sentences = [
        f"We trained the model {description['model']} of embeddings-toolkit {version}{tokens}{corpus}; it has "
        f"{description['words']:,} words.",
        f"Settings: {listed(description['settings'])}.",
        f"Text: {listed(record['text'])}." if record.get("text") else "",
        f"Run: {listed({name: record.get(name) for name in ('seed', 'threads', 'replicas')})}.",
        f"Software: {listed(packages)}.",
    ]
    return textwrap.fill(" ".join(filter(None, sentences)), 100, break_on_hyphens=False, break_long_words=False)


def listed(values: Mapping[str, Any]) -> str:
    """The names and values that are set, such as "epochs 10, learning rate 0.05, tie no"."""
    shown = {True: "yes", False: "no"}
    return ", ".join(
        f"{name.replace('_', ' ')} {shown[value] if isinstance(value, bool) else value}"
        for name, value in values.items()
        if value not in (None, "")
    )
