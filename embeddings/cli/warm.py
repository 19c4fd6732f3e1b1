"""`embeddings warm`: compile kernels ahead of time."""

import click

from embeddings import registry
from embeddings.cli.options import JSON, QUIET
from embeddings.cli.output import print_rows
from embeddings.cli.progress_bar import Bar
from embeddings.errors import OutputError
from embeddings.support.cache_folder import cache_folder


@click.command("warm", params=[click.Argument(["trainers"], nargs=-1, metavar="[TRAINER]..."), QUIET, JSON])
def command(trainers: tuple[str, ...], quiet: bool, as_json: bool) -> None:
    """Compile the kernels of trainers, or of all trainers, ahead of time.

    Compiles reading, training with every choice of settings, inference, composition and search. The compiled code is
    cached in EMBEDDINGS_CACHE. Machines with the same processor, Python and numba reuse it; others recompile.
    """
    from embeddings.training.precompile import precompile

    if cache_folder("kernels") is None:
        raise OutputError("cannot cache compiled code: set EMBEDDINGS_CACHE to a writable folder")
    with Bar(quiet):
        rows = [
            {"trainer": name, "seconds": round(precompile(name), 1)}
            for name in trainers or registry.find_all("trainer")
        ]
    print_rows(rows, as_json)
