"""Results of evaluations as rows of tables."""

from dataclasses import asdict
from typing import Any

from embeddings.eval import Result
from embeddings.eval.datasets.halves import ALL

COLUMNS = ("vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "covered", "total")


def row(result: Result, with_composed: bool) -> dict[str, Any]:
    """A result as a row of the table."""
    values = {**asdict(result), **labels(result)}
    if result.reason is not None:
        values["value"] = f"none: {result.reason}"
    return {name: values[name] for name in (*COLUMNS, *["composed"] * with_composed)}


def labels(result: Any) -> dict[str, str]:
    """The set with its half, the section and the vocabulary limit of a result or comparison, as shown in tables."""
    name = result.set if result.half == ALL else f"{result.set} ({result.half})"
    words = f"first {result.restrict}" if result.restrict else "all"
    return {"set": name, "section": result.section or "all", "words": words}
