"""`embeddings info`: a description of a file or folder."""

from typing import Any

import click

from embeddings.cli.inspection import describe
from embeddings.cli.options import ALLOW_PICKLE, FORCE, JSON, option
from embeddings.cli.output import note, print_json, print_pairs


@click.command(
    "info",
    params=[
        click.Argument(["path"]),
        option("--full", "Read everything: count lines of text, check every vector.", bool),
        ALLOW_PICKLE,
        option("--curve", "Plot the loss by epoch of a model or training log instead (.png, .svg or .pdf).", "FILE"),
        FORCE,
        JSON,
    ],
)
def command(path: str, full: bool, allow_pickle: bool, curve: str | None, force: bool, as_json: bool) -> None:
    """Describe a file or folder, and how a model was trained.

    PATH may be a model, a training log, checkpoints, a cached corpus, vectors in any format, a vocabulary, a phrase
    list, or text, compressed or not. Without --full, only the start of a file (and the end of a log) is read.
    """
    if curve is not None:
        from embeddings.training.loss_curve import draw_loss_curve

        draw_loss_curve(path, curve, force=force)
        if as_json:
            print_json({"file": curve})
        else:
            note(f"saved the loss curve to {curve}")
        return
    if force:
        raise click.UsageError("--force requires --curve")
    properties = describe(path, full=full, allow_pickle=allow_pickle)
    print_json(properties) if as_json else print_pairs(flatten(properties))


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values with dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
