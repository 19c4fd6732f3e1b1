"""`embeddings evaluate --neighbours`: how well and how fast indexes find neighbours."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import common
from embeddings.settings import flag

if TYPE_CHECKING:
    from embeddings.eval.index_quality import Points, Quality
    from embeddings.eval.index_quality.recall_record import Judged

COMMON = ("vectors", "as_json", "allow_pickle", "encoding_errors", "force")
OWN = ("indexes", "grid", "queries", "top", "seed", "plot", "results")
OPTIONS = (
    click.option("--neighbours", is_flag=True, help="Judge indexes of neighbours on VECTORS instead of test sets."),
    click.option(
        "--index",
        "indexes",
        multiple=True,
        metavar="PATH|KIND[:NAME=VALUE,...]",
        help="With --neighbours, an index to judge, such as lsh:bits=512, or a saved one, also with other settings of "
        "the search, such as v.lsh:rerank=500; may be repeated.  [default: --grid]",
    ),
    click.option(
        "--grid",
        type=click.Choice(["speed", "rank"]),
        help="With --neighbours: every kind at several settings, or the rank of the best that hyperplanes find.  "
        "[default: rank for random points, else speed, with --results both]",
    ),
    click.option("--queries", type=click.IntRange(min=1), help="With --neighbours, how many.  [default: 1000]"),
    click.option("--top", type=click.IntRange(min=1), help="With --neighbours, how many for a query.  [default: 10]"),
    click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="With --neighbours, of queries.  [default: 1]"),
    click.option(
        "--plot",
        metavar="FILE",
        help="With --neighbours, draw recall (of --grid rank, ranks) against speed: .png, .svg or .pdf.",
    ),
    click.option(
        "--results",
        metavar="FOLDER",
        help="With --neighbours, write the files neighbours.md (tables), neighbours.svg and neighbours.json.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options."""

    vectors: tuple[str, ...]
    indexes: tuple[str, ...]
    grid: str | None
    queries: int
    top: int
    seed: int
    plot: str | None
    results: str | None
    force: bool

    @classmethod
    def of(cls, given: dict[str, Any], own: dict[str, Any]) -> "Asked":
        """What was given, and defaults where it was not."""
        defaults = {"queries": 1000, "top": 10, "seed": 1}
        known: dict[str, Any] = {name: defaults.get(name) if own[name] is None else own[name] for name in OWN}
        return cls(vectors=given["vectors"], force=given["force"], **known)

    def check(self) -> None:
        """Refuse what cannot be done, before there is work on anything.

        Raises:
            UsageError: options that do not go together.
            SettingError, RegistryError, FormatError, OutputError: vectors, indexes, or files that cannot be written.
        """
        from embeddings.eval.index_quality.recall_record import check_folder
        from embeddings.eval.index_quality.test_points import check_random, named_points
        from embeddings.indexes.index_spec import check_line
        from embeddings.support.plots import check_picture

        if self.plot and len(self.vectors) > 1:
            raise click.UsageError("--plot draws one VECTORS at a time")
        if self.grid and self.indexes:
            raise click.UsageError("--grid is of use only without --index")
        if self.force and not (self.plot or self.results):
            raise click.UsageError("--force is of use only with --plot or --results")
        if self.plot:
            check_picture(self.plot, force=self.force)
        if self.results:
            check_folder(self.results, force=self.force)
        for line in self.indexes:
            check_line(line)
        shapes = {name: named_points(name) for name in self.vectors if not Path(name).exists()}
        common.check_paths(name for name in self.vectors if not shapes.get(name))
        for shape in filter(None, shapes.values()):
            check_random(*shape)

    def grids(self, points: "Points") -> list[tuple[str, list[str]]]:
        """What to judge on some points: the name of a grid, and its indexes."""
        from embeddings.eval.index_quality import GRIDS

        if self.indexes:
            return [("speed", list(self.indexes))]
        names = ["rank"] if points.own is None else ["speed", "rank"] if self.results else ["speed"]
        names = [self.grid] if self.grid else names
        return [(name, GRIDS[name](*points.vectors.matrix.shape)) for name in names]


def instead(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options, for a command that takes VECTORS; with `--neighbours` it does this instead of its own work."""

    @wraps(command)
    def either(neighbours: bool, **given: Any) -> Any:
        own = {name: given.pop(name) for name in OWN}
        if neighbours:
            check_alone(given)
            return judge(given, Asked.of(given, own))
        for name, value in own.items():
            if common.is_given(value):
                raise click.UsageError(f"--{'index' if name == 'indexes' else name} goes with --neighbours only")
        return command(**given)

    for option in reversed(OPTIONS):
        either = option(either)
    return either


def check_alone(given: dict[str, Any]) -> None:
    """Refuse options of the command that are of no use here.

    Raises:
        UsageError: naming one.
    """
    for name, value in given.items():
        if name not in COMMON and common.is_given(value):
            option = flag("word" if name == "words" else name)
            raise click.UsageError(f"{option} does not go with --neighbours")


def judge(given: dict[str, Any], asked: Asked) -> None:
    """Compare indexes on each of VECTORS, and print a line for each as soon as it is there."""
    from embeddings.eval.index_quality import recall_plot, recall_record

    asked.check()
    judged: list[Judged] = []
    rows = (row(one, given["as_json"]) for one in found(given, asked, judged))
    common.print_rows(rows, given["as_json"])
    if asked.plot:
        first = judged[0]
        recall_plot.draw(first.found, asked.plot, measure=recall_plot.MEASURE_OF[first.grid], force=asked.force)
    if asked.results:
        recall_record.write(judged, asked.results, seed=asked.seed, force=asked.force)


def found(given: dict[str, Any], asked: Asked, judged: "list[Judged]") -> "Iterator[Quality]":
    """What becomes of every index; each grid that is done is added to `judged`."""
    from embeddings.eval.index_quality import compare
    from embeddings.eval.index_quality.recall_record import Judged

    for name in asked.vectors:
        points = points_named(name, given, asked.queries, asked.seed)
        for grid, indexes in asked.grids(points):
            done = []
            for one in compare(points, indexes, top=asked.top, strict=bool(asked.indexes), report=say):
                done.append(one)
                yield one
            judged.append(Judged.of(grid, points, done))


def points_named(name: str, given: dict[str, Any], queries: int, seed: int) -> "Points":
    """Random points, or vectors of a file and queries from them."""
    from embeddings.eval.index_quality import points_of, random_points
    from embeddings.eval.index_quality.test_points import named_points

    shape = named_points(name)
    if shape and not Path(name).exists():
        return random_points(*shape, queries=queries, seed=seed)
    loaded = common.load(name, given["allow_pickle"], given["encoding_errors"])
    return points_of(loaded, name, queries=queries, seed=seed)


def say(index: str) -> None:
    """What is judged now."""
    click.echo(f"judging {index}", err=True)


def row(one: "Quality", as_json: bool) -> dict[str, Any]:
    """A result as a row; in lines the reason why there are no values stands in the place of the first."""
    found = dataclasses.asdict(one)
    if not as_json and (reason := found.pop("reason")):
        found["recall"] = f"none: {reason}"
    return found
