"""`embeddings info`: what a file or folder holds."""

from typing import Any

import click

from embeddings.cli import common


@click.command("info")
@click.argument("path")
@click.option("--full", is_flag=True, help="Read all of it: count the lines of a text, check every vector.")
@click.option("--allow-pickle", is_flag=True, help="With --full, read gensim's own files, which can run code.")
@click.option(
    "--curve",
    metavar="FILE",
    help="Draw the loss of a saved model by epochs, or of the log of a run, to a picture (.png, .svg or .pdf) instead.",
)
@click.option("--force", is_flag=True, help="Replace the picture of --curve if it exists.")
@common.as_json
def command(path: str, full: bool, allow_pickle: bool, curve: str | None, force: bool, as_json: bool) -> None:
    """Print what a file or folder holds, and how a saved model was made.

    Of a model folder, the log and the checkpoints of a run, an encoded corpus, vectors in any format, a vocabulary, a
    list of phrases, a text, compressed or not, or any other file. Only its first bytes (and the last ones of a log) are
    read unless --full is given, and no pickle is ever run without --allow-pickle.
    """
    if curve is not None:
        from embeddings.training.loss_curve import draw_curve

        draw_curve(path, curve, force=force)
        return
    if force:
        raise click.UsageError("--force is of use only with --curve")
    from embeddings.cli.inspection import describe

    facts = describe(path, full=full, allow_pickle=allow_pickle)
    if as_json:
        common.print_json(facts)
        return
    for name, value in flat(facts):
        click.echo(f"{name}\t{' '.join(map(str, value)) if isinstance(value, list) else common.shown(value)}")


def flat(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested facts as pairs of a dotted name and a value."""
    pairs: list[tuple[str, Any]] = []
    for name, value in facts.items():
        pairs += flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return pairs
