"""Results of evaluations as rows of tables."""

from dataclasses import asdict
from typing import Any

from embeddings.eval import Result

COLUMNS = ("vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "covered", "total")


def row(result: Result, with_composed: bool) -> dict[str, Any]:
    """A result as a row of the table."""
    values = {**asdict(result), **labels(result)}
    if result.reason is not None:
        values["value"] = f"none: {result.reason}"
    return {name: values[name] for name in (*COLUMNS, *["composed"] * with_composed)}


def labels(result: Any) -> dict[str, str]:
    """The section and the vocabulary limit of a result or comparison, as shown in tables."""
    return {"section": result.section or "all", "words": f"first {result.restrict}" if result.restrict else "all"}
