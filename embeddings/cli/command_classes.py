"""Commands with options in sections, and groups with a subcommand for each installed plugin."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from embeddings import registry
from embeddings.errors import RegistryError


class SectionedCommand(click.Command):
    """A command whose help lists its options by section; `other` is the section of all remaining options."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], other: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections, self.other = sections, other

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse `-output`, an option of word2vec and fastText, which click would read as `-o utput`."""
        if "-output" in args:
            raise click.NoSuchOption("-output", ctx=ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of options for each section."""
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        records = {str(option.name): option.get_help_record(ctx) for option in options}
        others = [name for name in records if not any(name in names for names in self.sections.values())]
        for section, names in {**self.sections, self.other: others}.items():
            if rows := [record for name in names if (record := records.get(name))]:
                with formatter.section(section):
                    formatter.write_dl(rows)


class PluginGroup(click.Group):
    """One subcommand for each installed plugin of a kind, built by `build(name, plugin)` when it is used."""

    def __init__(self, name: str, kind: str, build: Callable[[str, type], click.Command], **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self.kind, self.build = kind, build

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the plugins."""
        return list(registry.find_all(self.kind))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a plugin; if the plugin cannot be imported, the command reports why."""
        if cmd_name not in registry.find_all(self.kind):
            return None
        try:
            return self.build(cmd_name, registry.load(self.kind, cmd_name))
        except RegistryError as error:
            return unusable_command(cmd_name, error)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named by the first argument; the error for an unknown plugin lists the installed ones."""
        unknown = bool(args) and not args[0].startswith("-") and args[0] not in registry.find_all(self.kind)
        if unknown and not ctx.resilient_parsing:  # completion prints no errors
            try:
                registry.load(self.kind, args[0])
            except RegistryError as error:
                raise click.UsageError(str(error)) from error
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The plugins with the whole first sentence of their help."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(1000)) for name, command in commands.items() if command]
            )


def unusable_command(name: str, error: RegistryError) -> click.Command:
    """A command that reports why its plugin cannot be used."""

    def fail() -> None:
        raise error

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=fail, help=f"(unusable) {error}", context_settings=settings)


def plugins_with(context: click.Context | None, name: str) -> list[str]:
    """The other plugins of a group whose commands have this option; none for other commands."""
    parent = context.parent if context else None
    if parent is None or not isinstance(parent.command, PluginGroup):
        return []
    commands = {plugin: parent.command.get_command(parent, plugin) for plugin in parent.command.list_commands(parent)}
    return [plugin for plugin, command in commands.items() if command and name in options_of(command, parent)]


def options_of(command: click.Command, context: click.Context) -> list[str]:
    """All spellings of a command's options."""
    return [name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)]
