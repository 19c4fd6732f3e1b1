"""What commands print: results on standard output as tables or JSON, messages on standard error."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

from embeddings.printable import printable, replace_unprintable

GAP = 2  # spaces between columns


def print_json(value: Any) -> None:
    """Print a value as JSON, with unprintable characters escaped as in JSON, so that a parser restores them."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding, "surrogatepass")
    except UnicodeEncodeError:  # an 8-bit encoding
        text = json.dumps(value, indent=2)
    lines = text.split("\n")
    click.echo("\n".join(replace_unprintable(line, lambda character: json.dumps(character)[1:-1]) for line in lines))


def print_lines(text: str, *, err: bool = False) -> None:
    """Print lines of text, such as a Markdown table or a traceback."""
    click.echo("\n".join(map(printable, text.removesuffix("\n").split("\n"))), err=err)


def print_rows(rows: Iterable[dict[str, Any]], as_json: bool = False) -> None:
    """Print rows as JSON, as an aligned table on a terminal, or else as tab-separated lines, each as it arrives.

    If an iterable fails halfway, the rows before that are printed.
    """
    if not as_json and not is_terminal():
        for number, row in enumerate(rows):
            if number == 0:
                click.echo("\t".join(map(printable, row)))
            click.echo("\t".join(map(cell, row.values())))
        return
    results: list[dict[str, Any]] = []
    finished = False
    shows_count = is_terminal() and sys.stderr.isatty() and not isinstance(rows, list)
    try:
        for row in rows:
            results.append(row)
            if shows_count:
                click.echo(f"\r{quantity(len(results), 'result')}", nl=False, err=True)
        finished = True
    finally:
        if shows_count:
            click.echo("\r\x1b[K", nl=False, err=True)
        if as_json and (results or finished):
            print_json(results)
        elif results:
            print_table(list(results[0]), [list(row.values()) for row in results])


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print an aligned table, numbers to the right, under a bold header unless it is empty."""
    columns = list(zip(*rows, strict=True))
    numeric = [all(value is None or isinstance(value, int | float) for value in column) for column in columns]
    texts = [column_cells(column) for column in columns]
    cells = [list(map(printable, header))] * bool(header) + [list(row) for row in zip(*texts, strict=True)]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    for number, line in enumerate(cells):
        aligned_cells = (pad(text, width, right) for text, width, right in zip(line, widths, numeric, strict=True))
        text = (" " * GAP).join(aligned_cells).rstrip()
        click.echo(click.style(text, bold=True) if header and number == 0 else text)


def column_cells(column: Sequence[Any]) -> list[str]:
    """The values of a column as text, numbers of similar size with the same number of decimals."""
    numbers = [value for value in column if isinstance(value, float) and value]
    if numbers and all(1e-3 <= abs(number) < 100 for number in numbers):
        return [f"{value:.4f}" if isinstance(value, float) else cell(value) for value in column]
    return [cell(value) for value in column]


def print_pairs(values: dict[str, Any]) -> None:
    """Print names and values: aligned on a terminal, else tab-separated."""
    pairs = [(name, " ".join(map(str, value)) if isinstance(value, list) else value) for name, value in values.items()]
    if is_terminal():
        print_table([], [[printable(name), cell(value)] for name, value in pairs])
    else:
        for name, value in pairs:
            click.echo(f"{printable(name)}\t{cell(value)}")


def cell(value: Any) -> str:
    """A value as text: floats with four significant digits, - for None, unprintable characters escaped."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return printable(str(value))


def pad(text: str, width: int, right: bool) -> str:
    """Text padded with spaces to a width."""
    fill = " " * (width - display_width(text))
    return fill + text if right else text + fill


def display_width(text: str) -> int:
    """The number of terminal columns that text takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def quantity(number: int, noun: str) -> str:
    """A number and its noun, such as "1 word" or "2,000 words"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def note(text: str) -> None:
    """Print a message on standard error."""
    click.echo(printable(text), err=True)
