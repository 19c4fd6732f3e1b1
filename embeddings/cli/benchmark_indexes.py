"""`embeddings benchmark-indexes`: measure recall and speed of indexes."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import FORCE, JSON, VECTOR_INPUT, exclude, from_signature, option, require, seed
from embeddings.cli.output import note, print_rows
from embeddings.cli.vector_input import check_paths
from embeddings.eval import index_quality
from embeddings.indexes.index import check_spec, load_index
from embeddings.models.loading import load
from embeddings.support.plots import check_figure_path


@command_by_example(
    "benchmark-indexes vectors.bin --top 10",
    params=[
        click.Argument(["vectors"], nargs=-1, required=True),
        option(
            "--index indexes",
            "An index, such as lsh:bits=512, or a saved one, optionally with other search settings, such as "
            "v.lsh:rerank=500.  [default: those of --grid]",
            "PATH|KIND[:NAME=VALUE,...]",
            multiple=True,
        ),
        *from_signature(load_index, allow_faiss=None),
        option(
            "--grid",
            "speed: measure every kind with several settings. rank: measure the rank of the best neighbour found by "
            "random hyperplanes.  [default: rank for random points, else speed; both with --results]",
            ["speed", "rank"],
        ),
        *from_signature(index_quality.sample_query_set, queries=None),
        *from_signature(index_quality.measure_indexes, top=None),
        seed("Random seed of the queries."),
        option("--plot", "Plot recall (with --grid rank, ranks) against speed: .png, .svg or .pdf.", "FILE"),
        option("--results", "Write neighbours.md (tables), neighbours.svg and neighbours.json.", "FOLDER"),
        FORCE,
        JSON,
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: tuple[str, ...], indexes: tuple[str, ...], allow_faiss: bool, grid: str | None, queries: int, top: int,
    seed: int, plot: str | None, results: str | None, force: bool, as_json: bool, **read_options: Any,
) -> None:  # fmt: skip
    """Measure recall and speed of neighbour indexes on VECTORS against exact search.

    VECTORS are files, or random points such as random:10000x128.
    """
    check(vectors, indexes, allow_faiss, plot, results, force)
    finished: list[index_quality.GridResult] = []

    def measurements() -> Iterator[index_quality.IndexQuality]:
        for name in vectors:
            shape = None if Path(name).exists() else index_quality.parse_random_name(name)
            if shape:
                points, grids = index_quality.random_query_set(*shape, queries=queries, seed=seed), ["rank"]
            else:
                source = load(name, **read_options)
                points = index_quality.sample_query_set(source, name, queries=queries, seed=seed)
                grids = ["speed", "rank"] if results else ["speed"]
            for grid_name in ["speed"] if indexes else [grid] if grid else grids:
                specs = indexes or index_quality.GRIDS[grid_name](*points.vectors.matrix.shape)
                done = []
                for quality in index_quality.measure_indexes(
                    points, specs, top=top, strict=bool(indexes), allow_faiss=allow_faiss,
                    report=lambda index: note(f"measuring {index}"),
                ):  # fmt: skip
                    done.append(quality)
                    yield quality
                title = Path(name).name
                named = [dataclasses.replace(one, vectors=title) for one in done]
                finished.append(index_quality.GridResult(grid_name, title, points.vectors.fingerprint, named))

    def row(quality: index_quality.IndexQuality) -> dict[str, Any]:
        values = dataclasses.asdict(quality)
        if not as_json and (reason := values.pop("reason")):
            values["recall"] = f"none: {reason}"
        return values

    print_rows(map(row, measurements()), as_json)
    if plot:
        first = finished[0]
        index_quality.plot_recall(first.results, plot, measure=index_quality.MEASURES[first.grid], force=force)
    if results:
        index_quality.write_report(finished, results, seed=seed, force=force)


def check(
    vectors: tuple[str, ...], indexes: tuple[str, ...], allow_faiss: bool, plot: str | None, results: str | None,
    force: bool,
) -> None:  # fmt: skip
    """Refuse invalid options, inputs and outputs before any work."""
    if plot and len(vectors) > 1:
        raise click.UsageError("--plot requires exactly one VECTORS argument")
    require("allow_faiss", "indexes")
    exclude("grid", "indexes")
    require("force", "plot", "results")
    if plot:
        check_figure_path(plot, force=force)
    if results:
        index_quality.check_folder(results, force=force)
    for spec in indexes:
        check_spec(spec, allow_faiss=allow_faiss)
    shapes = {name: index_quality.parse_random_name(name) for name in vectors if not Path(name).exists()}
    check_paths(name for name in vectors if not shapes.get(name))
    for shape in filter(None, shapes.values()):
        index_quality.check_random_size(*shape)
