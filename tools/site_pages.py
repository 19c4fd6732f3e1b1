"""Adds pages and pictures to the documentation site when it is built: a hook of mkdocs.

The command reference is made from the commands themselves, so that it cannot differ from `--help`; pictures come from
`eval/results`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from embeddings.cli import main

ROOT = Path(__file__).parents[1]
FOLDER = "reference/commands"
PICTURES = ("results.png", "neighbours.svg", "structured/results.png", "documents/results.png")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages where the navigation names their folder."""
    place = {f"{FOLDER}/": [path for path in pages()]}

    def fill(items: list[Any]) -> list[Any]:
        return [
            {
                title: fill(value) if isinstance(value, list) else place.get(value, value)
                for title, value in item.items()
            }
            if isinstance(item, dict)
            else item
            for item in items
        ]

    config.nav = fill(config.nav or [])
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the pictures."""
    for path, text in {**pages(), **root_pages()}.items():
        files.append(File.generated(config, path, content=text))
    for name in PICTURES:
        files.append(File.generated(config, f"results/{name}", abs_src_path=str(ROOT / "eval" / "results" / name)))
    return files


def root_pages() -> dict[str, str]:
    """The files at the root of the repository that are pages too, with links as they are within the site."""
    names = ("CONTRIBUTING.md", "CHANGELOG.md")
    return {name.lower(): (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](") for name in names}


def pages() -> dict[str, str]:
    """The command reference: the text of each page by its path in the site."""
    context = click.Context(main, info_name="embeddings", **main.context_settings)
    listed = list(subcommands(main, context))
    rows = [f"| [`{name}`]({name}.md) | {cell(inner.command.get_short_help_str(200))} |" for name, inner in listed]
    index = ["# Command line", "", paragraphs(main), "", "| command | what it does |", "| --- | --- |", *rows, ""]
    index += ["Run `embeddings COMMAND --help` for the same text in the terminal.", ""]
    result = {f"{FOLDER}/index.md": "\n".join(index)}
    for name, inner in listed:
        result[f"{FOLDER}/{name}.md"] = "\n".join(section(inner, 1))
    return result


def subcommands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """The commands of a group, each with its context."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield name, click.Context(inner, parent=context, info_name=name)


def section(context: click.Context, level: int) -> Iterator[str]:
    """A command: its usage, its help, its options; then those of the commands below it, without what they share."""
    command = context.command
    yield f"{'#' * level} `{context.command_path}`\n"
    yield paragraphs(command) + "\n"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```\n"
    inner = [each for _, each in subcommands(command, context)]
    if not inner:
        yield from options(context, ())
        return
    common = shared(inner)
    if common:
        yield f"{'#' * (level + 1)} Options of every `{context.command_path}` command\n"
        yield from options(inner[0], (), common)
    for each in inner:
        yield f"{'#' * (level + 1)} `{each.command_path}`\n"
        yield paragraphs(each.command) + "\n"
        yield from options(each, common)


def shared(contexts: list[click.Context]) -> list[str]:
    """The options that all these commands have with the same help, by name."""
    texts = [{name: row for name, row in rows(context)} for context in contexts]
    return [name for name, row in texts[0].items() if all(other.get(name) == row for other in texts[1:])]


def rows(context: click.Context) -> Iterator[tuple[str, str]]:
    """The name of each option and its row in a table."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name is not None:
            yield parameter.name, f"| {cell(f'`{record[0]}`')} | {cell(record[1])} |"


def options(context: click.Context, without: list[str] | tuple[()], only: list[str] | None = None) -> Iterator[str]:
    """A table of options."""
    lines = [row for name, row in rows(context) if name not in without and (only is None or name in only)]
    if lines:
        yield "\n".join(["| option | description |", "| --- | --- |", *lines, ""])


def paragraphs(command: click.Command) -> str:
    """The help of a command as Markdown, without click's marks."""
    text = (command.help or "").replace("\b\n", "").replace("\f", "")
    return escape("\n".join(line.strip() for line in text.strip().splitlines()))


def cell(text: str) -> str:
    """A text as a cell of a table."""
    return escape(" ".join(text.split())).replace("|", "\\|")


def escape(text: str) -> str:
    """A text that Markdown shows as it is, code excepted."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for mark in ("<", "*", "["):
            parts[i] = parts[i].replace(mark, "\\" + mark)
    return "`".join(parts)
