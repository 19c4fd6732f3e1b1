"""Adds pages and pictures to the documentation site when it is built: a hook of mkdocs.

The command reference is made from the commands themselves, so that it cannot differ from `--help`; pictures come from
`eval/results`.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from embeddings.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
FOLDER = "reference/commands"
PICTURES = (
    *("results.png", "comparison/results.png", "neighbours.svg", "structured/results.png", "documents/results.png"),
    *("tuning/sample.svg", "tuning/wikipedia.svg", "text-pairs/loss.svg", "kernels/roofline.png"),
    "replica-intervals/results.png",
)


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


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Point links to pictures of the repository at their copies in the site."""
    return markdown.replace("](../../eval/results/", "](../results/").replace("](../eval/results/", "](results/")


def root_pages() -> dict[str, str]:
    """The files at the root of the repository that are pages too, with links as they are within the site."""
    names = ("CONTRIBUTING.md", "CHANGELOG.md")
    return {name.lower(): (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](") for name in names}


def pages() -> dict[str, str]:
    """The command reference: the text of each page by its path in the site."""
    context = click.Context(main, info_name="embeddings", **main.context_settings)
    index = ["# Command line", "", paragraphs(main), ""]
    result = {f"{FOLDER}/index.md": ""}
    for group, commands in COMMANDS.items():
        index += [f"## {group}", "", "| command | what it does |", "| --- | --- |"]
        for name, summary in commands.items():
            index.append(f"| [`{name}`]({name}.md) | {cell(summary)} |")
            command = main.get_command(context, name)
            assert command is not None, f"the command {name} is listed but not defined"
            inner = click.Context(command, parent=context, info_name=name)
            result[f"{FOLDER}/{name}.md"] = "\n".join(page(inner, 1))
        index.append("")
    index += ["`embeddings COMMAND --help` prints the common options in the terminal, `--help-all` these pages.", ""]
    result[f"{FOLDER}/index.md"] = "\n".join(index)
    return result


def page(context: click.Context, level: int) -> Iterator[str]:
    """A command: its help, its usage, its options; then those of the commands below it, without what they share."""
    command = context.command
    yield f"{'#' * level} `{context.command_path}`\n"
    yield paragraphs(command) + "\n"
    if not isinstance(command, click.Group):
        yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
        yield f"Example: `embeddings {getattr(command, 'example', '')}`\n"
        yield from options(context, level + 1)
        return
    listed = ((name, command.get_command(context, name)) for name in command.list_commands(context))
    below = [click.Context(each, parent=context, info_name=name) for name, each in listed if each is not None]
    common = shared(below)
    if common:
        yield f"{'#' * (level + 1)} Options of all `{context.command_path}` commands\n"
        yield from options(below[0], level + 2, only=common)
    for each in below:
        yield f"{'#' * (level + 1)} `{each.command_path}`\n"
        yield paragraphs(each.command) + "\n"
        yield from options(each, level + 2, without=common)


def rows(context: click.Context) -> Iterator[tuple[str, str]]:
    """The name of each option and its row in a table."""
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Argument) or parameter.name in ("help", "help_all"):
            continue
        record = parameter.get_help_record(context)
        if record is not None and parameter.name is not None:
            yield parameter.name, f"| {cell(f'`{record[0]}`')} | {cell(record[1])} |"


def shared(contexts: list[click.Context]) -> set[str]:
    """The names of the options that all these commands have with the same help."""
    return {name for name, _ in set.intersection(*(set(rows(context)) for context in contexts))}


def options(
    context: click.Context, level: int, *, only: Collection[str] | None = None, without: Collection[str] = ()
) -> Iterator[str]:
    """Tables of options, one for each section of the command's help."""
    sections: dict[str, list[str]] = {}
    groups = {parameter.name: getattr(parameter, "group", "general") for parameter in context.command.params}
    for name, row in rows(context):
        if name not in without and (only is None or name in only):
            sections.setdefault(groups[name], []).append(row)
    for section in sections:
        if len(sections) > 1:
            yield f"{'#' * level} {section.capitalize()} {{ #{context.command_path.replace(' ', '-')}-{section} }}\n"
        yield "\n".join(["| option | description |", "| --- | --- |", *sections[section], ""])


def paragraphs(command: click.Command) -> str:
    """The help of a command as Markdown, without click's marks."""
    text = (command.help or "").replace("\b\n", "").replace("\f", "")
    return escape("\n".join(line.strip() for line in text.strip().splitlines()))


def cell(text: str) -> str:
    """A text as a cell of a table; bars within code need no mark."""
    parts = escape(" ".join(text.split())).split("`")
    return "`".join(part if i % 2 else part.replace("|", "\\|") for i, part in enumerate(parts))


def escape(text: str) -> str:
    """A text that Markdown shows as it is, code excepted."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = parts[i].replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")
    return "`".join(parts)
