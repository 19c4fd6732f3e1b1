"""`embeddings evaluate --neighbours`: how well and how fast indexes find neighbours."""

import dataclasses
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import shared
from embeddings.settings import flag

if TYPE_CHECKING:
    from embeddings.eval.neighbours import Points, Quality

COMMON = ("vectors", "as_json", "allow_pickle", "encoding_errors")


def instead(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options, for a command that takes VECTORS; with `--neighbours` it does this instead of its own work."""

    @click.option("--neighbours", is_flag=True, help="Judge indexes of neighbours on VECTORS instead of test sets.")
    @click.option(
        "--index",
        "indexes",
        multiple=True,
        metavar="PATH|KIND[:NAME=VALUE,...]",
        help="With --neighbours, an index to judge, such as lsh:bits=512; may be repeated.  [default: --grid]",
    )
    @click.option(
        "--grid",
        type=click.Choice(["speed", "rank"]),
        help="With --neighbours: every kind at several settings, or the rank of the best that hyperplanes find.  "
        "[default: rank for random points, else speed]",
    )
    @click.option("--queries", type=click.IntRange(min=1), help="With --neighbours, how many.  [default: 1000]")
    @click.option("--top", type=click.IntRange(min=1), help="With --neighbours, how many for a query.  [default: 10]")
    @click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="With --neighbours, of queries.  [default: 1]")
    @click.option("--plot", metavar="FILE", help="With --neighbours, draw recall against speed: .png, .svg or .pdf.")
    @wraps(command)
    def either(neighbours: bool, **given: Any) -> Any:
        own = {name: given.pop(name) for name in ("indexes", "grid", "queries", "top", "seed", "plot")}
        if neighbours:
            check_alone(given)
            return judge(given, **own)
        for name, value in own.items():
            if shared.is_given(value):
                raise click.UsageError(f"--{'index' if name == 'indexes' else name} goes with --neighbours only")
        return command(**given)

    return either


def check_alone(given: dict[str, Any]) -> None:
    """Refuse options of the command that are of no use here.

    Raises:
        UsageError: naming one.
    """
    for name, value in given.items():
        if name not in COMMON and shared.is_given(value):
            option = flag("word" if name == "words" else name)
            raise click.UsageError(f"{option} does not go with --neighbours")


def judge(
    given: dict[str, Any],
    *,
    indexes: tuple[str, ...],
    grid: str | None,
    queries: int | None,
    top: int | None,
    seed: int | None,
    plot: str | None,
) -> None:
    """Compare indexes on each of VECTORS, and print a line for each."""
    from embeddings.eval.neighbours import GRIDS, compare
    from embeddings.eval.neighbours.picture import draw
    from embeddings.pictures import check_picture

    if plot and len(given["vectors"]) > 1:
        raise click.UsageError("--plot draws one VECTORS at a time")
    if plot:
        check_picture(plot)
    results: list[Quality] = []
    for name in given["vectors"]:
        points = points_named(name, given, queries or 1000, 1 if seed is None else seed)
        shape = points.vectors.matrix.shape
        chosen = indexes or GRIDS[grid or ("rank" if points.own is None else "speed")](*shape)
        results += compare(points, chosen, top=top or 10, strict=bool(indexes), report=say)
    if plot:
        draw(results, plot)
    tell(results, given["as_json"])


def points_named(name: str, given: dict[str, Any], queries: int, seed: int) -> "Points":
    """Random points, or vectors of a file and queries from them."""
    from embeddings.eval.neighbours import points_of, random_points
    from embeddings.eval.neighbours.points import named_points

    shape = named_points(name)
    if shape and not Path(name).exists():
        return random_points(*shape, queries=queries, seed=seed)
    loaded = shared.load(name, given["allow_pickle"], given["encoding_errors"])
    return points_of(loaded, name, queries=queries, seed=seed)


def say(index: str) -> None:
    """What is judged now."""
    click.echo(f"judging {index}", err=True)


def tell(results: "list[Quality]", as_json: bool) -> None:
    """Print results, as JSON or in lines."""
    rows = [dataclasses.asdict(one) for one in results]
    if as_json:
        shared.print_json(rows)
        return
    shared.print_rows({key: value for key, value in row.items() if key != "reason"} | reason(row) for row in rows)


def reason(row: dict[str, Any]) -> dict[str, Any]:
    """Why there are no values, in the place of the first."""
    return {"recall": f"none: {row['reason']}"} if row["reason"] else {}
