"""Markdown tables."""

from collections.abc import Iterable, Sequence


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in (header, *rows))
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return [first, "| " + " | ".join(["---"] * len(header)) + " |", *others]
