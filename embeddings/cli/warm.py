"""`embeddings warm`: compile kernels ahead of time."""

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, QUIET
from embeddings.cli.output import print_rows
from embeddings.cli.progress_bar import Bar
from embeddings.errors import OutputError
from embeddings.support.cache_folder import cache_folder, foreign_access


@command_by_example(
    "warm skipgram",
    params=[
        click.Argument(["trainers"], nargs=-1, metavar="[TRAINER]..."),
        QUIET,
        JSON,
    ],
)
def command(trainers: tuple[str, ...], quiet: bool, as_json: bool) -> None:
    """Compile the kernels of trainers, or of all trainers, ahead of time.

    Compiles reading, training with every choice of settings, inference, composition and search. The compiled code is
    cached in EMBEDDINGS_CACHE. Machines with the same processor, Python, numba and sources reuse it, wherever they are
    installed; others recompile.
    """
    from embeddings.compilation.compile_monitor import missing_cache
    from embeddings.training.precompile import precompile, trainable

    folder = cache_folder("kernels")
    problem = missing_cache() if folder is None else foreign_access(folder)
    if problem:
        raise OutputError(f"cannot cache compiled code: {problem}")
    with Bar(quiet):
        rows = [{"trainer": name, "seconds": round(precompile(name), 1)} for name in trainers or trainable()]
    print_rows(rows, as_json)
