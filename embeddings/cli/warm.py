"""`embeddings warm`: compile kernels ahead of time."""

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, QUIET, exclude, option
from embeddings.cli.output import note, print_rows
from embeddings.cli.progress_bar import Bar
from embeddings.errors import OutputError
from embeddings.support.cache_folder import cache_folder, existing_folder, foreign_access


@command_by_example(
    "warm skipgram",
    params=[
        click.Argument(["trainers"], nargs=-1, metavar="[TRAINER]..."),
        option("--list as_list", "List what is compiled for this machine, and compile nothing.", bool),
        QUIET,
        JSON,
    ],
)
def command(trainers: tuple[str, ...], as_list: bool, quiet: bool, as_json: bool) -> None:
    """Compile the kernels of trainers, or of all trainers, ahead of time.

    Compiles reading, training with every choice of settings, inference, composition and search. The compiled code is
    cached in EMBEDDINGS_CACHE. Machines with the same processor, Python, numba and sources reuse it, wherever they are
    installed; others recompile.
    """
    from embeddings.compilation.compile_monitor import missing_cache
    from embeddings.training.precompile import compiled_parts, precompile, trainable

    exclude("as_list", "trainers", why=": all are listed")
    if as_list:
        print_rows(compiled_parts(), as_json)
        if not quiet:
            note(f"compiled code is in {existing_folder('kernels')}")
        return
    folder = cache_folder("kernels")
    problem = missing_cache() if folder is None else foreign_access(folder)
    if problem:
        raise OutputError(f"cannot cache compiled code: {problem}")
    with Bar(quiet):
        rows = [{"trainer": name, "seconds": round(precompile(name), 1)} for name in trainers or trainable()]
    print_rows(rows, as_json)
