"""Help that fits on a screen: common options only, and all of them by group with `--help-all`."""

import copy
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import cleandoc
from textwrap import wrap
from typing import Any

import click

LINES, WIDTH = 45, 78  # of short help, on a terminal of 80 columns
COLUMN = 22  # for the names of options
SENTENCE = 60  # characters of the description of an option in short help, unless it has only one clause
GENERAL = "general"  # the group of options without one
ALIASES = {  # other names of options, which are accepted and not listed
    "--dim": ("--dimension",),
    "--learning-rate": ("--lr", "--alpha", "--rate"),
    "--min-learning-rate": ("--min-rate",),
    "--subsample": ("--sample",),
    "--top": ("-k",),
}


class Option(click.Option):
    """An option with a place in the help of its command.

    Attributes:
        parameter: the name of its value in the library, by which errors call it.
        group: the section of help that lists it.
        shared: the name and the class of an argument of the command that holds its value, with those of other options.
        is_common: whether short help lists it.
        listed: its names without aliases.
    """

    def __init__(self, names: Sequence[str], *, common: bool = True, **attributes: Any) -> None:
        aliases = [alias for name in names for alias in ALIASES.get(name, ())]
        super().__init__([*names, *aliases], **attributes)
        self.parameter, self.group, self.is_common = "", GENERAL, common
        self.shared: tuple[str, type] | None = None
        self.listed = [name for name in self.opts if name not in aliases]

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The names, without aliases, and the description."""
        listed = copy.copy(self)
        listed.opts = self.listed
        record = super(Option, listed).get_help_record(ctx)
        return record and (record[0].removesuffix(" RANGE"), record[1])

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value of the type of the option; integers have at most 64 bits."""
        result = super().type_cast_value(ctx, value)
        for number in result if isinstance(result, tuple) else [result]:
            if isinstance(number, int) and number.bit_length() > 63:
                raise click.BadParameter(f"{number!s:.40} is out of range: at most {2**63 - 1}.", ctx=ctx, param=self)
        return result


def grouped(group: str, options: Iterable[click.Option], common: Collection[str] | None = None) -> list[click.Option]:
    """Copies of options as a group of help; short help lists those in `common`, by default those declared so."""
    copies = [copy.copy(option) for option in options]
    for option in copies:
        if isinstance(option, Option):
            option.group = group
            option.is_common = option.is_common if common is None else option.name in common
    return copies


def shared(name: str, kind: type, *options: click.Option) -> tuple[click.Option, ...]:
    """Copies of options whose values a command gets together, as one argument: an object of a class."""
    copies = tuple(copy.copy(option) for option in options)
    for option in copies:
        vars(option)["shared"] = name, kind
    return copies


class Command(click.Command):
    """A command with an example, whose help shows only common options if all would not fit on a screen."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse `-output` and `-hs`, options of word2vec, which click would read as `-o utput` and `-h s`."""
        # click takes one dash for short options that are joined, so these would silently name a file
        for word in args:
            if word in ("-output", "-hs"):
                raise click.NoSuchOption(word, ctx=ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function of the command; options that share an argument are passed as one object."""
        values, arguments = dict(ctx.params), dict[tuple[str, type], dict[str, Any]]()
        for option in self.params:
            if isinstance(option, Option) and option.shared is not None:
                arguments.setdefault(option.shared, {})[str(option.name)] = values.pop(str(option.name))
        assert self.callback is not None  # each command has a function
        return ctx.invoke(self.callback, **values, **{name: kind(**own) for (name, kind), own in arguments.items()})

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, with the options that print help."""
        return [*super().get_params(ctx), HELP_ALL]

    def groups(self) -> dict[str, list[click.Option]]:
        """The options by group."""
        groups: dict[str, list[click.Option]] = {}
        for option in self.params:
            if isinstance(option, click.Option):
                groups.setdefault(getattr(option, "group", GENERAL), []).append(option)
        return groups or {GENERAL: []}

    def get_help(self, ctx: click.Context, *, whole: bool = False) -> str:
        """Help that fits on a screen, or the whole help."""
        groups = self.groups()
        titles = {name: f"{name.capitalize()} options" if len(groups) > 1 else "Options" for name in groups}
        records = {name: [option.get_help_record(ctx) for option in groups[name]] for name in groups}
        sections = {titles[name]: list(filter(None, records[name])) for name in groups}
        text, last = cleandoc(self.help or ""), list(sections)[-1]
        # the width is fixed: whether all options fit must not depend on the terminal
        complete = sections | {last: [*sections[last], ("-h, --help", "Show this message and exit.")]}
        if self.page(click.HelpFormatter(width=WIDTH), ctx, text, complete).count("\n") < LINES:
            return self.page(ctx.make_formatter(), ctx, text, complete)
        if not whole:
            options = (option for option in self.params if isinstance(option, click.Option))
            common = [
                option.get_help_record(ctx)
                for option in options
                if option.required or getattr(option, "is_common", False)
            ]
            text = text.partition("\n\n")[0]
            sections = {"Options": [(names, summary(text)) for names, text in filter(None, common)]}
            sections["More help"] = [("--help-all", f"Show all {sum(map(len, groups.values()))} options.")]
        return self.page(ctx.make_formatter(), ctx, text, sections)

    def page(
        self, formatter: click.HelpFormatter, ctx: click.Context, text: str, sections: dict[str, list[tuple[str, str]]]
    ) -> str:
        """Help with a text, an example and sections of options."""
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)
        lines = wrap(f"Example: embeddings {self.example}", formatter.width - 4, break_on_hyphens=False)
        formatter.write("\n  " + " \\\n    ".join(lines) + "\n")
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=COLUMN)
        return formatter.getvalue().rstrip("\n")


def summary(text: str) -> str:
    """The first sentence of a description, or only its beginning if it is long, with the default."""
    text, bracket, notes = text.partition("  [")
    sentence = re.split(r"\.(?= |$)", text)[0]
    beginning = sentence if len(sentence) < SENTENCE else re.split("[;:] ", sentence)[0]
    return f"{beginning}.{bracket}{notes.partition('  [')[0]}"


def show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print all options, and exit."""
    if value and not ctx.resilient_parsing and isinstance(ctx.command, Command):
        click.echo(ctx.command.get_help(ctx, whole=True), color=ctx.color)
        ctx.exit()


HELP_ALL = Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show_all, help="Show all options."
)


def command_by_example(example: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A decorator that makes a function a command, which has the name that is the first word of the example."""
    return click.command(example.split()[0], cls=Command, example=example, **attributes)
