"""Commands with a subcommand for each installed plugin of a kind."""

from collections.abc import Callable
from typing import Any

import click

from embeddings import registry
from embeddings.errors import RegistryError


class Installed(click.Group):
    """One subcommand for each installed plugin of a kind, built by `made(name, plugin)` when it is asked for."""

    def __init__(self, name: str, kind: str, made: Callable[[str, type], click.Command], **more: Any) -> None:
        super().__init__(name, **more)
        self.kind, self.made = kind, made

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(registry.available(self.kind))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a plugin; one that cannot be used says why when it is run."""
        if cmd_name not in registry.available(self.kind):
            return None
        try:
            return self.made(cmd_name, registry.load(self.kind, cmd_name))
        except RegistryError as error:
            return unusable(cmd_name, error)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first argument; an unknown plugin is told with those there are."""
        if args and not args[0].startswith("-") and args[0] not in registry.available(self.kind):
            try:
                registry.load(self.kind, args[0])
            except RegistryError as error:
                group = registry.KINDS[self.kind]
                raise click.UsageError(
                    f"{error}. Other packages bring more: pip install one that offers {group!r}"
                ) from error
        return super().resolve_command(ctx, args)


def unusable(name: str, error: RegistryError) -> click.Command:
    """A command that says what is wrong with its plugin."""

    def run() -> None:
        raise error

    ignore = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=run, help=f"(unusable) {error}", context_settings=ignore)
