"""Markdown tables, and generated parts of Markdown files."""

from collections.abc import Iterable, Sequence


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Format a table."""
    lines = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in (header, *rows))
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return [first, "| " + " | ".join(["---"] * len(header)) + " |", *others]


def replace_between(text: str, mark: str, content: str) -> str:
    """Replace what stands between the comments `mark` and `end of mark`."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}{content}{end}{after}"
