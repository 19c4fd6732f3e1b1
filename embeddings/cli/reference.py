"""The command reference of the README, made from the commands themselves.

`python -m embeddings.cli.reference` prints it; `python -m embeddings.cli.reference README.md` writes it between
the two marks in that file.
"""

import sys
from pathlib import Path

import click

from embeddings.cli import main

BEGIN, END = "<!-- command reference -->\n", "<!-- end of command reference -->\n"


def reference() -> str:
    """The help of every command, as Markdown."""
    context = click.Context(main, info_name="embeddings", terminal_width=100, **main.context_settings)
    return "\n".join(section(main, context))


def section(command: click.Command, context: click.Context) -> list[str]:
    """The help of a command, then of those under it."""
    parts = [f"### `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                parts += section(inner, click.Context(inner, parent=context, info_name=name, terminal_width=100))
    return parts


def inserted(readme: str) -> str:
    """The README with the reference between its marks."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n" + reference() + "\n" + END + after


if __name__ == "__main__":
    if len(sys.argv) > 1:
        target = Path(sys.argv[1])
        target.write_text(inserted(target.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(reference())
