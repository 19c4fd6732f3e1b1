"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def format_number(value: object, spec: str, digits: int = 17) -> str:
    """A number in a format, with this many significant digits; a dash for None, and other values as they are."""
    if value is None:
        return "-"
    return format(float(f"{value:.{digits}g}"), spec) if isinstance(value, int | float) else str(value)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in (header, *rows))
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return [first, "| " + " | ".join(["---"] * len(header)) + " |", *others]
