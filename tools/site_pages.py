"""Adds pages and pictures to the documentation site when it is built: a hook of mkdocs.

The command reference is made from the commands themselves, so that it cannot differ from `--help`. Each name that a
page of `docs/reference` lists as `::: NAME` gets a page of its own, and the page that lists it becomes an index.
Pictures come from `eval/results`.
"""

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from embeddings.cli import COMMANDS, main, summary_of

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FOLDER = "reference/commands"
NAMES = re.compile(r"^::: embeddings\.([\w.]+)\n*", re.MULTILINE)
ON_ONE_PAGE = ("reference/errors.md", "reference/kernel-helpers.md")  # list short classes and functions
COMMANDS_BLOCK = re.compile(r'<div class="language-sh.*?</div>', re.DOTALL)
HYPHENATED = re.compile(r"(?<=[>\n])(?=[^<>\s]{2,30}[<\s])([^<>\s]*-[^<>\s]*)(?=[<\s])")
INLINE = re.compile(r"(?<=<code>)[^<]* [^<]*(?=</code>)")
PICTURE = re.compile(r"\]\((?:\.\./)+eval/results/([^)]+\.(?:png|svg))\)")


class Option(NamedTuple):
    """An option as the pages show it: its section of the help, its name, its row of a table."""

    section: str
    name: str
    row: str


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Put the generated pages where the navigation names their folder."""
    commands: dict[str, list[str]] = {}  # the page of each command, with the pages of the commands of a group
    for path in pages():
        folder = f"{path.rpartition('/')[0]}.md"
        commands.setdefault(folder if folder in commands else path, []).append(path)
    entries: list[Any] = []
    for path, paths in commands.items():
        title = Path(path).stem.removesuffix("-command")
        title = "all commands" if path == f"{FOLDER}/index.md" else title
        entries.append({title: paths if len(paths) > 1 else path})
    place = {f"{FOLDER}/": entries}
    for path, names in listed_names().items():
        place[path] = [path, *({name.rpartition(".")[2]: name_page(name)} for name in names)]

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {title: filled(value) for title, value in part.items()}
        return [filled(value) for value in part] if isinstance(part, list) else place.get(part, part)

    config.nav = filled(config.nav or [])
    return config


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the generated pages and the pictures."""
    from mkdocs.structure.files import File  # here, so that the tests of pages need no mkdocs

    of_root = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "CHANGELOG.md")}
    links = {name.lower(): text.replace("](docs/", "](") for name, text in of_root.items()}  # as within the site
    for path, text in {**pages(), **name_pages(), **links}.items():
        files.append(File.generated(config, path, content=text))
    for name in pictures():
        files.append(File.generated(config, f"results/{name}", abs_src_path=str(ROOT / "eval" / "results" / name)))
    return files


def on_page_markdown(markdown: str, *, page: "Page", **_: Any) -> str:
    """Point links to pictures of the repository at their copies in the site, and make an index of listed names."""
    names = listed_names().get(page.file.src_uri, [])
    if names:
        summaries = ((inspect.getdoc(named(name)) or "").partition("\n\n")[0] for name in names)
        links = (f"[`{label(name)}`](python/{name}.md)" for name in names)
        rows = "".join(f"| {link} | {cell(text)} |\n" for link, text in zip(links, summaries, strict=True))
        start = NAMES.search(markdown)
        assert start is not None
        table = f"| name | what it is |\n| --- | --- |\n{rows}\n"
        markdown = markdown[: start.start()] + table + NAMES.sub("", markdown[start.start() :])
    return markdown.replace("](../../eval/results/", "](../results/").replace("](../eval/results/", "](results/")


def on_page_content(html: str, **_: Any) -> str:
    """Keep short names, such as options, on one line by a class of `docs/stylesheets/site.css`; break lists at bars.

    Long commands break at spaces only, not at the hyphens of options.
    """
    html = COMMANDS_BLOCK.sub(lambda block: HYPHENATED.sub(r'<span class="word">\1</span>', block[0]), html)
    html = INLINE.sub(lambda code: re.sub(r"(\S*-\S*)", r'<span class="word">\1</span>', code[0]), html)
    html = re.sub(r"<code>[^<]*\|[^<]*</code>", lambda choices: choices[0].replace("|", "|<wbr>"), html)
    return re.sub(r"<code>([^<\s]{1,28})</code>", r'<code class="word">\1</code>', html)


def pictures() -> list[str]:
    """The pictures of `eval/results` that pages show."""
    pages = (ROOT / "docs").rglob("*.md")
    return sorted({name for path in pages for name in PICTURE.findall(path.read_text(encoding="utf-8"))})


def listed_names() -> dict[str, list[str]]:
    """The names that each page of the reference lists and does not show itself, without `embeddings.`."""
    paths = sorted((ROOT / "docs" / "reference").glob("*.md"))
    found = {f"reference/{path.name}": NAMES.findall(path.read_text(encoding="utf-8")) for path in paths}
    return {path: names for path, names in found.items() if names and path not in ON_ONE_PAGE}


def name_page(name: str) -> str:
    """The path of the page of a name."""
    return f"reference/python/{name}.md"


