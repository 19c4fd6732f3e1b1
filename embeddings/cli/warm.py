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
    """Compile the kernels of trainers, all if none is named, so that first runs do not have to.

    Covers every choice of settings, inference, composition and search. Compiled code is kept in the folder
    EMBEDDINGS_CACHE and used again on machines with the same processor, Python and numba; others compile anew.
    """
    from embeddings.training.precompile import precompile

    if cache_folder("kernels") is None:
        raise OutputError("compiled code cannot be kept: set EMBEDDINGS_CACHE to a folder that can be written")
    with Bar(quiet):
        rows = [
            {"trainer": name, "seconds": round(precompile(name), 1)}
            for name in trainers or registry.find_all("trainer")
        ]
    print_rows(rows, as_json)
