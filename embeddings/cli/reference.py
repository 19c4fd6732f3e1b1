"""The command reference, docs/commands.md, and the README's table of commands, made from the commands themselves.

`python -m embeddings.cli.reference CHECKOUT` writes both into the checkout in that folder, the table between the two
marks of the README; without an argument it prints the reference.
"""

import sys
from pathlib import Path

import click

from embeddings.cli import main
from embeddings.support.markdown import between, plain, row

PAGE = "docs/commands.md"
HEAD = "# Commands\n\nThe help of every command, made from it: `python -m embeddings.cli.reference .`\n\n"
LONGEST = 200


def reference() -> str:
    """The help of every command, as Markdown."""
    return HEAD + "\n".join(section(main, top()))


def top() -> click.Context:
    """The context that all commands stand in."""
    return click.Context(main, info_name="embeddings", terminal_width=100, **main.context_settings)


def section(command: click.Command, context: click.Context) -> list[str]:
    """The help of a command, then of those under it."""
    parts = [f"## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"]
    for inner in under(command, context):
        parts += section(inner.command, inner)
    return parts


def under(command: click.Command, context: click.Context) -> list[click.Context]:
    """The commands of a group, each in its context."""
    if not isinstance(command, click.Group):
        return []
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [click.Context(one, parent=context, info_name=name, terminal_width=100) for name, one in found if one]


def table() -> str:
    """A row for each command: its name, which leads to its help, and what it does."""
    rows = ["| command | |", "|---|---|"]
    for inner in under(main, top()):
        link = f"[`{inner.info_name}`]({PAGE}#{inner.command_path.replace(' ', '-')})"
        rows.append(row([link, plain(inner.command.get_short_help_str(LONGEST))]))
    return "\n".join(rows) + "\n"


def write(checkout: Path) -> None:
    """Write the reference and the table of a checkout anew."""
    readme = checkout / "README.md"
    text = between(readme.read_text(encoding="utf-8"), "commands", table())
    readme.write_text(text, encoding="utf-8")
    (checkout / PAGE).write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]))
    else:
        sys.stdout.write(reference())