def name_pages() -> dict[str, str]:
    """The pages of all listed names, each with one class or function.

    Of a trainer they show what its users need: the settings, and `train`.
    """
    found = {}
    for name in (name for names in listed_names().values() for name in names):
        found[name_page(name)] = f"::: embeddings.{name}\n    options:\n      heading_level: 1\n"
        if hasattr(named(name), "trainer_name"):
            members = [*(field.name for field in fields(named(name))), "train"]
            found[name_page(name)] += f"      members: [{', '.join(members)}]\n"
    return found


def label(name: str) -> str:
    """A name as users write it: `em.NAME`, `em.PLACE.NAME`, or with the module to import."""
    module = name.rpartition(".")[0]
    return f"em.{name}" if module in ("", "analysis", "corpora", "sklearn", "training") else f"embeddings.{name}"


def named(name: str) -> Any:
    """The class or function of a name."""
    module, _, attribute = f"embeddings.{name}".rpartition(".")
    return getattr(import_module(module), attribute)


def pages() -> dict[str, str]:
    """The command reference: the text of each page by its path in the site."""
    context = click.Context(main, info_name="embeddings", **main.context_settings)
    index = ["# Command line", "", paragraphs(main), ""]
    result = {f"{FOLDER}/index.md": ""}
    for group, commands in COMMANDS.items():
        index += [f"## {group}", "", "| command | what it does |", "| --- | --- |"]
        for name in commands:
            stem = "index-command" if name == "index" else name  # index.md is the list of all commands
            index.append(f"| [`{name}`]({stem}.md) | {cell(summary_of(name))} |")
            command = main.get_command(context, name)
            assert command is not None, f"the command {name} is listed but not defined"
            inner = click.Context(command, parent=context, info_name=name)
            result[f"{FOLDER}/{stem}.md"] = "\n".join(page(inner, stem))
            below = members(inner)
            for each in below:
                text = "\n".join(page(each, f"../{stem}", shared(below)))
                result[f"{FOLDER}/{stem}/{each.info_name}.md"] = text
        index.append("")
    index += ["`embeddings COMMAND --help` prints the common options in the terminal, `--help-all` these pages.", ""]
    result[f"{FOLDER}/index.md"] = "\n".join(index)
    return result


def page(context: click.Context, folder: str, common: Sequence[Option] = ()) -> Iterator[str]:
    """A command: its help, its usage, its options but for those that most commands of its group have.

    A group has its commands, whose pages are in `folder`, and the common options of these instead.
    """
    command, path = context.command, context.command_path
    yield f"# `{path}`\n"
    yield paragraphs(command) + "\n"
    if isinstance(command, click.Group):
        below = members(context)
        yield "| command | what it does |\n| --- | --- |"
        for each in below:
            summary = cell(paragraphs(each.command).partition("\n\n")[0])
            yield f"| [`{each.command_path}`]({folder}/{each.info_name}.md) | {summary} |"
        if shared_options := shared(below):
            yield f"\n## Options that most `{path}` commands have\n"
            yield from tables(shared_options, path, 3)
        return
    yield f"```text\n{path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    if example := getattr(command, "example", ""):
        yield f"Example: `embeddings {example}`\n"
    own = list(options(context))
    if common and context.parent is not None:
        missing = sorted({option.name for option in common} - {option.name for option in own})
        names = ", ".join(f"`--{name.replace('_', '-')}`" for name in missing)
        but = f", of which this one lacks {names}" if missing else ""
        yield f"[`{context.parent.command_path}`]({folder}.md) has the options that most of its commands share{but}.\n"
    yield from tables((option for option in own if option not in common), path)


def members(context: click.Context) -> list[click.Context]:
    """The commands of a group; of other commands none."""
    group = context.command
    if not isinstance(group, click.Group):
        return []
    listed = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    return [click.Context(each, parent=context, info_name=name) for name, each in listed if each is not None]


def options(context: click.Context) -> Iterator[Option]:
    """The options of a command."""
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Argument) or parameter.name in ("help", "help_all"):
            continue
        record = parameter.get_help_record(context)
        if record is not None and parameter.name is not None:
            row = f"| {cell(f'`{record[0]}`')} | {cell(record[1])} |"
            yield Option(getattr(parameter, "group", "general"), parameter.name, row)


def shared(contexts: list[click.Context]) -> list[Option]:
    """The options that most of these commands have with the same help."""
    counts = Counter(option for context in contexts for option in options(context))
    return [option for option, count in counts.items() if 2 * count > len(contexts)]


def tables(shown: Iterable[Option], path: str, level: int = 2) -> Iterator[str]:
    """Tables of options of the command with this path, one for each section of its help."""
    sections: dict[str, list[str]] = {}
    for option in shown:
        sections.setdefault(option.section, []).append(option.row)
    for section, rows in sections.items():
        if len(sections) > 1:
            yield f"{'#' * level} {section.capitalize()} {{ #{path.replace(' ', '-')}-{section} }}\n"
        yield "\n".join(["| option | description |", "| --- | --- |", *rows, ""])


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
