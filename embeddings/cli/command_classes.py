"""Groups of commands with a subcommand for each installed plugin."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from embeddings import registry
from embeddings.errors import RegistryError


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
        load = partial(registry.load, self.kind, cmd_name)
        try:
            return self.build(cmd_name, load())
        except RegistryError as error:
            settings = {"ignore_unknown_options": True, "allow_extra_args": True}
            return click.Command(cmd_name, callback=load, help=f"(unusable) {error}", context_settings=settings)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named by the first argument; the error for an unknown plugin lists the installed ones."""
        unknown = bool(args) and not args[0].startswith("-") and args[0] not in registry.find_all(self.kind)
        if unknown and not ctx.resilient_parsing:  # completion prints no errors
            registry.load(self.kind, args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The plugins with the whole first sentence of their help."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(1000)) for name, command in commands.items() if command]
            )


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
