"""`embeddings completion`: print a shell completion script."""

import click
from click.shell_completion import get_completion_class

from embeddings.cli.command_help import command_by_example


@command_by_example("completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    bash: add `eval "$(embeddings completion bash)"` to ~/.bashrc. zsh: add `eval "$(embeddings completion zsh)"` to
    ~/.zshrc. fish: save the output as ~/.config/fish/completions/embeddings.fish.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # all choices are built into click
    click.echo(kind(ctx.find_root().command, {}, "embeddings", "_EMBEDDINGS_COMPLETE").source())
