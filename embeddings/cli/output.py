"""What commands print: results on standard output as tables or JSON, messages on standard error."""

import json
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import click

from embeddings.printable import printable, replace_unprintable
from embeddings.support.logs import mask
from embeddings.support.result_table import ResultTable, cell, text_lines


def print_json(value: Any) -> None:
    """Print a value as JSON, with unprintable characters escaped as in JSON, so that a parser restores them.

    NaN and infinity become null; values that JSON lacks, such as dates and numpy numbers, are converted.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError):
        from embeddings.support.records import to_jsonable  # imports numpy

        value = to_jsonable(value)
        text = json.dumps(value, ensure_ascii=False, indent=2)
    # half of a surrogate pair is valid in JSON, not in UTF-8; other characters may be missing in an 8-bit encoding
    try:
        text.encode(sys.stdout.encoding, "surrogatepass")
    except UnicodeEncodeError:  # an 8-bit encoding
        text = json.dumps(value, indent=2)
    echo_json(text)


def echo_json(text: str) -> None:
    """Print lines of JSON, with unprintable characters escaped as in JSON."""
    lines = text.removesuffix("\n").split("\n")
    click.echo("\n".join(replace_unprintable(line, lambda character: json.dumps(character)[1:-1]) for line in lines))


def print_lines(text: str, *, err: bool = False) -> None:
    """Print lines of text, such as a Markdown table or a traceback."""
    click.echo("\n".join(map(printable, text.removesuffix("\n").split("\n"))), err=err)


def print_rows(rows: Iterable[Any], as_json: bool = False) -> None:
    """Print rows as JSON, as an aligned table on a terminal, or else as tab-separated lines, each as it arrives.

    If an iterable fails halfway, the rows before that are printed.

    Arguments:
        rows: dictionaries of cells; or a table of results, of which JSON has all rows and fields.
    """
    right: Collection[str] = ()
    if isinstance(rows, ResultTable):
        table, right = rows, rows.right
        rows = [table.record(row) for row in table] if as_json else list(map(table.shown, table.visible()))
    if not as_json and not is_terminal():
        for number, row in enumerate(rows):
            if number == 0:
                click.echo("\t".join(map(printable, row)))
            click.echo("\t".join(map(cell, row.values())))
        return
    results: list[dict[str, Any]] = []
    finished = False
    try:
        results.extend(rows)
        finished = True
    finally:
        # the rows before a failure may have taken hours
        if as_json and (results or finished):
            print_json(results)
        elif results:
            header, *lines = text_lines(list(results[0]), [list(row.values()) for row in results], right=right)
            click.echo("\n".join([click.style(header, bold=True), *lines]))


def print_pairs(values: dict[str, Any]) -> None:
    """Print names and values: aligned on a terminal, else tab-separated."""
    pairs = [(name, " ".join(map(str, value)) if isinstance(value, list) else value) for name, value in values.items()]
    if is_terminal():
        print_lines("\n".join(text_lines([], [[name, cell(value)] for name, value in pairs])))
    else:
        for name, value in pairs:
            click.echo(f"{printable(name)}\t{cell(value)}")


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def quantity(number: int, noun: str) -> str:
    """A number and its noun, such as "1 word" or "2,000 words"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def asked(prompt: str) -> Iterator[str]:
    """Yield the lines that a user types, until an empty one."""
    while text := click.prompt(prompt, prompt_suffix="", default="", show_default=False):
        yield text


def note(text: str) -> None:
    """Print a message on standard error, without credentials."""
    click.echo(printable(mask(text)), err=True)
