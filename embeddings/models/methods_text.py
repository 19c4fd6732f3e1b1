"""A paragraph about a saved model for the methods section of a paper."""

import textwrap
from collections.abc import Mapping
from typing import Any

from embeddings.settings.objectives import WORD_OBJECTIVES


def methods_text(description: Mapping[str, Any]) -> str:
    """A paragraph that names the model, its settings, its corpus and the versions of software.

    Arguments:
        description: what `embeddings info` prints of a saved model.
    """
    record, packages = description["record"], dict(description["packages"])
    version = packages.pop("embeddings-toolkit", "of unknown version")
    tokens, unit = description["corpus_tokens"] if record.get("corpus") else None, "words"
    # counts of a vocabulary may be those of n-grams
    if record.get("unit") in ("words", "characters"):
        tokens, unit = record["total_words"] // description["settings"].get("epochs", 1), record["unit"]
    size = f", on {tokens:,} {unit} of text" if tokens else ""
    corpus = f" (corpus fingerprint {record['corpus']})" if record.get("corpus") else ""
    settings, objective = description["settings"], description["settings"].get("objective")
    users = {name: WORD_OBJECTIVES.users(name) if objective in WORD_OBJECTIVES else () for name in settings}
    used = {name: value for name, value in settings.items() if not users[name] or objective in users[name]}
    sentences = [
        f"We trained the model {description['model']} of embeddings-toolkit {version}{size}{corpus}; it has "
        f"{description['words']:,} words.",
        f"Settings: {listed(used)}.",
        f"Text: {listed(record['text'])}." if record.get("text") else "",
        f"Run: {listed({name: record.get(name) for name in ('seed', 'threads', 'replicas')})}.",
        f"Software: {listed(packages)}.",
    ]
    return textwrap.fill(" ".join(filter(None, sentences)), 100, break_on_hyphens=False, break_long_words=False)


def listed(values: Mapping[str, Any]) -> str:
    """The names and values that are set, such as "epochs 10, learning rate 0.05, tie no"."""
    texts = {name: value_text(value) for name, value in values.items() if value not in (None, "")}
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in texts.items())


def value_text(value: object) -> str:
    """A value of a setting, such as "0.05", "no" or "(count 4, rule mean)"."""
    if isinstance(value, Mapping):
        return f"({listed(value)})"
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"
