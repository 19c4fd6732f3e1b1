"""Markdown tables, and generated parts of Markdown files."""


def table_row(cells: list[str]) -> str:
    """Format one row of a table."""
    texts = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(texts)} |"


def replace_between(text: str, mark: str, content: str) -> str:
    """Replace what stands between the comments `mark` and `end of mark`."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}{content}{end}{after}"
